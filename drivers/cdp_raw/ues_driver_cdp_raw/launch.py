"""Starting a browser of our own over a pipe, and ending it: the process is owned here and nowhere else."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
import threading
from collections import deque
from pathlib import Path
from typing import Final

from ues_core.contract import Code, DriverError, Fault, Launch, NotSupported, Viewport
from ues_core.web.launch import browser_env, chromium_args, prepare_profile
from ues_core.web.processes import KILL_SECONDS, kill_tree_async
from ues_driver_cdp_raw.connection import RawConnection
from ues_driver_cdp_raw.pipe import PipeWire, pipe_pairs

_BROWSER_READS_AT: Final = 3
_BROWSER_WRITES_AT: Final = 4
"""Where ``--remote-debugging-pipe`` expects its two ends."""

_ABOVE_STANDARD: Final = 10
"""Descriptors are moved above this number first, so that placing one at 3 or 4 cannot overwrite the other."""

_STDERR_CHUNKS: Final = 16
_STDERR_BYTES: Final = 1024


class LaunchedBrowser:
    """A browser process that we own, and the connection to it."""

    def __init__(self, pid: int, profile_dir: str, connection: RawConnection, life: _Life) -> None:
        self.pid = pid
        self.profile_dir = profile_dir
        self.connection = connection
        self._life = life
        self._closing: asyncio.Task[bool] | None = None

    @property
    def stderr_tail(self) -> str:
        """The last words of the browser on its standard error, at most 16 KiB."""
        return self._life.stderr_tail

    async def close(self, *, grace: float = KILL_SECONDS) -> bool:
        """Ask the browser to go, then make it: true when it had to be killed or something of it is still there.

        Idempotent and bounded by ``grace`` plus ``KILL_SECONDS``; raises nothing but a cancellation of the caller, and goes
        on behind a cancelled caller. When the loop itself ends, the process group is killed at once.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close(grace), name="cdp-browser-close")
        return await asyncio.shield(self._closing)

    async def _close(self, grace: float) -> bool:
        exited = self._life.exited
        try:
            with contextlib.suppress(DriverError):
                await self.connection.send("Browser.close", deadline=grace / 2)
            await self.connection.close()  # the end of the pipe ends a browser that did not listen
            with contextlib.suppress(TimeoutError):
                async with asyncio.timeout(grace / 2):
                    await asyncio.shield(exited)
            asked = exited.done()
            gone = await kill_tree_async(self._life.living_pid, self.profile_dir)
            return not (asked and gone)
        except BaseException:
            self._life.kill_now()
            raise
        finally:
            self._life.release()


async def launch_browser(target: Launch, *, viewport: Viewport, deadline: float) -> LaunchedBrowser:
    """Start the browser that ``target`` names and wait until it answers.

    ``target.executable`` and ``target.profile_dir`` must be set: the core finds the one and makes and removes the other.
    Raises ``DriverError`` with code ``browser-not-found`` or ``browser-start-failed`` (``details['stderr']`` has the
    browser's last words); nothing is left running then, nor after a cancellation.
    """
    executable, profile_dir = _checked(target)
    life = _Life(asyncio.get_running_loop())
    try:
        prepare_profile(profile_dir)
        connection = await life.start(target, [*chromium_args(target, viewport, pipe=True), "about:blank"])
        await connection.send("Browser.getVersion", deadline=deadline)
    except (DriverError, OSError) as error:
        await life.destroy(profile_dir)
        raise DriverError(
            f"The browser at {executable} did not start: {getattr(error, 'sentence', error)}",
            code=Code.BROWSER_START_FAILED,
            fault=Fault.OPERATOR,
            next_step=_advice(life.stderr_tail),
            details={"stderr": life.stderr_tail[-2000:]},
        ) from error
    except BaseException:
        await asyncio.shield(life.destroy(profile_dir))
        raise
    return LaunchedBrowser(life.pid, profile_dir, connection, life)


def _checked(target: Launch) -> tuple[str, str]:
    if sys.platform == "win32":
        raise NotSupported(
            "This driver starts browsers over inherited pipe descriptors, which Windows does not have.",
            next_step="Use the playwright driver, or attach to a running browser.",
            details={"capability": "launch"},
        )
    if not target.executable or not Path(target.executable).is_file():
        raise DriverError(
            "There is no browser to start" + (f" at {target.executable}." if target.executable else "."),
            code=Code.BROWSER_NOT_FOUND,
            fault=Fault.OPERATOR,
            next_step="Run 'ues browser find', then 'ues browser install' if nothing is listed.",
        )
    if target.profile_dir is None:
        raise DriverError(
            "A browser needs a profile folder of its own and none was given.",
            code=Code.BROWSER_START_FAILED,
            fault=Fault.HOST,
            next_step="Give Launch.profile_dir; the session layer does so by itself.",
        )
    return target.executable, target.profile_dir


