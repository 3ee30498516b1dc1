"""The state directory: keys, ledger, trust and profiles live in it, so nobody else may write there."""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from ues_core.contract import Code, ConfigError

_OTHERS_WRITE: Final = stat.S_IWGRP | stat.S_IWOTH
_OTHERS: Final = stat.S_IRWXG | stat.S_IRWXO


def use_state_directory(folder: Path) -> None:
    """Make the folder (mode 0700) or accept the one that is there.

    Raises ``ConfigError``: it cannot be made, belongs to another user, or others may write into it, who could then put a key
    or a ledger of theirs in the place of ours. That others may read its names is told by ``ues doctor`` only: each file in it
    has a mode of its own.
    """
    with usable(folder):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        facts = folder.stat()
    if sys.platform == "win32":
        return
    if facts.st_uid != os.geteuid():
        raise _unusable(
            folder, "belongs to another user", "Name a folder of your own: UES_STATE_DIR, or state_dir in ues.toml."
        )
    if facts.st_mode & _OTHERS_WRITE:
        raise _unusable(folder, f"can be written by others (mode {stat.S_IMODE(facts.st_mode):04o})", f"chmod 700 {folder}")


@contextmanager
def usable(folder: Path) -> Iterator[None]:
    """``OSError`` inside becomes a ``ConfigError`` that names the folder."""
    try:
        yield
    except OSError as error:
        raise _unusable(
            folder,
            f"cannot be used: {error.strerror or type(error).__name__}",
            "Name a folder that can be written: UES_STATE_DIR, or state_dir in ues.toml.",
        ) from error


def open_to_others(folder: Path) -> bool:
    """Whether others may enter or read the folder."""
    return sys.platform != "win32" and bool(folder.stat().st_mode & _OTHERS)


def _unusable(folder: Path, how: str, next_step: str) -> ConfigError:
    return ConfigError(
        f"The state directory {folder} {how}.",
        code=Code.CONFIG_UNREADABLE,
        next_step=next_step,
        details={"state_dir": str(folder)},
    )
