"""Peers that the benches measure against: each in an environment of its own, made on first use and kept in ``.cache``."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).resolve().parents[1]
CONSTRAINTS: Final = ROOT / "constraints.txt"
INSTALL_LIMIT: Final = 600
"""Seconds that an installation may take."""


class Unavailable(Exception):
    """A peer cannot be had here, and why."""


def environment(name: str, requirement: str) -> Path:
    """The interpreter of ``.cache/bench-<name>``, where ``requirement`` is installed in the version that ``constraints.txt`` names.

    It is used again until requirement, constraints or interpreter change. Raises ``Unavailable``.
    """
    home = ROOT / ".cache" / f"bench-{name}"
    python = home / ("Scripts" if sys.platform == "win32" else "bin") / "python"
    ready = home / ".ready"
    wanted = f"{requirement}\n{sys.version}\n{CONSTRAINTS.read_text(encoding='utf-8')}"
    if ready.is_file() and ready.read_text(encoding="utf-8") == wanted:
        return python
    try:
        _run(sys.executable, "-m", "venv", "--clear", str(home))
        pip = ("-m", "pip", "install", "--quiet", "--disable-pip-version-check", "-c", str(CONSTRAINTS))
        _run(str(python), *pip, requirement)
    except (OSError, subprocess.SubprocessError) as error:
        shutil.rmtree(home, ignore_errors=True)
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        raise Unavailable(
            f"{requirement} cannot be installed into {home}: {said[-1] if said else 'no reason given'}"
        ) from error
    ready.write_text(wanted, encoding="utf-8")
    return python


def _run(*command: str) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_LIMIT, stdin=subprocess.DEVNULL)
