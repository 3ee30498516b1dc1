from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract import NodeFacts
from ues_core.policy import FailureClass, Signals, compare_signals, decide_recovery, traits
from ues_core.policy.recovery import RecoveryReason

SAVE = Signals(role="button", name="Save  Draft", test_id="save", dom_id="s1")


def test_the_same_signals_match_without_regard_to_case_and_spacing_of_role_and_name() -> None:
    match = compare_signals(SAVE, Signals(role="Button", name="save draft", test_id="save", dom_id="s1"))
    assert (match.confidence, match.same) == (1.0, True)


@pytest.mark.parametrize("changed", [{"role": "link"}, {"name": "Delete draft"}, {"test_id": "delete"}])
def test_one_contradiction_vetoes_whatever_the_rest_adds_up_to(changed: dict[str, str]) -> None:
    match = compare_signals(SAVE, SAVE.model_copy(update=changed))
    assert not match.same
    assert match.contradicted == tuple(changed)


def test_a_changed_id_lowers_the_confidence_only() -> None:
    match = compare_signals(SAVE, SAVE.model_copy(update={"dom_id": "s2"}))
    assert (match.confidence, match.same) == (0.9, True)


def test_a_signal_that_was_lost_lowers_the_confidence() -> None:
    match = compare_signals(SAVE, Signals(role="button", test_id="save", dom_id="s1"))
    assert (match.confidence, match.same, match.contradicted) == (0.6, False, ())


def test_nothing_to_compare_is_no_match() -> None:
    assert compare_signals(Signals(), SAVE).confidence == 0
    assert not compare_signals(SAVE, Signals()).same


@pytest.mark.parametrize(
    ("verb", "failure", "after", "recoveries", "applied", "reason"),
    [
        ("click", FailureClass.TRANSIENT, SAVE, 0, False, RecoveryReason.NOT_STALE),
        ("submit", FailureClass.STALE, SAVE, 0, False, RecoveryReason.SIDE_EFFECT),
        ("teleport", FailureClass.STALE, SAVE, 0, False, RecoveryReason.SIDE_EFFECT),
        ("click", FailureClass.STALE, SAVE, 1, False, RecoveryReason.ALREADY_RECOVERED),
        ("click", FailureClass.STALE, SAVE, 0, True, RecoveryReason.MAY_HAVE_APPLIED),
        ("click", FailureClass.STALE, None, 0, False, RecoveryReason.OBSERVATION_REQUIRED),
        ("click", FailureClass.STALE, SAVE.model_copy(update={"name": "Delete"}), 0, False, RecoveryReason.SEMANTICS_CHANGED),
        ("click", FailureClass.STALE, SAVE.model_copy(update={"test_id": "x"}), 0, False, RecoveryReason.CONTRADICTED),
        ("click", FailureClass.STALE, Signals(role="button"), 0, False, RecoveryReason.BELOW_THRESHOLD),
        ("click", FailureClass.STALE, SAVE, 0, False, RecoveryReason.ALLOWED),
    ],
)
def test_a_recovery_is_decided_in_order(
    verb: str, failure: FailureClass, after: Signals | None, recoveries: int, applied: bool, reason: RecoveryReason
) -> None:
    decision = decide_recovery(traits(verb), failure, SAVE, after, recoveries=recoveries, may_have_applied=applied)
    assert decision.reason is reason
    assert decision.allowed == (reason is RecoveryReason.ALLOWED)
    assert bool(decision.steps) == decision.allowed


def test_signals_come_from_a_nodes_facts(node: Callable[..., NodeFacts]) -> None:
    assert Signals.of(node("Save", test_id="save", dom_id="s1")) == Signals(
        role="button", name="Save", test_id="save", dom_id="s1"
    )


words = st.text("ab ", max_size=3)
signals = st.builds(Signals, role=words, name=words, test_id=words, dom_id=words)


@given(signals, signals)
def test_a_match_never_overlooks_a_changed_role_name_or_test_id(before: Signals, after: Signals) -> None:
    match = compare_signals(before, after)
    assert 0 <= match.confidence <= 1
    if match.same:
        assert before.test_id in ("", after.test_id) or not after.test_id
        assert " ".join(before.name.split()) in ("", " ".join(after.name.split())) or not after.name.strip()
