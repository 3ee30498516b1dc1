"""Processes of browsers: finding all of them, ending all of them. Every wait is bounded, nothing here raises for a process
that is already gone.

A browser is a tree: helpers outlive the main process, some sit in a process group of their own, and a late one writes into
the profile folder again. So a tree is ended three ways at once (group, descendants, exact profile folder), and is gone only
when it was looked for and not found.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Final

import psutil

KILL_SECONDS: Final = 5.0
"""Within this time a killed tree must be gone."""

_POLL_SECONDS: Final = 0.02
_PROFILE_SWITCH: Final = "--user-data-dir="
_CRASH_SWITCH: Final = "--database="


def process_started(pid: int) -> float | None:
    """When a process started (seconds since the epoch); ``None`` when there is none, or only its remains."""
    try:
        process = psutil.Process(pid)
        return None if process.status() == psutil.STATUS_ZOMBIE else process.create_time()
    except psutil.Error:
        return None


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
    ``profile_dir``  its profile folder, for the helpers that left the tree.
    """
    end = time.monotonic() + seconds
    known: dict[int, psutil.Process] = {}
    while True:
        for process in _members(pid, profile_dir):
            known.setdefault(process.pid, process)
        living = [process for process in known.values() if _lives(process)]
        if not living:
            return True
        _kill_group(pid, living)
        for process in living:
            with contextlib.suppress(psutil.Error):
                process.kill()
        if time.monotonic() >= end:
            return False
        time.sleep(_POLL_SECONDS)


def wait_gone(profile_dir: str | Path, *, seconds: float) -> bool:
    """Wait, without killing, until no process uses the profile folder; false when some still do after ``seconds``."""
    end = time.monotonic() + seconds
    while browser_processes_of(profile_dir):
        if time.monotonic() >= end:
            return False
        time.sleep(_POLL_SECONDS * 5)
    return True


async def kill_tree_async(pid: int | None, profile_dir: str | Path | None = None, *, seconds: float = KILL_SECONDS) -> bool:
    """``kill_tree`` off the loop."""
    return await asyncio.to_thread(kill_tree, pid, profile_dir, seconds=seconds)


# -- inside ----------------------------------------------------------------------------------------------------------


def _members(pid: int | None, profile_dir: str | Path | None) -> Iterable[psutil.Process]:
    if pid is not None:
        with contextlib.suppress(psutil.Error):
            main = psutil.Process(pid)
            yield main
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
