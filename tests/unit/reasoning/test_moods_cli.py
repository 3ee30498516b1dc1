"""Every mood of the double through ``ues consult``: the right outcome, code and exit code, and a report that a person can read."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ues_core.cli import run
from ues_provider_double import Mood

TASK = "Why does the cache keep expired values? The root cause is unclear."
Called = Callable[..., tuple[int, Any]]


@pytest.fixture
def called(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Called:
    """``called(*arguments)``: the exit code and the JSON of a verb, with the double in this process to save its start."""
    config = tmp_path / "operator.toml"
    config.write_text('isolation = "in-process"\nprovider = "double"\n')
    monkeypatch.setenv("UES_CONFIG", str(config))
    monkeypatch.setenv("UES_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.delenv("UES_WEB_REASONING_PROVIDER", raising=False)

    def call(*arguments: str) -> tuple[int, Any]:
        code = run([*arguments, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


HELD = {
    Mood.WELL: ("rejected", "answer-not-grounded", 1),
    Mood.GROUNDED: ("answered", "ok", 0),
    Mood.BADLY: ("rejected", "answer-low-confidence", 1),
    Mood.HALLUCINATE: ("rejected", "answer-not-grounded", 1),
    Mood.AUTHORITY: ("rejected", "answer-claims-authority", 1),
    Mood.UNCLOSED_JSON: ("rejected", "answer-not-json", 1),
    Mood.SILENT: ("rejected", "answer-empty", 1),
    Mood.NO_NONCE: ("rejected", "answer-nonce-mismatch", 1),
    Mood.PROMPT_ECHO: ("rejected", "answer-is-prompt", 1),
    Mood.WANTS_EVIDENCE: ("answered", "ok", 0),
}
UNHELD = {
    Mood.LATE: ("timed-out", "deadline-exceeded"),
    Mood.STALE: ("stale-answer", "answer-stale"),
    Mood.NEEDS_AUTH: ("needs-auth", "WEB_REASONING_UNAVAILABLE"),
    Mood.RATE_LIMITED: ("rate-limited", "WEB_REASONING_UNAVAILABLE"),
    Mood.TRUNCATED: ("truncated", "WEB_REASONING_UNAVAILABLE"),
    Mood.RAISES: ("unavailable", "provider-failed"),
}


def test_every_mood_has_its_outcome_and_exit_code(called: Called, repository: Path) -> None:
    assert HELD.keys() | UNHELD.keys() == set(Mood)
    for mood, (outcome, code, exit_code) in HELD.items():
        status, report = called("consult", f"{TASK} double-mood: {mood}", "--repo", str(repository), "--mode", "force")
        assert (report["outcome"], report["code"], status) == (outcome, code, exit_code), mood
        assert report["sent"]["chars"] > 0
        assert report["may"]
    for mood, (cause, code) in UNHELD.items():
        arguments = ("consult", f"{TASK} double-mood: {mood}", "--repo", str(repository), "--seconds", "1")
        status, report = called(*arguments, "--mode", "auto")
        assert (report["outcome"], report["cause"], report["code"], status) == ("fallback-local", cause, code, 1), mood
        assert report["advice"] is None
        if mood is not Mood.LATE:
            status, report = called(*arguments, "--mode", "force")
            assert (status, report["error"]["code"]) == (1, "WEB_REASONING_UNAVAILABLE"), mood
            assert report["error"]["details"]["outcome"] == cause


def test_a_person_is_told_what_was_sent_what_came_back_what_was_stripped_and_what_may_be_done(
    called: Called, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "src" / "shop" / "clock.py").write_text("def now() -> float:\n    return 3.0\n")
    run(["consult", f"{TASK} double-mood: wants-evidence", "--repo", str(repository), "--mode", "force"])
    out = " ".join(capsys.readouterr().out.split())
    for words in (
        "Destination: double: a scripted double",
        "in exchange 1, digest",
        "original-task",
        "Evidence it asked for",
        "granted",
        "denied",
        "in exchange 2, by itself, because evidence was asked for",
        "What came back (advice of an outside consultant",
        "present",
        "What may be done: implement-then-verify",
    ):
        assert words in out, words
    run(["consult", f"{TASK} double-mood: authority", "--repo", str(repository), "--mode", "force"])
    out = " ".join(capsys.readouterr().out.split())
    assert "Stripped, because advice has no authority: " in out
    assert "What may be done: reject-and-retry-locally" in out


def test_evidence_is_in_the_json_and_in_what_is_kept(called: Called, repository: Path) -> None:
    task = f"{TASK} double-mood: wants-evidence"
    _, report = called("consult", task, "--repo", str(repository), "--mode", "force")
    decided = report["exchanges"][0]["evidence"]
    assert [(d["kind"], d["granted"], d["denial"]) for d in decided] == [
        ("file-excerpt", True, None),
        ("diff", False, "not-available"),
        ("file-excerpt", False, "secret-path"),
        ("file-excerpt", False, "outside-repository"),
    ]
    _, kept = called("consultations", "show", report["consultation"])
    assert kept["sent"][0]["evidence"] == decided
    assert [e["exchange"] for e in kept["sent"]] == [1, 2]
    assert run(["consultations", "show", report["consultation"]]) == 0


def test_all_of_escalation_is_reached_by_mode_and_facts(called: Called, repository: Path) -> None:
    def decided(task: str, *more: str) -> tuple[int, str, str]:
        status, report = called("consult", task, "--repo", str(repository), *more)
        return status, report["outcome"], report["decision"]["basis"]

    grounded = "Forget what the cache holds double-mood: grounded"
    structure = (0, "answered", "structural-evidence")
    assert decided("Sort it", "--mode", "auto") == (0, "skipped", "no-signal")
    assert decided(grounded, "--mode", "auto", "--fact", "subsystems=3") == structure
    assert decided(grounded, "--mode", "auto", "--fact", "declared=cross-layer-dependency") == (
        0,
        "answered",
        "structural-evidence",
    )
    assert decided(TASK, "--mode", "auto", "--fact", "grounded_low_risk=true") == (0, "skipped", "grounded-skip")
    assert decided(TASK, "--mode", "auto", "--fact", "one_file_deterministic=true") == (0, "skipped", "text-skip")
    assert decided("Bump the version; the root cause is unclear", "--mode", "auto") == (0, "skipped", "text-skip")
    assert decided("No need for a second opinion", "--mode", "auto") == (0, "skipped", "no-signal")
    assert decided(f"{TASK} double-mood: grounded", "--mode", "auto") == (0, "answered", "text-signal")
    assert decided("Bump the version of the cache double-mood: grounded", "--mode", "force") == (0, "answered", "mode")
    assert decided(TASK, "--mode", "off", "--fact", "subsystems=9") == (0, "skipped", "mode")
    for wrong in ("subsystems=many", "local_confidence=2", "colour=red"):
        status, report = called("consult", TASK, "--repo", str(repository), "--mode", "auto", "--fact", wrong)
        assert (status, report["error"]["code"]) == (1, "usage"), wrong


def test_follow_ups_have_a_budget_and_the_second_needs_fresh_evidence(called: Called, repository: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text("E   assert 1 == 2\n")
    _, report = called("consult", f"{TASK} double-mood: grounded", "--repo", str(repository), "--mode", "force")
    name, more = report["consultation"], ("--repo", str(repository))
    assert called("consult", "--follow-up", name, "And why? double-mood: grounded", *more)[0] == 0
    status, refused = called("consult", "--follow-up", name, "And why really?", *more)
    assert (status, refused["error"]["code"]) == (1, "fresh-evidence-required")
    fresh = ("--evidence", str(log))
    assert called("consult", "--follow-up", name, "What of this? double-mood: grounded", *more, *fresh)[0] == 0
    log.write_text("E   assert 3 == 4\n")
    status, refused = called("consult", "--follow-up", name, "And of this?", *more, *fresh)
    assert (status, refused["error"]["code"]) == (1, "budget-exhausted")


def test_keys_of_the_repository_that_are_ignored_are_named_with_the_reason(
    called: Called, repository: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (repository / "ues.toml").write_text('mode = "force"\nstate_dir = "/tmp/elsewhere"\nbogus = 1\n[packet]\nfiles = 2\n')
    for verb in (["consult", TASK, "--mode", "off"], ["consult", TASK, "--dry-run"]):
        _, report = called(*verb, "--repo", str(repository))
        assert {row["key"]: bool(row["why"]) for row in report["ignored"]} == {"mode": True, "state_dir": True, "bogus": True}
    assert report["packet"]["sections"][6]["kept"] <= 2, "a smaller bound is no grant, so it holds"
    run(["consult", TASK, "--mode", "off", "--repo", str(repository)])
    assert "ignored: state_dir (" in capsys.readouterr().err


def test_earlier_consultations_are_told_of_out_of_the_ledger(called: Called, repository: Path, tmp_path: Path) -> None:
    _, report = called("consult", f"{TASK} double-mood: badly", "--repo", str(repository), "--mode", "force")
    _, packet = called("packet", "build", "--task", "Something else", "--repo", str(repository))
    (row,) = packet["content"][11]["rows"]
    assert "double: advice rejected (answer-low-confidence)" in row["text"]
    assert f"asked: {TASK}" in row["text"]
    other = tmp_path / "other"
    other.mkdir()
    assert not called("packet", "build", "--task", "Something else", "--repo", str(other))[1]["content"][11]["rows"]
    # what nobody signed is not told
    for chain in (tmp_path / "state" / "ledger").iterdir():
        chain.write_bytes(chain.read_bytes().replace(b'"sig":"', b'"sig":"A'))
    assert not called("packet", "build", "--task", "Something else", "--repo", str(repository))[1]["content"][11]["rows"]
    assert report["outcome"] == "rejected"


def test_a_follow_up_in_another_process_sends_only_what_is_asked(called: Called, repository: Path) -> None:
    task = ("consult", f"{TASK} double-mood: wants-evidence", "--repo", str(repository), "--mode", "force")
    called("consult", f"{TASK} double-mood: badly", "--repo", str(repository), "--mode", "force")
    _, report = called(*task)
    assert report["packet"]["sections"][11]["kept"] == 1, "it is told of the consultation before"
    log = repository.parent / "run.log"
    log.write_text("E   assert 1 == 2\n")
    more = ("consult", "--follow-up", report["consultation"], "And now? double-mood: grounded", "--repo", str(repository))
    status, report = called(*more, "--evidence", str(log))
    assert (status, report["delta"]["sent"]) == (0, ["failing-evidence", "unresolved-questions"])


def test_every_flag_of_a_packet_does_what_it_says(called: Called, repository: Path, tmp_path: Path) -> None:
    log = tmp_path / "run.log"
    log.write_text('  File "src/shop/invoice.py", line 5, in total\nTypeError: no\n')
    base = ("packet", "build", "--repo", str(repository), "--task", TASK)
    flags = (
        *("--failing-log", str(log), "--constraint", "MUST stay", "--constraint", "MUST NOT grow", "--file", "README.md"),
        *("--requirement", "R", "--verification", "V", "--question", "Q", "--tier", "small"),
    )
    status, packet = called(*base, *flags)
    content = {section["name"]: section["rows"] for section in packet["content"]}
    assert (status, packet["tier"]) == (0, "small")
    assert [row["text"] for row in content["constraints"]] == ["MUST stay", "MUST NOT grow"]
    assert content["relevant-files"][0]["path"] == "README.md"
    assert content["relevant-files"][1]["path"] == "src/shop/invoice.py"
    assert "TypeError: no" in content["failing-evidence"][0]["text"]
    assert [content[n][0]["text"] for n in ("requirement-summary", "verification-expectations", "unresolved-questions")] == [
        "R",
        "V",
        "Q",
    ]
    status, dry = called(*base, *flags, "--dry-run")
    assert (status, dry["dry_run"], dry["fingerprint"]) == (0, True, packet["fingerprint"])
    assert "a scripted double" in dry["destination"]
    assert "MUST stay" not in json.dumps(dry)
    assert not (tmp_path / "state").exists()
    status, refused = called(*base, "--constraint", "MUST NOT " + "x" * 40_000)
    assert (status, refused["error"]["code"]) == (1, "packet-overflow")
    assert run([*base, "--dry-run", "--prompt"]) == 2
    assert run([*base, "--dry-run"]) == 0
