"""What was left out of a packet, counted by reason: a drop that nobody counts is a drop that nobody sees."""

from __future__ import annotations

from collections import Counter
from typing import Final

from ues_core.contract import LeftOut, LeftOutCount

EXAMPLES: Final = 3
"""Examples kept for a reason. Names of secret and odd files are never examples."""

_NAMELESS: Final = frozenset({LeftOut.SECRET_PATH, LeftOut.ODD_NAME, LeftOut.OUTSIDE_TREE})


class Tally:
    """Counts by reason, with a few examples."""

    def __init__(self) -> None:
        self._counts: Counter[LeftOut] = Counter()
        self._examples: dict[LeftOut, list[str]] = {}

    def add(self, reason: LeftOut, example: str = "", count: int = 1) -> None:
        """Count ``count`` things that were left out for ``reason``."""
        if count <= 0:
            return
        self._counts[reason] += count
        kept = self._examples.setdefault(reason, [])
        if example and reason not in _NAMELESS and len(kept) < EXAMPLES:
            kept.append(example[:200])

    @property
    def total(self) -> int:
        """Everything that was counted."""
        return self._counts.total()

    def merge(self, other: Tally) -> None:
        """Count what another one counted."""
        for reason, count in other._counts.items():
            self._counts[reason] += count
            kept = self._examples.setdefault(reason, [])
            kept += other._examples.get(reason, [])[: EXAMPLES - len(kept)]

    def report(self) -> tuple[LeftOutCount, ...]:
        """The counts, in the fixed order of the reasons."""
        return tuple(
            LeftOutCount(reason=r, count=self._counts[r], examples=tuple(self._examples.get(r, ())))
            for r in LeftOut
            if self._counts[r]
        )
