"""How the time of the scan for claims of authority grows with the text, in one run.

A ratio, because times differ between machines.
"""

from __future__ import annotations

import statistics
import sys
import time

from ues_core.reasoning.authority import scan

ROUNDS = 7
ALLOWED = 2.3
"""The project's promise: twice the text, at most so many times the time."""
SIZE = 60_000
"""Characters of a long answer."""

PROSE = (
    "The guard in policy.py is skipped when the list is empty; add a test that covers it. "
    "这会让用户绕过验证,建议加一个检查。 Проверьте, что пользователь авторизован, прежде чем удалять. "
    "Điều này khiến người dùng bỏ qua được bước xác minh. La función omite la comprobación. "
)


def seconds(text: str) -> float:
    """How long one scan takes."""
    start = time.process_time()
    scan(text)
    return time.process_time() - start


def main() -> int:
    """Measure both sizes in turns, print the ratio of the medians, and fail when it is above what is promised."""
    once = (PROSE * (SIZE // len(PROSE) + 1))[:SIZE]
    scan(once)
    pairs = [(seconds(once), seconds(once * 2)) for _ in range(ROUNDS)]
    base, twice = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = twice / base
    sys.stdout.write(
        f"scan of {SIZE} characters {base * 1000:.0f} ms, of twice as many {twice * 1000:.0f} ms: "
        f"ratio {ratio:.2f} (at most {ALLOWED})\n"
    )
    return 0 if ratio <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
