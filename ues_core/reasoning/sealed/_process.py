"""The child as an owned process: a fresh program in an empty folder with an empty environment, watched, and ended with all
that belongs to it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import psutil

from ues_core.contract import Code
from ues_core.reasoning.sealed._link import End
from ues_core.reasoning.sealed._models import SealLimits
from ues_core.reasoning.sealed.child import wire
from ues_core.redact import redact_and_clip

_BOOT: Final = Path(__file__).with_name("child") / "boot.py"
_STREAM_BYTES: Final = 1 << 20
_ERRORS_READ_MOST: Final = 4_000_000
"""After this much of error output nobody reads on: the child then waits at its own full pipe."""
_WATCH_SECONDS: Final = 0.25
_KILL_SECONDS: Final = 5.0


class Child:
    """One process. ``end`` may be called at any time and again."""

    def __init__(self, process: asyncio.subprocess.Process, limits: SealLimits) -> None:
        self._process = process
        self._limits = limits
        self._errors = bytearray()
        self._tasks: list[asyncio.Task[None]] = [asyncio.create_task(self._read_errors())]

    @classmethod
    async def start(cls, folder: Path, config: dict[str, Any], limits: SealLimits) -> Child:
        """Start it and hand it its configuration. Raises ``OSError``."""
        environment = {"SYSTEMROOT": os.environ["SYSTEMROOT"]} if sys.platform == "win32" else {}
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            *("-I", "-S", "-X", "utf8", str(_BOOT)),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.PIPE,
            cwd=folder,
            env=environment,
            close_fds=True,
            start_new_session=True,
            limit=_STREAM_BYTES,
        )
        child = cls(process, limits)
        child.writer.write(wire.encode({"method": "seal", "params": config}))
        return child

    @property
    def pid(self) -> int:
        """Its number."""
        return self._process.pid

    @property
    def reader(self) -> asyncio.StreamReader:
        """What it says."""
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def writer(self) -> asyncio.StreamWriter:
        """What is said to it."""
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def running(self) -> bool:
        """Whether it still runs."""
        return self._process.returncode is None

    @property
    def errors(self) -> str:
        """The tail of its error output, redacted."""
        return redact_and_clip(self._errors.decode("utf-8", errors="replace"), max(1, self._limits.errors_bytes))

    def watch(self, on_excess: Callable[[End], None]) -> None:
        """Look at it from outside, every quarter of a second: memory, threads, processes of its own."""
        self._tasks.append(asyncio.create_task(self._watch(on_excess)))

    async def end(self) -> None:
        """Kill it and everything it started, and wait until it is gone."""
        children = self._descendants()
        if self.running:
            if sys.platform == "win32":
                with contextlib.suppress(OSError):
                    self._process.kill()
            else:
                with contextlib.suppress(OSError):
                    os.killpg(self._process.pid, signal.SIGKILL)
        for process in children:
            with contextlib.suppress(psutil.Error):
                process.kill()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_KILL_SECONDS):
                await self._process.wait()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        # the transport closes its pipes when it is told to, not when the process is gone
        transport = getattr(self._process, "_transport", None)
        if transport is not None:
            transport.close()

    def _descendants(self) -> list[psutil.Process]:
        try:
            return psutil.Process(self._process.pid).children(recursive=True) if self.running else []
        except psutil.Error:
            return []

    async def _watch(self, on_excess: Callable[[End], None]) -> None:
        limits = self._limits
        try:
            process = psutil.Process(self._process.pid)
            while self.running:
                if process.memory_info().rss > limits.memory_bytes:
                    on_excess(End(Code.PROVIDER_OVER_LIMIT, f"It used more than {limits.memory_bytes} bytes of memory."))
                    return
                if process.num_threads() > limits.threads:
                    on_excess(End(Code.PROVIDER_OVER_LIMIT, f"It started more than {limits.threads} threads."))
                    return
                await asyncio.sleep(_WATCH_SECONDS)
        except psutil.Error:
            return  # it is gone, which the pipe tells

    async def _read_errors(self) -> None:
        stream = self._process.stderr
        assert stream is not None
        total = 0
        while total < _ERRORS_READ_MOST:
            data = await stream.read(8192)
            if not data:
                return
            total += len(data)
            self._errors += data
            del self._errors[: max(0, len(self._errors) - self._limits.errors_bytes)]
