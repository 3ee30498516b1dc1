"""How long a sealed provider takes from nothing to its checked info, against a bare ``python -c pass`` plus the imports that its
process has to make, in one run: a ratio, because times differ between machines.

The base is what an unsealed child would need at the least: start an interpreter, and in another one import the provider and
serve. What is above it is the seal, its measurement, the roots out of the metadata, and the pipe.
"""

from __future__ import annotations

import asyncio
import statistics
import subprocess
import sys
import time
from importlib.metadata import entry_points

from ues_core.reasoning.sealed import ProviderFacts, open_sealed

ROUNDS = 9
ALLOWED = 3.0
"""The project's promise."""

BARE = [sys.executable, "-c", "pass"]
IMPORTS = [sys.executable, "-c", "import time; t = time.perf_counter(); import {module}; print(time.perf_counter() - t)"]


def bare() -> float:
    """How long an interpreter takes that does nothing."""
    start = time.perf_counter()
    subprocess.run(BARE, check=True)
    return time.perf_counter() - start


def imports(module: str) -> float:
    """How long the provider's imports take in a fresh interpreter, as that interpreter measures it."""
    command = [*IMPORTS[:2], IMPORTS[2].format(module=module)]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


async def sealed(facts: ProviderFacts) -> float:
    """How long it takes to open the provider in a sealed process."""
    start = time.perf_counter()
    provider = await open_sealed(facts)
    taken = time.perf_counter() - start
    await provider.close()
    return taken


async def main() -> int:
    """Measure in turns, print the ratio of the medians, and fail when it is above what is promised."""
    entry = next(iter(entry_points(group="ues.providers", name="double")))
    facts = ProviderFacts.of(entry)
    await sealed(facts)
    rows = []
    for _ in range(ROUNDS):
        rows.append((await asyncio.to_thread(bare), await asyncio.to_thread(imports, entry.module), await sealed(facts)))
    start, load, opened = (statistics.median(column) for column in zip(*rows, strict=True))
    ratio = opened / (start + load)
    sys.stdout.write(
        f"python -c pass {start * 1000:.0f} ms, imports {load * 1000:.0f} ms, sealed start {opened * 1000:.0f} ms: "
        f"ratio {ratio:.2f} (at most {ALLOWED})\n"
    )
    return 0 if ratio <= ALLOWED else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
