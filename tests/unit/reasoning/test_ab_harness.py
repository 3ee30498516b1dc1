"""The A/B harness measures by running tests, says null where it did not, and claims nothing."""

from __future__ import annotations

import json
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ues_core.cli import run
from ues_core.reasoning.ab import TASKS, _bench, _executor, execute, run_bench

BY_NAME = {task.name: task for task in TASKS}


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


@pytest.fixture
def checkout(tmp_path: Path) -> Any:
    def make(name: str) -> Path:
        root = tmp_path / name
        for path, text in BY_NAME[name].files.items():
            (root / path).parent.mkdir(parents=True, exist_ok=True)
            (root / path).write_text(text)
        return root

    return make


async def test_good_advice_helps_wrong_advice_costs_and_invented_advice_changes_nothing() -> None:
    report = await run_bench()
    runs = {(r["task"], r["arm"]): r for r in report["runs"]}
    hard = "cache-forgets-at-once"
    assert (runs[hard, "local"]["false_pass"], runs[hard, "local"]["verified_pass"]) == (True, False)
    assert (runs[hard, "advice"]["false_pass"], runs[hard, "advice"]["verified_pass"]) == (False, True)
    assert runs["shares-do-not-add-up", "local"]["passed"] is False
    assert runs["shares-do-not-add-up", "advice"]["verified_pass"] is True
    wrong = "last-page-is-missing"
    assert (runs[wrong, "local"]["attempts"], runs[wrong, "advice"]["attempts"]) == (1, 2)
    invented = "slug-keeps-capitals"
    assert runs[invented, "advice"]["code"] == "answer-not-grounded"
    assert runs[invented, "advice"]["order"] == runs[invented, "local"]["order"]
    assert report["comparison"]["verified_pass_rate"] == {"local": 0.5, "advice": 1.0, "delta": 0.5, "reason": ""}
    assert report["claims_verified"] is False
    assert (report["provider"], report["conclusion"]) == ("deterministic-provider-double", "measured-both-arms")
    assert report["arms"]["advice"]["tokens"] is None
    assert report["arms"]["advice"]["tokens_reason"]


async def test_one_arm_gives_no_comparison() -> None:
    report = await run_bench(arm="local", only=["slug-keeps-capitals"], repeat=2)
    assert len(report["runs"]) == 2
    assert report["conclusion"] == "incomplete-measurement-no-conclusion"
    row = report["comparison"]["verified_pass_rate"]
    assert (row["advice"], row["delta"], row["reason"]) == (None, None, "not measured: advice")


def test_an_edit_is_judged_in_a_copy(checkout: Any) -> None:
    root = checkout("slug-keeps-capitals")
    before = (root / "shop/slug.py").read_text()
    done = execute(BY_NAME["slug-keeps-capitals"], root, BY_NAME["slug-keeps-capitals"].candidates)
    assert (done.passed, done.verified, done.chosen) == (True, True, "lower")
    assert (root / "shop/slug.py").read_text() == before
    assert not (root / "checks").exists()


@pytest.mark.parametrize("text", ["", "import time\ntime.sleep(600)\n"])
def test_tests_that_do_not_run_or_do_not_end_measure_nothing(checkout: Any, monkeypatch: pytest.MonkeyPatch, text: str) -> None:
    monkeypatch.setattr(_executor, "TEST_SECONDS", 2.0)
    task = replace(BY_NAME["slug-keeps-capitals"], visible=text)
    done = execute(task, checkout(task.name), task.candidates)
    assert done.verified is None
    assert done.problem


async def test_what_could_not_be_measured_is_null_with_a_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    task = replace(TASKS[0], hidden="")
    monkeypatch.setattr(_bench, "TASKS", (task,))
    report = await run_bench()
    assert report["arms"]["advice"]["verified_pass_rate"] is None
    assert report["arms"]["advice"]["reason"] == "1 of 1 runs could not be measured"
    assert report["comparison"]["verified_pass_rate"]["delta"] is None
    assert report["conclusion"] == "incomplete-measurement-no-conclusion"


def test_the_command_prints_labels_and_refuses_a_live_run(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["bench", "reasoning", "--task", "slug-keeps-capitals"]) == 0
    out = capsys.readouterr().out
    assert "deterministic-provider-double" in out
    assert "Claims verified: false" in out
    assert run(["bench", "reasoning", "--live", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "not-supported"
    assert run(["bench", "reasoning", "--task", "nonsense"]) == 1
