from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract.codes import Code
from ues_core.contract.words import Verb
from ues_core.policy import FailureClass, classify_failure, decide_retry, traits
from ues_core.policy.retry import RetryReason

STALE, TRANSIENT = FailureClass.STALE, FailureClass.TRANSIENT


@pytest.mark.parametrize(
    ("code", "text", "expected"),
    [
        (Code.TARGET_GONE, "", STALE),
        (Code.DOCUMENT_GONE, "timeout", STALE),
        (Code.OK, "Element is not attached to the DOM", STALE),
        (Code.OK, "<div> intercepts pointer events", STALE),
        (Code.OK, "locator resolved to 3 elements", STALE),
        (Code.OK, "Please sign in", FailureClass.AUTH_REQUIRED),
        (Code.OK, "HTTP 401", FailureClass.AUTH_REQUIRED),
        (Code.DEADLINE_EXCEEDED, "", TRANSIENT),
        (Code.OK, "connection reset by peer", TRANSIENT),
        (Code.OK, "503 Service Unavailable", TRANSIENT),
        (Code.OK, "stale element, timeout, 401", STALE),
        (Code.OK, "login page timed out", FailureClass.AUTH_REQUIRED),
        (Code.OK, "the option does not exist", FailureClass.DETERMINISTIC),
        (Code.OK, "port 5030", FailureClass.DETERMINISTIC),
        (Code.OK, "", FailureClass.DETERMINISTIC),
    ],
)
def test_a_failure_is_classified_by_code_and_words_in_order_of_precedence(
    code: Code, text: str, expected: FailureClass
) -> None:
    assert classify_failure(code, text) is expected


def test_a_stale_click_is_tried_once_more_and_never_replayed_blindly() -> None:
    first = decide_retry(traits("click"), STALE, attempts=1)
    assert first.allowed
    assert (first.next_attempt, first.max_attempts, first.delay_seconds, first.replay) == (2, 2, 0.15, False)
    second = decide_retry(traits("click"), STALE, attempts=2, stale_retries=1)
    assert (second.allowed, second.reason) == (False, RetryReason.BUDGET_USED)


@pytest.mark.parametrize(
    ("verb", "failure", "reason"),
    [
        ("teleport", STALE, RetryReason.UNKNOWN_VERB),
        ("purchase", STALE, RetryReason.SIDE_EFFECT),
        ("submit", TRANSIENT, RetryReason.SIDE_EFFECT),
        ("click", TRANSIENT, RetryReason.KIND_NOT_ALLOWED),
        ("fill", TRANSIENT, RetryReason.NO_PROOF),
        ("fill", FailureClass.AUTH_REQUIRED, RetryReason.NOT_RETRYABLE),
        ("observe", FailureClass.DETERMINISTIC, RetryReason.NOT_RETRYABLE),
        ("close", TRANSIENT, RetryReason.KIND_NOT_ALLOWED),
    ],
)
def test_a_retry_is_refused_with_its_reason(verb: str, failure: FailureClass, reason: RetryReason) -> None:
    decision = decide_retry(traits(verb), failure, attempts=1)
    assert (decision.allowed, decision.reason) == (False, reason)


def test_a_click_that_proved_to_have_an_external_effect_is_never_repeated() -> None:
    assert decide_retry(traits("click", proven_external=True), STALE, attempts=1).reason is RetryReason.SIDE_EFFECT


def test_an_aborted_action_is_not_tried_again() -> None:
    assert decide_retry(traits("observe"), TRANSIENT, attempts=1, aborted=True).reason is RetryReason.ABORTED


def test_with_proof_of_idempotency_a_fill_is_replayed_after_a_transient_failure() -> None:
    decision = decide_retry(traits("fill", proven_idempotent=True), TRANSIENT, attempts=1)
    assert decision.allowed
    assert decision.replay


def test_the_delay_doubles() -> None:
    row = traits("navigate")
    assert [decide_retry(row, TRANSIENT, attempts=n, transient_retries=n - 1).delay_seconds for n in (1, 2)] == [0.15, 0.3]


@given(st.sampled_from(sorted(Verb)), st.sampled_from(sorted(FailureClass)), st.booleans())
def test_no_verb_is_ever_tried_more_often_than_its_row_says(verb: Verb, failure: FailureClass, proven: bool) -> None:
    row = traits(verb, proven_idempotent=proven)
    attempts = 1
    while decide_retry(row, failure, attempts=attempts, stale_retries=0, transient_retries=0).allowed:
        attempts += 1
        assert attempts <= 1 + row.max_retries
