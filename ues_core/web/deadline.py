"""One deadline for an operation of several steps."""

from __future__ import annotations

import time

from ues_core.contract import DeadlineExceeded


class Clock:
    """Counts down from a number of seconds."""

    __slots__ = ("_end",)

    def __init__(self, seconds: float) -> None:
        self._end = time.monotonic() + seconds

    def left(self) -> float:
        """Seconds that are left. Raises ``DeadlineExceeded`` when there are none."""
        left = self._end - time.monotonic()
        if left <= 0:
            raise DeadlineExceeded("The time for this call ran out.", next_step="Try again with a longer deadline.")
        return left
