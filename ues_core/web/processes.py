"""Processes of browsers and the profile folders they live in: finding all of them, ending all of them. Every wait is bounded,
nothing here raises for a process or a folder that is already gone.

A browser is a tree: helpers outlive the main process, some sit in a process group of their own, and a late one writes into
the profile folder again. So a tree is ended three ways at once (group, descendants, exact profile folder), and is gone only
when it was looked for and not found. A profile folder is gone only when it stays gone.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil

from ues_core.contract import Model, UsageError
from ues_core.web.launch import temporary_dir

KILL_SECONDS: Final = 5.0
"""Within this time a killed tree must be gone."""

_POLL_SECONDS: Final = 0.02
_POLL_SECONDS_MOST: Final = 0.2
"""Looking through every process of the machine costs milliseconds, so a long wait looks less and less often."""

REMOVE_SECONDS: Final = 5.0
"""How long the removal of a profile folder is tried."""

_STABLE_LOOKS: Final = 3
_STABLE_SECONDS: Final = 0.05
"""A folder counts as gone when it was absent this many times, this far apart: a dying helper may write once more."""

_PROFILE_SWITCH: Final = "--user-data-dir="
_CRASH_SWITCH: Final = "--database="

_PREFIX: Final = "session-"
_OWNER_SUFFIX: Final = ".owner"


def process_identity(pid: int) -> str | None:
    """What tells a process from a later one with the same number; ``None`` when there is none, or only its remains.

    On Linux the boot and the kernel's own start tick, which no change of the clock moves; elsewhere the start time.
    """
    try:
        process = psutil.Process(pid)
        if process.status() == psutil.STATUS_ZOMBIE:
            return None
        if sys.platform != "linux":
            return f"{process.create_time():.2f}"
        boot = Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        # The name in parentheses may hold anything; after it come fields 3 and following, of which 22 is the start tick.
        ticks = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (psutil.Error, OSError, IndexError):
        return None
    return f"{boot}:{ticks}"


def browser_processes_of(profile_dir: str | Path) -> list[psutil.Process]:
    """Every living process started with exactly this profile folder, main process, helpers and crash handlers alike.

    Arguments are compared as whole strings, so a folder whose name begins with another's, or holds characters that a
    pattern would read, matches only itself.
    """
    wanted = _spellings(profile_dir)
    found = []
    for process in psutil.process_iter():
        try:
            if _uses(process.cmdline(), wanted) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
        except psutil.Error:
            continue  # gone meanwhile, or not ours to look at
    return found


def kill_tree(pid: int | None, profile_dir: str | Path | None = None, *, seconds: float = KILL_SECONDS) -> bool:
    """End a browser and everything that belongs to it; true when nothing of it is left within ``seconds``.

    ``pid``          the main process that we started (the leader of its group); ``None`` when it is not known any more.
    ``profile_dir``  its profile folder, for the helpers that left the tree. The folder for temporary files that may lie beside
                     it goes too, since it serves this browser alone; the profile itself stays.
    """
    end = time.monotonic() + seconds
    pause = _POLL_SECONDS
    main = _process(pid)
    known: dict[int, psutil.Process] = {}
    while True:
        for process in _members(main, profile_dir):
            known.setdefault(process.pid, process)
        living = [process for process in known.values() if _lives(process)]
        if not living:
            _forget_beside(profile_dir)
            return True
        _kill_group(pid, living)
        for process in living:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if time.monotonic() >= end:
            return False
        time.sleep(pause)
        pause = min(2 * pause, _POLL_SECONDS_MOST)


def wait_gone(profile_dir: str | Path, *, seconds: float) -> bool:
    """Wait, without killing, until no process uses the profile folder; false when some still do after ``seconds``."""
    end = time.monotonic() + seconds
    while browser_processes_of(profile_dir):
        if time.monotonic() >= end:
            return False
        time.sleep(_POLL_SECONDS_MOST)
    return True


async def kill_tree_async(pid: int | None, profile_dir: str | Path | None = None, *, seconds: float = KILL_SECONDS) -> bool:
    """``kill_tree`` off the loop."""
    return await asyncio.to_thread(kill_tree, pid, profile_dir, seconds=seconds)


# -- profile folders -------------------------------------------------------------------------------------------------


class Swept(Model):
    """What a sweep did, by folder name."""

    removed: tuple[str, ...] = ()
    """Their owner was dead; their leftover browsers were killed first."""
    kept: tuple[str, ...] = ()
    """Their owner lives."""
    stuck: tuple[str, ...] = ()
    """Their owner is dead and they could not be removed; the next sweep tries again."""


class ProfileHome:
    """A folder of temporary profile folders, each owned by the process that made it.

    Beside ``session-XXXXXX`` lies ``session-XXXXXX.owner``. The owner file is there before the folder and goes after it, so
    another process that sweeps never sees a folder without its owner.
    """

    def __init__(self, root: str | Path) -> None:
        self.root = Path(root)

    def make(self) -> Path:
        """A new, empty folder that only this user may enter, owned by this process."""
        self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        while True:
            folder = self.root / f"{_PREFIX}{secrets.token_hex(4)}"
            if folder.exists() or _owner_file(folder).exists():
                continue
            _write_owner(folder, os.getpid())
            folder.mkdir(mode=0o700)
            return folder

    def remove(self, folder: str | Path, *, seconds: float = REMOVE_SECONDS) -> bool:
        """Kill what still runs in the folder and remove it; true when it is gone and stays gone.

        May be called again after a failure. Raises ``UsageError`` for a folder that is not one of this home.
        """
        path = Path(folder)
        temporary = temporary_dir(path)
        if path.parent != self.root or not path.name.startswith(_PREFIX) or path.suffix:
            raise UsageError(f"{path.name!r} is not a profile folder of this home, so it is not removed.")
        end = time.monotonic() + seconds
        looks = 0
        while looks < _STABLE_LOOKS:
            if browser_processes_of(path):
                looks = 0
                kill_tree(None, path, seconds=max(0.0, end - time.monotonic()))
            elif os.path.lexists(path) or os.path.lexists(temporary):
                looks = 0
                _remove_once(path)
                _remove_once(temporary)
            else:
                looks += 1
            if time.monotonic() >= end and looks == 0:
                return False
            time.sleep(_STABLE_SECONDS if looks else 0)
        _owner_file(path).unlink(missing_ok=True)
        return True

    def sweep(self) -> Swept:
        """Remove the folders whose owner is dead, after killing their leftover browsers; never one whose owner lives.

        A folder without an owner file is not ours and stays.
        """
        removed, kept, stuck = [], [], []
        for owner_file in sorted(self.root.glob(f"{_PREFIX}*{_OWNER_SUFFIX}")):
            folder = owner_file.with_suffix("")
            if _owner_lives(owner_file):
                kept.append(folder.name)
            elif self.remove(folder):
                removed.append(folder.name)
            else:
                stuck.append(folder.name)
        return Swept(removed=tuple(removed), kept=tuple(kept), stuck=tuple(stuck))

    def abandoned(self) -> tuple[str, ...]:
        """Names of the folders whose owner is dead; nothing is changed."""
        owners = sorted(self.root.glob(f"{_PREFIX}*{_OWNER_SUFFIX}"))
        return tuple(owner.with_suffix("").name for owner in owners if not _owner_lives(owner))

    async def make_async(self) -> Path:
        """``make`` off the loop."""
        return await asyncio.to_thread(self.make)

    async def remove_async(self, folder: str | Path, *, seconds: float = REMOVE_SECONDS) -> bool:
        """``remove`` off the loop."""
        return await asyncio.to_thread(self.remove, folder, seconds=seconds)

    async def sweep_async(self) -> Swept:
        """``sweep`` off the loop."""
        return await asyncio.to_thread(self.sweep)


# -- inside ----------------------------------------------------------------------------------------------------------


def _forget_beside(profile_dir: str | Path | None) -> None:
    if profile_dir is None:
        return
    temporary = temporary_dir(profile_dir)
    if temporary.parent != Path(profile_dir):
        _remove_once(temporary)


def _process(pid: int | None) -> psutil.Process | None:
    try:
        return None if pid is None else psutil.Process(pid)
    except psutil.Error:
        return None


def _members(main: psutil.Process | None, profile_dir: str | Path | None) -> Iterable[psutil.Process]:
    # is_running compares the start time too: a later process with the same number is not ours.
    if main is not None and main.is_running():
        yield main
        with contextlib.suppress(psutil.Error):
            yield from main.children(recursive=True)
    if profile_dir is not None:
        yield from browser_processes_of(profile_dir)


def _kill_group(pid: int | None, living: list[psutil.Process]) -> None:
    if pid is None or sys.platform == "win32" or not any(process.pid == pid for process in living):
        return
    # Only the group that the main process leads: a pid that was never a leader shares its group with us.
    with contextlib.suppress(OSError):
        if os.getpgid(pid) == pid:
            os.killpg(pid, signal.SIGKILL)


def _lives(process: psutil.Process) -> bool:
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _spellings(profile_dir: str | Path) -> frozenset[str]:
    given = os.path.abspath(profile_dir)
    return frozenset({str(profile_dir), given, os.path.realpath(given)})


def _uses(arguments: list[str], wanted: frozenset[str]) -> bool:
    for argument in arguments:
        if argument.startswith(_PROFILE_SWITCH) and argument.removeprefix(_PROFILE_SWITCH) in wanted:
            return True
        if argument.startswith(_CRASH_SWITCH):
            base = argument.removeprefix(_CRASH_SWITCH)
            if any(base == folder or base.startswith(folder + os.sep) for folder in wanted):
                return True
    return False


def _owner_file(folder: Path) -> Path:
    return folder.with_name(folder.name + _OWNER_SUFFIX)


def _write_owner(folder: Path, pid: int) -> None:
    # Complete or not there: a sweep must never read half of it and take the owner for dead.
    draft = folder.with_name(f".{folder.name}{_OWNER_SUFFIX}")
    draft.write_text(json.dumps({"pid": pid, "identity": process_identity(pid)}), encoding="utf-8")
    draft.replace(_owner_file(folder))


def _owner_lives(owner_file: Path) -> bool:
    try:
        owner = json.loads(owner_file.read_text(encoding="utf-8"))
        pid, identity = int(owner["pid"]), owner["identity"]
    except FileNotFoundError:
        return True  # its owner removed it this very moment
    except (OSError, ValueError, KeyError, TypeError):
        return False
    now = process_identity(pid)
    return now is not None and (identity is None or now == identity)


def _remove_once(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        with contextlib.suppress(OSError):
            path.unlink()
        return
    shutil.rmtree(path, ignore_errors=True)
