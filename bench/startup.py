"""How long ``ues --help`` takes, against importing pydantic, in one run: a ratio, because times differ between machines."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time

ROUNDS = 15
ALLOWED = 2.5
"""The project's promise."""

BASE = [sys.executable, "-c", "import pydantic"]
HELP = [sys.executable, "-c", "import sys; from ues_core.cli import run; sys.exit(run(['--help']))"]


def seconds(command: list[str]) -> float:
    """How long one run of ``command`` takes."""
    start = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
    return time.perf_counter() - start


def main() -> int:
    """Measure both in turns, print the ratio of the medians, and fail when it is above what is promised."""
    pairs = [(seconds(BASE), seconds(HELP)) for _ in range(ROUNDS)]
    base, shown = (statistics.median(column) for column in zip(*pairs, strict=True))
    ratio = shown / base
    sys.stdout.write(
        f"import pydantic {base * 1000:.0f} ms, ues --help {shown * 1000:.0f} ms: ratio {ratio:.2f} (at most {ALLOWED})\n"
    )
    return 0 if ratio <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(main())
