"""Claims of several consultants: matched by what can be checked, never counted into a verdict."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract import Advice, AdviceAction, Binding, BindingStatus, Claim, ClaimKind
from ues_core.reasoning.panel import Opinion, PanelClaim, Standing, compare


def opinion(name: str, *claims: dict[str, Any], confidence: float = 0.5) -> Opinion:
    rows, bindings = [], []
    for number, claim in enumerate(claims, 1):
        bound = claim.pop("bound", None)
        rows.append(Claim(number=number, **({"kind": ClaimKind.SNIPPET, "path": "a.py"} | claim)))
        if bound is not None:
            bindings.append(Binding(claim=number, **bound))
    advice = Advice(
        action=AdviceAction.IMPLEMENT_THEN_VERIFY,
        provider=name,
        request_id="r",
        raw_digest="0" * 64,
        confidence=confidence,
        claims=tuple(rows),
        bindings=tuple(bindings),
    )
    return Opinion(name, f"con-{name}", advice)


def test_the_same_claim_in_other_spelling_is_one_claim() -> None:
    present = {"status": BindingStatus.PRESENT, "path": "a.py", "start_line": 4, "end_line": 4}
    moved = present | {"status": BindingStatus.MOVED}
    (claim,) = compare(
        [
            opinion("x", {"path": "./a.py", "start_line": 4, "quote": "return  1", "bound": dict(present)}),
            opinion("y", {"path": "A.PY", "start_line": 9, "quote": "   4| return 1", "bound": dict(moved)}),
        ]
    )
    assert claim.standing is Standing.AGREED
    assert [v.binding.status for v in claim.voices if v.binding] == [BindingStatus.PRESENT, BindingStatus.MOVED]


def test_different_words_about_the_same_place_are_pointed_out_and_not_judged() -> None:
    (claim,) = compare(
        [
            opinion("x", {"quote": "return 1", "statement": "this is right"}),
            opinion("y", {"quote": "return 1", "statement": "this is wrong"}),
        ]
    )
    assert claim.standing is Standing.AGREED
    assert "different words" in claim.detail


def test_claims_about_one_place_that_cannot_both_hold_conflict() -> None:
    pairs: list[tuple[dict[str, Any], dict[str, Any]]] = [
        ({"kind": ClaimKind.NEW_FILE}, {"kind": ClaimKind.PATH}),
        ({"symbol": "f", "start_line": 1, "end_line": 3}, {"symbol": "f", "start_line": 9, "end_line": 12}),
        ({"quote": "x = 1", "start_line": 1}, {"quote": "x = 1", "start_line": 7}),
        ({"quote": "x = 1", "start_line": 1}, {"quote": "y = 2", "start_line": 1}),
    ]
    for one, other in pairs:
        found = compare([opinion("x", dict(one)), opinion("y", dict(other))])
        assert [c.standing for c in found] == [Standing.CONFLICT, Standing.CONFLICT], (one, other)
        assert [c.conflicts_with for c in found] == [(2,), (1,)]
        alone = compare([opinion("x", dict(one), dict(other))])
        assert {c.standing for c in alone} == {Standing.SINGLE}, "one consultant is no conflict between two"


def test_a_majority_is_nothing() -> None:
    absent = {"status": BindingStatus.ABSENT}
    crowd = [opinion(f"p{n}", {"quote": "invented text", "bound": dict(absent)}, confidence=0.99) for n in range(7)]
    (claim,) = compare(crowd)
    assert claim.standing is Standing.AGREED
    assert {v.binding.status for v in claim.voices if v.binding} == {BindingStatus.ABSENT}
    assert not {"confidence", "verdict", "score", "votes"} & set(PanelClaim.model_fields)


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(["a.py", "b.py"]), st.integers(1, 4)), max_size=12))
def test_no_claim_is_lost_or_counted_twice(rows: list[tuple[str, str, int]]) -> None:
    opinions = [
        opinion(name, *({"path": path, "start_line": line, "quote": "q"} for who, path, line in rows if who == name))
        for name in "xyz"
    ]
    found = compare(opinions)
    assert sum(len(c.voices) for c in found) == len(rows)
    for claim in found:
        assert (claim.standing is Standing.CONFLICT) == bool(claim.conflicts_with)
        assert all(claim.number in found[n - 1].conflicts_with for n in claim.conflicts_with)
