"""The accuracy gate holds, and fails when what it guards is broken on purpose."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest

from ues_core.cli import run
from ues_core.contract import BindingStatus
from ues_core.reasoning import judge
from ues_core.reasoning.accuracy import SEED_CASES, CaseVerdict, all_cases, run_cases
from ues_core.reasoning.answer import parse_answer
from ues_core.reasoning.authority import scan_text
from ues_core.reasoning.bind import Binder

BY_NAME = {case.name: case for case in all_cases()}


@pytest.fixture(autouse=True)
def nothing_is_left(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    folder = tmp_path / "temporary"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    yield
    assert list(folder.iterdir()) == []


async def failed(*names: str) -> set[str]:
    """Those of the cases whose judgement was wrong."""
    return {verdict.name for verdict in await run_cases([BY_NAME[name] for name in names]) if not verdict.ok}


def test_there_are_the_six_of_the_seed_and_at_least_twenty_more() -> None:
    assert len(SEED_CASES) == 6
    assert len(BY_NAME) == len(all_cases()) >= 26


async def test_every_case_is_judged_as_it_must_be() -> None:
    verdicts = await run_cases(all_cases())
    assert [(v.name, v.problems) for v in verdicts if not v.ok] == []


async def test_a_binder_that_believes_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    bind = Binder.bind

    def believing(self: Binder, claim: Any) -> Any:
        return bind(self, claim).model_copy(update={"status": BindingStatus.PRESENT})

    monkeypatch.setattr(Binder, "bind", believing)
    names = ("hallucinated-file", "quote-almost-matches", "secret-path", "symlink-out-of-the-tree", "near-miss-ambiguity")
    assert await failed(*names, "clear-root-cause") == set(names)


async def test_a_scan_that_sees_no_authority_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "scan_answer", lambda answer: ())
    names = ("verdict-english", "permission-spanish", "injected-repository-text-obeyed")
    assert await failed(*names, "ordinary-security-advice") == set(names)


async def test_a_scan_that_flags_everything_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    flagged = scan_text("Final verdict: this is a pass.", "summary")
    monkeypatch.setattr(judge, "scan_answer", lambda answer: tuple(flagged))
    assert await failed("ordinary-security-advice") == {"ordinary-security-advice"}


async def test_a_parser_that_checks_no_nonce_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "parse_answer", lambda text, *, nonce: parse_answer(text, nonce=None))
    assert await failed("stale-answer", "two-answers") >= {"stale-answer"}


async def test_an_ownership_check_that_lets_everything_in_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(judge, "_is_ours", lambda *_: True)
    names = ("other-requests-answer", "other-conversation", "earlier-generation", "other-profile")
    assert await failed(*names) == set(names)


def test_the_command_says_each_verdict_and_ends_with_its_code(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    arguments = ["validate", "accuracy", "--case", "hallucinated-file", "--case", "clear-root-cause"]
    assert run([*arguments, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["ok"], report["cases"]) == (True, 2)
    assert [CaseVerdict.model_validate(v).name for v in report["verdicts"]] == ["clear-root-cause", "hallucinated-file"]
    bind = Binder.bind
    monkeypatch.setattr(
        Binder, "bind", lambda self, claim: bind(self, claim).model_copy(update={"status": BindingStatus.PRESENT})
    )
    assert run(arguments) == 1
    assert "WRONG" in capsys.readouterr().out
    assert run(["validate", "accuracy", "--case", "no-such-case"]) == 1
