"""When a second opinion is asked for: signals, thresholds, skips, modes."""

from __future__ import annotations

from typing import Any

import pytest

from ues_core.contract import ReasoningMode
from ues_core.reasoning.escalate import Basis, EscalationFacts, Signal, Skip, decide

AUTO = ReasoningMode.AUTO


@pytest.mark.parametrize(
    ("facts", "signal"),
    [
        ({"subsystems": 3}, Signal.MULTI_SUBSYSTEM),
        ({"verifier_retries": 2}, Signal.REPEATED_FAILURE),
        ({"local_confidence": 0.49}, Signal.LOW_CONFIDENCE),
        ({"candidate_fixes": 2}, Signal.SEVERAL_FIXES),
        ({"root_cause_ambiguous": True}, Signal.AMBIGUOUS_CAUSE),
        ({"diagnostic_conflict": True}, Signal.CONFLICT),
        ({"recovery_exhausted": True}, Signal.RECOVERY_EXHAUSTED),
        ({"retrieval_confidence": 0.39}, Signal.LOW_RETRIEVAL),
        ({"edit_sites": 4}, Signal.MANY_EDIT_SITES),
        ({"cross_layer": True}, Signal.CROSS_LAYER),
        ({"architecture_decision": True}, Signal.ARCHITECTURE),
        ({"declared": frozenset({Signal.LONG_HORIZON})}, Signal.LONG_HORIZON),
    ],
)
def test_a_structural_fact_at_its_threshold_escalates(facts: dict[str, Any], signal: Signal) -> None:
    decision = decide(AUTO, EscalationFacts(task="Do it", **facts))
    assert decision.escalate
    assert decision.basis is Basis.STRUCTURE
    assert decision.signals == (signal,)
    assert signal in decision.reason


@pytest.mark.parametrize(
    "facts",
    [
        {"subsystems": 2},
        {"verifier_retries": 1},
        {"local_confidence": 0.5},
        {"candidate_fixes": 1},
        {"edit_sites": 3},
        {"retrieval_confidence": 0.4},
    ],
)
def test_below_its_threshold_it_does_not(facts: dict[str, Any]) -> None:
    decision = decide(AUTO, EscalationFacts(task="Do it", **facts))
    assert (decision.escalate, decision.basis) == (False, Basis.NO_SIGNAL)


@pytest.mark.parametrize(
    ("task", "signal"),
    [
        ("The root cause is unclear", Signal.AMBIGUOUS_CAUSE),
        ("The test still fails", Signal.REPEATED_FAILURE),
        ("I want a second opinion", Signal.LOW_CONFIDENCE),
        ("这个测试一直失败", Signal.REPEATED_FAILURE),
        ("Bài kiểm tra vẫn lỗi", Signal.REPEATED_FAILURE),
        ("Tôi không chắc", Signal.LOW_CONFIDENCE),
    ],
)
def test_words_escalate_in_three_languages(task: str, signal: Signal) -> None:
    decision = decide(AUTO, EscalationFacts(task=task))
    assert decision.basis is Basis.TEXT_SIGNAL
    assert signal in decision.signals


@pytest.mark.parametrize("task", ["No need for a second opinion", "This is not ambiguous", "Sort the list", "不需要第二意见"])
def test_negated_and_ordinary_words_do_not(task: str) -> None:
    assert not decide(AUTO, EscalationFacts(task=task)).escalate


@pytest.mark.parametrize(
    ("task", "skip"),
    [
        ("Bump the version to 2.0", Skip.VERSION_BUMP),
        ("Fix a typo in the README", Skip.DOC_EDIT),
        ("Update the docs", Skip.DOC_EDIT),
    ],
)
def test_a_hard_skip_really_skips_whatever_else_is_said(task: str, skip: Skip) -> None:
    decision = decide(AUTO, EscalationFacts(task=f"{task}; the root cause is unclear"))
    assert (decision.escalate, decision.basis, decision.skips) == (False, Basis.TEXT_SKIP, (skip,))


def test_a_grounded_task_is_skipped_and_a_syntax_error_is_only_reported() -> None:
    grounded = decide(AUTO, EscalationFacts(task="Do it", subsystems=5, grounded_low_risk=True))
    assert (grounded.escalate, grounded.basis) == (False, Basis.GROUNDED_SKIP)
    syntax = decide(AUTO, EscalationFacts(task="A syntax error", root_cause_ambiguous=True))
    assert syntax.escalate
    assert syntax.skips == (Skip.SYNTAX,)


def test_off_never_and_force_always() -> None:
    assert not decide(ReasoningMode.OFF, EscalationFacts(task="x", subsystems=9)).escalate
    forced = decide(ReasoningMode.FORCE, EscalationFacts(task="Bump the version"))
    assert forced.escalate
    assert forced.skips == (Skip.VERSION_BUMP,)
