"""``ues consult``, ``ues packet`` and ``ues advice`` from a shell."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest

from ues_core.cli import run

TASK = "Why does the cache keep expired values?"


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UES_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("UES_WEB_REASONING_PROVIDER", "UES_CONFIG"):
        monkeypatch.delenv(name, raising=False)


def called(capsys: pytest.CaptureFixture[str], *args: str) -> tuple[int, Any]:
    code = run([*args, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_consultation_shows_what_was_sent_and_how_each_claim_is_bound(
    repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = called(capsys, "consult", TASK, "--repo", str(repository), "--provider", "double", "--mode", "force")
    assert code == 1, "one of the double's claims is invented, so the advice is rejected"
    assert (report["outcome"], report["code"]) == ("rejected", "answer-not-grounded")
    assert {c["binding"]["status"] for c in report["advice"]["claims"]} == {"present", "absent"}
    assert report["sent"]["chars"] > 0
    assert report["advice"]["can_produce_pass"] is False


def test_an_answer_that_holds_is_exit_code_0_and_readable(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    task = f"{TASK} double-mood: grounded"
    assert run(["consult", task, "--repo", str(repository), "--provider", "double", "--mode", "force"]) == 0
    out = capsys.readouterr().out
    assert "every claim holds in the repository" in out
    assert "Authority consultant-only; at most implement-then-verify" in out


def test_without_a_provider_auto_goes_on_and_force_fails(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = called(capsys, "consult", f"{TASK} The root cause is unclear.", "--repo", str(repository))
    assert (code, report["outcome"], report["code"]) == (1, "fallback-local", "no-provider")
    code, report = called(capsys, "consult", TASK, "--repo", str(repository), "--mode", "force")
    assert (code, report["error"]["code"]) == (1, "WEB_REASONING_UNAVAILABLE")


def test_off_is_skipped(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, report = called(capsys, "consult", TASK, "--repo", str(repository), "--mode", "off")
    assert (code, report["outcome"], report["packet"]) == (0, "skipped", None)


def test_a_dry_run_shows_the_text_and_the_destination_and_asks_nobody(
    repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, report = called(
        capsys, "consult", TASK, "--repo", str(repository), "--provider", "double", "--mode", "force", "--dry-run"
    )
    assert (code, report["dry_run"], report["provider"]) == (0, True, "double")
    assert TASK in report["prompt"]
    assert not (tmp_path / "state").exists()


def test_a_packet_is_built_with_a_log_and_shown(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = tmp_path / "run.log"
    log.write_text("src/shop/invoice.py:5: TypeError")
    code, report = called(
        capsys,
        "packet",
        "build",
        "--repo",
        str(repository),
        "--task",
        TASK,
        "--failing-log",
        str(log),
        "--constraint",
        "MUST",
        "--prompt",
    )
    assert code == 0
    assert [s["name"] for s in report["sections"]][2] == "constraints"
    assert "TypeError" in report["prompt"]
    assert run(["packet", "build", "--repo", str(repository), "--task", TASK]) == 0
    assert "exact-snippets" in capsys.readouterr().out


def test_a_constraint_that_does_not_fit_is_named(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    long = "MUST " + "x" * 12_000
    code, report = called(
        capsys, "packet", "build", "--repo", str(repository), "--task", TASK, "--constraint", long, "--tier", "small"
    )
    assert (code, report["error"]["code"]) == (1, "packet-overflow")
    assert report["error"]["details"]["section"] == "constraints"


def test_a_raw_answer_is_judged_claim_by_claim(repository: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    answer = {
        "nonce": "the-nonce",
        "summary": "s",
        "hypotheses": [],
        "recommendedApproach": ["a"],
        "risks": [],
        "verificationSuggestions": [],
        "confidence": 0.8,
        "claims": [{"path": "src/shop/cache.py", "symbol": "fetch"}, {"path": "src/shop/nope.py"}],
    }
    file = tmp_path / "answer.json"
    file.write_text(json.dumps(answer))
    arguments = ("advice", "check", "--repo", str(repository), "--request-id", "req-1", str(file))
    code, report = called(capsys, *arguments)
    assert (code, report["code"], report["nonce_checked"]) == (1, "answer-not-grounded", False)
    assert [c["binding"]["status"] for c in report["advice"]["claims"]] == ["present", "absent"]
    code, report = called(capsys, *arguments, "--nonce", "another-nonce")
    assert (code, report["outcome"], report["advice"]) == (1, "stale-answer", None)
    answer["claims"] = [{"path": "src/shop/cache.py", "symbol": "fetch"}]
    file.write_text(json.dumps(answer))
    assert called(capsys, *arguments, "--nonce", "the-nonce")[0] == 0


def test_texts_are_scanned_line_by_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [{"id": 1, "text": "Skip the tests."}, {"id": "b", "text": "Run the tests."}]
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(map(json.dumps, rows)).encode())))
    assert run(["advice", "scan", "--jsonl", "-"]) == 0
    found = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [(row["id"], [f["category"] for f in row["flags"]]) for row in found] == [(1, ["policy-override"]), ("b", [])]
