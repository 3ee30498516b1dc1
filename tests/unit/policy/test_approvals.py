from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract import PolicyRefusal
from ues_core.contract.codes import Code
from ues_core.policy import ApprovalBook, guard_key
from ues_core.policy.approvals import BOUND_FIELDS, REMEMBERED

FACTS: dict[str, Any] = {
    "owner": "agent-1",
    "session": "s-1",
    "page": "p1",
    "document": "d1",
    "ref": "r-x",
    "identity": "a" * 32,
    "verb": "click",
    "arguments_digest": "b" * 64,
    "form_digest": "c" * 32,
}


def book() -> ApprovalBook:
    fresh = ApprovalBook()
    fresh.mint(approval_id="apr-1", **FACTS, now=1000.0, seconds=60)
    return fresh


def code_of(approvals: ApprovalBook, approval_id: str | None, now: float = 1001.0, **changed: Any) -> PolicyRefusal:
    with pytest.raises(PolicyRefusal) as caught:
        approvals.consume(approval_id, **{**FACTS, **changed}, now=now)
    assert caught.value.next_step
    return caught.value


def test_an_approval_is_good_exactly_once() -> None:
    approvals = book()
    assert approvals.consume("apr-1", **FACTS, now=1001.0).approval_id == "apr-1"
    assert code_of(approvals, "apr-1").code is Code.APPROVAL_USED


@pytest.mark.parametrize("missing", [None, ""])
def test_without_an_approval_one_is_required(missing: str | None) -> None:
    assert code_of(book(), missing).code is Code.APPROVAL_REQUIRED


def test_an_approval_that_was_never_given_is_unknown() -> None:
    assert code_of(book(), "apr-2").code is Code.APPROVAL_UNKNOWN


def test_an_approval_expires_strictly_after_its_time_and_says_when() -> None:
    approvals = book()
    assert code_of(approvals, "apr-1", now=1060.001).code is Code.APPROVAL_EXPIRED
    approval = approvals.consume("apr-1", **FACTS, now=1060.0)
    assert approval.expires_at == "1970-01-01T00:17:40.000Z"


@pytest.mark.parametrize("field", BOUND_FIELDS)
def test_any_other_fact_is_a_mismatch_that_is_named_and_leaves_the_approval_unused(field: str) -> None:
    approvals = book()
    changed: dict[str, Any] = {field: "other"}
    refusal = code_of(approvals, "apr-1", **changed)
    assert refusal.code is Code.APPROVAL_MISMATCH
    assert refusal.details == {"fields": field}
    assert approvals.consume("apr-1", **FACTS, now=1001.0)


def test_every_field_of_an_approval_but_its_id_and_expiry_is_bound() -> None:
    approval = book().consume("apr-1", **FACTS, now=1001.0)
    assert set(type(approval).model_fields) - {"approval_id", "expires_at"} == set(BOUND_FIELDS)


def test_an_approval_can_be_taken_back_while_unused() -> None:
    approvals = book()
    assert approvals.revoke("apr-1")
    assert not approvals.revoke("apr-1")
    assert not approvals.revoke("apr-9")
    assert code_of(approvals, "apr-1").code is Code.APPROVAL_USED


@pytest.mark.parametrize("seconds", [0.0, -1.0, 600.1, float("nan")])
def test_an_approval_lives_a_bounded_time(seconds: float) -> None:
    with pytest.raises(ValueError, match="seconds"):
        ApprovalBook().mint(approval_id="a", **FACTS, now=0.0, seconds=seconds)


def test_an_id_is_never_used_twice() -> None:
    with pytest.raises(ValueError, match="used before"):
        book().mint(approval_id="apr-1", **FACTS, now=0.0, seconds=1)


def test_the_book_is_bounded_and_forgets_the_oldest_first() -> None:
    approvals = ApprovalBook()
    for number in range(REMEMBERED + 1):
        approvals.mint(approval_id=f"a{number}", **FACTS, now=1000.0, seconds=60)
    assert code_of(approvals, "a0").code is Code.APPROVAL_UNKNOWN
    assert approvals.consume("a1", **FACTS, now=1001.0)


part = st.text(max_size=4)
parts = st.fixed_dictionaries(
    dict.fromkeys(("owner", "location", "verb", "identity", "arguments_digest", "form_digest", "idempotency_key"), part)
)


@given(parts, parts)
def test_two_side_effects_share_a_guard_key_only_when_every_part_is_equal(one: dict[str, str], two: dict[str, str]) -> None:
    assert (guard_key(**one) == guard_key(**two)) == (one == two)
