"""Running a verb's coroutine so that Ctrl-C, a termination request and a closed terminal all clean up before the end."""

from __future__ import annotations

import asyncio
import contextlib
import signal
import sys
from collections.abc import Coroutine
from typing import Any, TypeVar

import click

T = TypeVar("T")

_SIGNAL_BASE = 128
"""A shell's exit code for a signal is this plus its number."""


def run_async(main: Coroutine[Any, Any, T]) -> T:
    """Run ``main`` on a loop of its own and return its result.

    Ctrl-C cancels it, waits for its clean-up and raises ``KeyboardInterrupt``; a second Ctrl-C does not wait. SIGTERM and
    SIGHUP cancel it as well and end the command with 128 plus the signal's number.
    """
    with asyncio.Runner() as runner:
        return runner.run(_stoppable(main))


async def _stoppable(main: Coroutine[Any, Any, T]) -> T:
    loop = asyncio.get_running_loop()
    task = asyncio.ensure_future(main)
    stopped_by: list[int] = []

    def stop(number: int) -> None:
        stopped_by.append(number)
        task.cancel()

    numbers = [signal.SIGTERM] if sys.platform == "win32" else [signal.SIGTERM, signal.SIGHUP]
    caught = []
    for number in numbers:
        # Not on Windows' loops, and not off the main thread, where signals are somebody else's.
        with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
            loop.add_signal_handler(number, stop, number)
            caught.append(number)
    try:
        return await task
    except asyncio.CancelledError:
        if stopped_by:
            raise click.exceptions.Exit(_SIGNAL_BASE + stopped_by[0]) from None
        raise
    finally:
        for number in caught:
            loop.remove_signal_handler(number)
