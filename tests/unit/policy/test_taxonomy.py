from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract.words import ActionClass, Need, RetryKind, RiskLevel, Verb, WaitUntil
from ues_core.policy import TAXONOMY, known_verb, traits

EXTERNAL = [
    "submit",
    "purchase",
    "payment",
    "delete",
    "destructive-confirm",
    "send-message",
    "create-order",
    "publish",
    "account-mutation",
]


def test_every_verb_has_a_row() -> None:
    assert set(TAXONOMY) == set(Verb)
    assert all(row.verb == str(verb) for verb, row in TAXONOMY.items())


@pytest.mark.parametrize("verb", EXTERNAL)
def test_an_external_side_effect_is_never_retried_and_needs_approval_and_a_check(verb: str) -> None:
    row = traits(verb)
    assert (row.action_class, row.max_retries, row.retry_kinds) == (ActionClass.EXTERNAL_SIDE_EFFECT, 0, ())
    assert row.approval_needed
    assert (row.post_verification, row.risk) == (Need.REQUIRED, RiskLevel.LIKELY)


@pytest.mark.parametrize(
    ("verb", "retries", "kinds", "check"),
    [
        ("observe", 2, {"transient", "stale"}, "optional"),
        ("see", 1, {"transient"}, "none"),
        ("close", 0, set(), "none"),
        ("navigate", 2, {"transient", "stale"}, "required"),
        ("reload", 1, {"transient"}, "required"),
        ("back", 1, {"transient"}, "optional"),
        ("click", 1, {"stale"}, "required"),
        ("press", 1, {"stale"}, "required"),
        ("fill", 1, {"stale", "transient"}, "required"),
        ("select", 1, {"stale", "transient"}, "required"),
        ("hover", 1, {"stale", "transient"}, "none"),
    ],
)
def test_the_figures_of_the_reference_hold(verb: str, retries: int, kinds: set[str], check: str) -> None:
    row = traits(verb)
    assert (row.max_retries, {str(k) for k in row.retry_kinds}, str(row.post_verification)) == (retries, kinds, check)


def test_what_navigates_says_when_it_is_done() -> None:
    assert traits("navigate").wait_until is WaitUntil.DOM_CONTENT_LOADED
    assert traits("reload").wait_until is WaitUntil.LOAD
    assert {v for v, row in TAXONOMY.items() if row.navigates} == {Verb.NAVIGATE, Verb.RELOAD, Verb.BACK, Verb.FORWARD}


@pytest.mark.parametrize("text", ["teleport", "", "click!", "clickk", "delete everything", "клик", "a" * 10_000])
def test_an_unknown_verb_is_the_riskiest_class(text: str) -> None:
    row = traits(text)
    assert row.unknown
    assert row.action_class is ActionClass.EXTERNAL_SIDE_EFFECT
    assert (row.max_retries, row.risk, row.approval_needed) == (0, RiskLevel.UNKNOWN, True)
    assert len(row.verb) <= 80


@pytest.mark.parametrize(
    ("text", "verb"), [(" Send  Message ", Verb.SEND_MESSAGE), ("close_page", Verb.CLOSE_PAGE), ("snapshot", Verb.OBSERVE)]
)
def test_a_hosts_spelling_of_a_verb_is_understood(text: str, verb: Verb) -> None:
    assert known_verb(text) is verb


def test_proof_of_an_external_effect_overrides_the_verb() -> None:
    row = traits("fill", proven_external=True, proven_idempotent=True)
    assert row.action_class is ActionClass.EXTERNAL_SIDE_EFFECT
    assert row.max_retries == 0
    assert not row.replay_safe


def test_proof_of_idempotency_makes_an_interactive_verb_replay_safe_and_nothing_else() -> None:
    assert not traits("fill").replay_safe
    assert traits("click", proven_idempotent=True).replay_safe
    assert traits("click", proven_idempotent=True).risk is RiskLevel.NONE
    assert not traits("purchase", proven_idempotent=True).replay_safe
    assert not traits("teleport", proven_idempotent=True).replay_safe


@given(st.text(max_size=40))
def test_no_text_whatever_is_judged_milder_than_its_row(text: str) -> None:
    row = traits(text)
    assert row.unknown or TAXONOMY[Verb(row.verb)] == row


def test_retries_are_allowed_only_with_kinds() -> None:
    for row in TAXONOMY.values():
        assert bool(row.retry_kinds) == (row.max_retries > 0)
        assert set(row.retry_kinds) <= set(RetryKind)
