"""The ring of events: in order, bounded, with what was lost counted."""

from __future__ import annotations

from ues_core.contract import EventKind
from ues_core.web.events import RING, TEXT_LIMIT, EventRing


def test_events_come_once_in_order() -> None:
    ring = EventRing(clock=lambda: 7.0)
    ring.add(EventKind.CONSOLE, "p1", text="one", level="log")
    ring.add(EventKind.NAVIGATION, "p1", url="http://a/")
    events = ring.drain().events
    assert [(event.sequence, event.kind, event.at) for event in events] == [(1, "console", 7.0), (2, "navigation", 7.0)]
    assert ring.drain().events == ()


def test_the_oldest_are_dropped_and_counted() -> None:
    ring = EventRing()
    for number in range(RING + 5):
        ring.add(EventKind.CONSOLE, text=str(number))
    drained = ring.drain()
    assert (len(drained.events), drained.dropped, drained.events[0].text) == (RING, 5, "5")
    assert ring.drain().dropped == 0


def test_texts_are_bounded_and_can_be_written() -> None:
    ring = EventRing()
    ring.add(EventKind.CONSOLE, text="x" * 10_000 + "\ud800", url="\ud800")
    (event,) = ring.drain().events
    assert len(event.text) == TEXT_LIMIT
    event.model_dump_json()
