"""Playwright's own program (a Node.js in its package): does it start here, and which system library does it lack?

A small Debian has not every library that it is linked to; without it every session of the driver ends before it begins.
"""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

SECONDS: Final = 20.0
"""For a program that is asked for its version; it takes a tenth of a second on an idle machine."""

_MISSING: Final = re.compile(r"loading shared libraries: (\S+?):")
PACKAGES: Final[Mapping[str, str]] = {
    "libatomic.so.1": "libatomic1",
    "libstdc++.so.6": "libstdc++6",
    "libgcc_s.so.1": "libgcc-s1",
}
"""Debian's packages of what the program is linked to beside the C library."""


class Lack(NamedTuple):
    """Why the program does not start."""

    sentence: str
    package: str
    """Debian's package that brings what is missing; empty when that is not known."""


def program(environ: Mapping[str, str]) -> Path | None:
    """Where the program is: ``PLAYWRIGHT_NODEJS_PATH``, else the one in Playwright's package; ``None`` without Playwright."""
    spec = importlib.util.find_spec("playwright")
    if spec is None or spec.origin is None:
        return None
    chosen = environ.get("PLAYWRIGHT_NODEJS_PATH")
    return Path(chosen) if chosen else Path(spec.origin).parent / "driver" / ("node.exe" if os.name == "nt" else "node")


def lack(environ: Mapping[str, str]) -> Lack | None:
    """What keeps the program from starting; ``None`` when it starts, or when Playwright is not installed."""
    path = program(environ)
    if path is None:
        return None
    try:
        done = subprocess.run(
            [str(path), "--version"],
            env=dict(environ),
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return Lack(f"Playwright's program {path} does not start: {type(error).__name__}.", "")
    if done.returncode == 0:
        return None
    missing = _MISSING.search(done.stderr)
    if missing:
        return Lack(
            f"Playwright's program does not start: the system library {missing[1]} is missing.", PACKAGES.get(missing[1], "")
        )
    return Lack(f"Playwright's program {path} does not start (status {done.returncode}).", "")