class _Life:
    """The operating system's side of one browser: spawning, standard error, reaping, the emergency kill."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.pid = 0
        self.exited: asyncio.Future[int] = loop.create_future()
        self._loop = loop
        self._reaping = threading.Lock()
        self._reaped = False
        self._connection: RawConnection | None = None
        self._stderr: deque[bytes] = deque(maxlen=_STDERR_CHUNKS)
        self._stderr_pipe: asyncio.BaseTransport | None = None

    @property
    def stderr_tail(self) -> str:
        return b"".join(self._stderr).decode("utf-8", "replace")

    async def start(self, target: Launch, args: list[str]) -> RawConnection:
        executable, profile = str(target.executable), str(target.profile_dir)
        env = browser_env(profile, environ=os.environ, headless=target.headless)
        with contextlib.ExitStack() as ours, contextlib.ExitStack() as theirs:
            browser_reads, we_write, we_read, browser_writes = pipe_pairs()
            for end in (we_write, we_read):
                ours.callback(os.close, end)
            for end in (browser_reads, browser_writes):
                theirs.callback(os.close, end)
            err_read, err_write = os.pipe()
            theirs.callback(os.close, err_write)
            with contextlib.ExitStack() as err:
                err.callback(os.close, err_read)
                self.pid = _spawn([executable, *args], env, browser_reads, browser_writes, err_write)
                threading.Thread(target=self._reap, name=f"reap-{self.pid}", daemon=True).start()
                err.pop_all()
            await self._listen(err_read)
            ours.pop_all()
        self._connection = await PipeWire.open(we_read, we_write)
        return self._connection

    @property
    def living_pid(self) -> int | None:
        """The main process, or ``None`` once its number may belong to somebody else."""
        return self.pid if self.pid and not self._reaped else None

    def kill_now(self) -> None:
        """Kill the process group without waiting; for the paths on which nothing can be awaited any more."""
        with self._reaping:
            if self.living_pid is not None:
                with contextlib.suppress(OSError):
                    os.killpg(self.pid, signal.SIGKILL)

    async def destroy(self, profile_dir: str) -> None:
        self.kill_now()
        try:
            if self._connection is not None:
                await self._connection.close()
            if self.pid:
                await kill_tree_async(self.living_pid, profile_dir)
        finally:
            self.release()

    def release(self) -> None:
        if self._stderr_pipe is not None:
            self._stderr_pipe.close()

    async def _listen(self, fd: int) -> None:
        file = os.fdopen(fd, "rb", buffering=0)
        try:
            self._stderr_pipe, _ = await self._loop.connect_read_pipe(lambda: _Tail(self._stderr), file)
        except BaseException:
            file.close()
            raise

    def _reap(self) -> None:
        try:
            if hasattr(os, "waitid"):  # wait first, reap under the lock: until then its number stays its own
                os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOWAIT)
                with self._reaping:
                    _, status = os.waitpid(self.pid, 0)
                    self._reaped = True
            else:  # macOS before Python 3.13
                _, status = os.waitpid(self.pid, 0)
                self._reaped = True
            code = os.waitstatus_to_exitcode(status)
        except ChildProcessError:
            self._reaped = True
            code = -1  # somebody else took its status; it is gone all the same
        with contextlib.suppress(RuntimeError):  # the loop closed first
            self._loop.call_soon_threadsafe(self._gone, code)

    def _gone(self, code: int) -> None:
        if not self.exited.done():
            self.exited.set_result(code)
        if self._connection is not None:
            self._connection.lost(f"the browser exited with status {code}")


class _Tail(asyncio.Protocol):
    def __init__(self, chunks: deque[bytes]) -> None:
        self._chunks = chunks

    def data_received(self, data: bytes) -> None:
        for start in range(0, len(data), _STDERR_BYTES):
            self._chunks.append(data[start : start + _STDERR_BYTES])


def _spawn(command: list[str], env: dict[str, str], reads: int, writes: int, errors: int) -> int:
    """Start a process in a session of its own, with exactly our descriptors; its pid.

    ``posix_spawn`` because it places descriptors by number and runs no Python between fork and exec.
    """
    import fcntl  # here, so that the module can be imported where there is none (attaching works there)

    high = [fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, _ABOVE_STANDARD) for fd in (reads, writes, errors)]
    actions = [
        (os.POSIX_SPAWN_OPEN, 0, os.devnull, os.O_RDONLY, 0),
        (os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0),
        (os.POSIX_SPAWN_DUP2, high[2], 2),
        (os.POSIX_SPAWN_DUP2, high[0], _BROWSER_READS_AT),
        (os.POSIX_SPAWN_DUP2, high[1], _BROWSER_WRITES_AT),
    ]
    try:
        try:
            return os.posix_spawn(command[0], command, env, file_actions=actions, setsid=True)
        except NotImplementedError:  # a libc without POSIX_SPAWN_SETSID: a group of its own is what the kill needs
            return os.posix_spawn(command[0], command, env, file_actions=actions, setpgroup=0)
    finally:
        for fd in high:
            os.close(fd)


def _advice(stderr: str) -> str:
    if "no-sandbox" in stderr:
        return "The sandbox cannot run here: run as an ordinary user, or allow 'no_sandbox' in the configuration."
    if "shared librar" in stderr:
        return "A system library is missing: install the browser from the distribution's packages."
    return "Start the browser by hand to see why, or choose another one with UES_BROWSER_EXECUTABLE."
