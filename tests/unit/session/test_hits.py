"""What a pointer would meet matters to whoever uses a pointer; keys go to what has the focus."""

from __future__ import annotations

from typing import Any

import pytest

from ues_core.contract import Code, HitStatus, HitTest, Inspection, NodeFacts, NodeKey, NodeStates, Refusal, Verb
from ues_core.session.gestures import check_hit


def look(status: HitStatus, *, focused: bool) -> Inspection:
    key = NodeKey(page="p1", frame="", document="d1", n=1)
    states = NodeStates(focused=True) if focused else NodeStates()
    facts = NodeFacts(key=key, role="textbox", interactive=True, editable=True, states=states)
    return Inspection(connected=True, facts=facts, hit=HitTest(status=status, covered_by="span.line"))


@pytest.mark.parametrize("verb", [Verb.PRESS, Verb.TYPE, Verb.FILL])
def test_a_covered_field_that_has_the_focus_takes_keys_and_text(verb: Verb) -> None:
    check_hit(verb, look(HitStatus.OCCLUDED, focused=True))


@pytest.mark.parametrize("verb", [Verb.PRESS, Verb.TYPE, Verb.FILL])
def test_a_covered_field_without_the_focus_takes_none(verb: Verb) -> None:
    with pytest.raises(Refusal) as refused:
        check_hit(verb, look(HitStatus.OCCLUDED, focused=False))
    assert refused.value.code is Code.TARGET_OCCLUDED
    assert "span.line" in refused.value.sentence


@pytest.mark.parametrize("verb", [Verb.CLICK, Verb.HOVER, Verb.SELECT, Verb.SUBMIT])
def test_the_focus_uncovers_nothing_for_a_pointer(verb: Verb) -> None:
    with pytest.raises(Refusal) as refused:
        check_hit(verb, look(HitStatus.OCCLUDED, focused=True))
    assert refused.value.code is Code.TARGET_OCCLUDED


@pytest.mark.parametrize("status", [HitStatus.NOT_VISIBLE, HitStatus.OFF_VIEWPORT, HitStatus.DETACHED])
def test_the_focus_shows_nothing_that_is_not_there(status: HitStatus) -> None:
    with pytest.raises(Refusal):
        check_hit(Verb.FILL, look(status, focused=True))


async def test_a_key_that_was_meant_for_no_node_is_confirmed_without_a_landing(open_session: Any) -> None:
    bench = await open_session()
    receipt = await bench.session.act({"verb": "press", "key": "Tab"})
    assert receipt.ok
    assert receipt.dispatched
    assert receipt.target is None
