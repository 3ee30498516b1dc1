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


DENIED = [
    "No need for a second opinion",
    "I don't need any kind of second opinion here",
    "A second opinion is not needed",
    "A second opinion isn't necessary, just sort the list",
    "No second opinion, please",
    "This is not ambiguous",
    "The root cause is known: an off-by-one",
    "The root cause of the crash is already clear",
    "There aren't several plausible fixes",
    "It no longer keeps failing",
    "The test is never flaky",
    "This has nothing to do with it and does not touch multiple modules",
    "It needs neither a redesign nor a trade-off",
    "Sort the list",
    "\u4e0d\u9700\u8981\u7b2c\u4e8c\u610f\u89c1",
    "\u8fd9\u6b21\u4e0d\u7528\u4efb\u4f55\u7b2c\u4e8c\u610f\u89c1",
    "\u8fd9\u4e0d\u662f\u67b6\u6784\u95ee\u9898",
    "\u6839\u672c\u539f\u56e0\u5df2\u7ecf\u6e05\u695a",
    "\u6ca1\u6709\u591a\u79cd\u65b9\u6848",
    "Kh\u00f4ng c\u1ea7n \u00fd ki\u1ebfn th\u1ee9 hai",
    "\u0110\u00e2y kh\u00f4ng ph\u1ea3i l\u00e0 v\u1ea5n \u0111\u1ec1 ki\u1ebfn tr\u00fac",
    "Nguy\u00ean nh\u00e2n g\u1ed1c \u0111\u00e3 r\u00f5 r\u00e0ng",
    "Kh\u00f4ng c\u00f3 nhi\u1ec1u gi\u1ea3i ph\u00e1p",
]
MEANT = [
    ("I do not know which approach is right", Signal.ARCHITECTURE),
    ("Not sure why it fails", Signal.AMBIGUOUS_CAUSE),
    ("The list is not sorted. The root cause is unclear", Signal.AMBIGUOUS_CAUSE),
    ("It does not compile, and the test still fails", Signal.REPEATED_FAILURE),
    ("We cannot tell why it stops", Signal.AMBIGUOUS_CAUSE),
    ("No need for new tests; I want a second opinion", Signal.LOW_CONFIDENCE),
    ("The root cause is not known", Signal.AMBIGUOUS_CAUSE),
    ("\u6211\u4e0d\u786e\u5b9a\u8be5\u600e\u4e48\u505a", Signal.LOW_CONFIDENCE),
    ("\u6211\u6ca1\u6709\u628a\u63e1", Signal.LOW_CONFIDENCE),
    ("\u6d4b\u8bd5\u4e0d\u7a33\u5b9a\uff0c\u539f\u56e0\u4e0d\u660e", Signal.AMBIGUOUS_CAUSE),
    ("Kh\u00f4ng r\u00f5 nguy\u00ean nh\u00e2n", Signal.AMBIGUOUS_CAUSE),
    ("T\u00f4i kh\u00f4ng ch\u1eafc n\u00ean ch\u1ecdn c\u00e1ch n\u00e0o", Signal.LOW_CONFIDENCE),
]


@pytest.mark.parametrize("task", DENIED)
def test_negated_and_ordinary_words_do_not(task: str) -> None:
    decision = decide(AUTO, EscalationFacts(task=task))
    assert (decision.escalate, decision.signals) == (False, ())


@pytest.mark.parametrize(("task", "signal"), MEANT)
def test_a_negation_of_something_else_denies_no_signal(task: str, signal: Signal) -> None:
    assert signal in decide(AUTO, EscalationFacts(task=task)).signals


@pytest.mark.parametrize("task", ["Fix the docs generator crash; the root cause is unclear", "Update the documentation server"])
def test_code_about_documents_is_no_document(task: str) -> None:
    assert not decide(AUTO, EscalationFacts(task=task)).skips


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
