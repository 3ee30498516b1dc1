"""What happened in a browser since the last drain: a bounded ring, oldest dropped and counted."""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from typing import Any, Final

from ues_core.contract import DriverEvent, EventKind, Events

RING: Final = 1_000
"""Events kept between two drains, at most."""
TEXT_LIMIT: Final = 4_000
URL_LIMIT: Final = 8_192


class EventRing:
    """Events in order of arrival. ``clock`` gives seconds since the epoch."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._kept: deque[dict[str, Any]] = deque(maxlen=RING)
        self._sequence = 0
        self._dropped = 0

    def add(self, kind: EventKind, page: str = "", **fields: Any) -> None:
        """Record one event; texts are cut to what the contract takes."""
        if len(self._kept) == RING:
            self._dropped += 1
        self._sequence += 1
        fields["text"] = _clean(fields.get("text", ""))[:TEXT_LIMIT]
        fields["url"] = _clean(fields.get("url", ""))[:URL_LIMIT]
        self._kept.append({"sequence": self._sequence, "kind": kind, "at": self._clock(), "page": page, **fields})

    def drain(self) -> Events:
        """Everything since the last call, and how many were lost."""
        events = tuple(DriverEvent(**fields) for fields in self._kept)
        dropped, self._dropped = self._dropped, 0
        self._kept.clear()
        return Events(events=events, dropped=dropped)


def _clean(text: object) -> str:
    # A lone surrogate cannot be written anywhere later.
    return str(text).encode("utf-8", "replace").decode("utf-8")
