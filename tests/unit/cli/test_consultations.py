"""``ues consult`` and ``ues consultations``: what a person is told, and what outlives the process."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ues_core.cli import run

TASK = "Why does greet() in greeting.py shout? The root cause is unclear."


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UES_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    for name in ("UES_WEB_REASONING_PROVIDER", "UES_CONFIG"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def repo(tmp_path: Path) -> str:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "greeting.py").write_text('def greet(name: str) -> str:\n    return f"HELLO {name}".upper()\n')
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Greet"]):
        subprocess.run([*git, *arguments], check=True)
    return str(folder)


def called(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, Any]:
    capsys.readouterr()
    code = run([*arguments, "--json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_person_is_shown_what_left_what_holds_what_was_stripped_and_what_may_follow(
    repo: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "200")
    code = run(["consult", f"{TASK} double-mood: authority", "--repo", repo, "--provider", "double", "--mode", "force"])
    out = capsys.readouterr().out
    assert code == 1
    for words in (
        "Destination: double: a scripted double",
        "original-task",
        "exact-snippets",
        "greeting.py:2",
        "present",
        "Stripped, because advice has no authority:",
        "verdict-claim in summary",
        "What may be done: reject-and-retry-locally",
    ):
        assert words in out


def test_a_dry_run_prints_destination_and_exactly_what_would_leave(
    repo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["consult", TASK, "--repo", repo, "--provider", "double", "--mode", "force", "--dry-run"]) == 0
    out = capsys.readouterr().out
    assert "It would be sent to double: a scripted double" in out
    assert "<<<UES DATA" in out
    assert TASK in out
    assert not (tmp_path / "state").exists()
    code, report = called(capsys, "consult", TASK, "--repo", repo, "--dry-run")
    assert (code, report["destination"]) == (0, ["nowhere: no provider is chosen"])


def test_a_consultation_is_listed_shown_and_followed_up_by_later_commands(
    repo: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert called(capsys, "consultations", "list") == (0, [])
    _, asked = called(capsys, "consult", TASK, "--repo", repo, "--provider", "double", "--mode", "force")
    name = asked["consultation"]
    _, listed = called(capsys, "consultations", "list")
    assert [(row["consultation"], row["outcome"], row["can_be_followed_up"]) for row in listed] == [(name, "rejected", True)]
    code, again = called(capsys, "consult", "Is it upper()? double-mood: grounded", "--repo", repo, "--follow-up", name)
    assert (code, again["consultation"], again["sent"]["exchange"]) == (0, name, 2)
    assert [s["name"] for s in again["sent"]["sections"]] == again["delta"]["sent"]
    _, shown = called(capsys, "consultations", "show", name)
    assert [(e["exchange"], e["outcome"]) for e in shown["sent"]] == [(1, "rejected"), (2, "answered")]
    assert {c["binding"]["status"] for c in shown["sent"][0]["advice"]["claims"]} == {"present", "absent"}
    monkeypatch.setenv("COLUMNS", "200")
    assert run(["consultations", "show", name]) == 0
    out = capsys.readouterr().out
    assert "Exchange 2" in out
    assert f"ues consult --follow-up {name}" in out
    assert run(["consultations", "list"]) == 0
    assert name in capsys.readouterr().out


def test_what_cannot_be_followed_up_is_refused_with_a_code(
    repo: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, refused = called(capsys, "consult", "And?", "--repo", repo, "--follow-up", "con-0000000000000000")
    assert (code, refused["error"]["code"]) == (1, "consultation-unknown")
    _, asked = called(capsys, "consult", TASK, "--repo", repo, "--provider", "double", "--mode", "force")
    code, refused = called(capsys, "consult", "And?", "--repo", str(tmp_path), "--follow-up", asked["consultation"])
    assert (code, refused["error"]["code"]) == (1, "other-repository")
    assert run(["consult", "And?", "--repo", repo, "--follow-up", asked["consultation"], "--mode", "force"]) == 2
    assert called(capsys, "consultations", "show", "../../key")[1]["error"]["code"] == "consultation-unknown"
