"""Deeds that abuse what the process has: processor, memory, threads, its life, its channel."""

from __future__ import annotations

import ctypes
import gc
import os
import signal
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

from ues_core.contract import ConsultChannel, Progress, ProgressKind


def fork_bomb() -> int:
    """As many processes as it gets."""
    count = 0
    for _ in range(500):
        if os.fork() == 0:
            time.sleep(60)
            os._exit(0)
        count += 1
    return count


def raw_fork() -> int:
    """A process past the library, by the number of the system call."""
    libc = ctypes.CDLL(None, use_errno=True)
    for number in (57, 58, 220):  # fork and vfork of one architecture, clone of another
        if (got := libc.syscall(number, 17, 0, 0, 0, 0)) == 0:
            os._exit(0)
        elif got > 0:
            return int(got)
    raise OSError(ctypes.get_errno(), "refused")


def memory() -> int:
    """All of it."""
    held = []
    while True:
        held.append(bytearray(32 << 20))


def thread_bomb() -> int:
    """As many threads as it gets."""
    threading.stack_size(32768)
    for _ in range(20_000):
        threading.Thread(target=time.sleep, args=(600,)).start()
    return threading.active_count()


def hang() -> None:
    """For ever, deaf to everything."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    while True:
        time.sleep(1)


def spin() -> None:
    """For ever, at full speed."""
    while True:
        pass


def stay() -> str:
    """What keeps a process alive: threads that never end, deaf ears, no bond with the parent, a daemon."""
    for number in (signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGPIPE):
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=hang_quietly).start()
    bond = ctypes.CDLL(None, use_errno=True).prctl(1, 0, 0, 0, 0)
    try:
        os.setsid()
        session = "new session"
    except OSError:
        session = "old session"
    try:
        daemon = "daemon" if os.fork() else "the daemon itself"
    except OSError:
        daemon = "no daemon"
    return f"{session}, {daemon}, {'bond cut' if bond == 0 else 'bond kept'}"


def hang_quietly() -> None:
    """A thread that nothing ends."""
    while True:
        time.sleep(1)


# -- the channel -----------------------------------------------------------------------------------------------------


def _pipe(channel: ConsultChannel) -> int:
    """The descriptor of the channel's pipe, found among everything that is in memory."""
    del channel
    for thing in gc.get_objects():
        if type(thing).__name__ == "Peer":
            return int(thing._writing)
    raise LookupError("no pipe")


async def foreign_words(channels: Mapping[str, ConsultChannel], own: str) -> list[str]:
    """Every method that the host might have, and words of other sessions and of nobody."""
    channel: Any = channels[own]
    others: list[Any] = [other for handle, other in channels.items() if handle != own]
    done = []
    tries = [
        (name, {"call": channel._call}) for name in ("host.approve", "channel.kind", "seal", "__init__", "channel.__class__")
    ]
    words = ["", "0" * 32, *(other._call for other in others), *channels]
    tries += [("channel.progress", {"call": word, "progress": {"kind": "started"}}) for word in words]
    tries += [("channel.probe", {"call": word, "deadline": 5}) for word in words]
    tries += [("channel.ask", {"call": channel._call, "request_id": word, "deadline": 5}) for word in ("request-other", "")]
    for method, params in tries:
        try:
            await channel._ask_host(method, params)
        except Exception:  # noqa: BLE001 - whatever refused it, it was refused
            continue
        done.append(f"{method} {params}")
    return done


async def flood(channels: Mapping[str, ConsultChannel], own: str) -> None:
    """Progress without end."""
    channel: Any = channels[own]
    report = Progress(kind=ProgressKind.STREAMING, detail="x" * 200).model_dump(mode="json")
    while True:
        channel._send({"method": "channel.progress", "params": {"call": channel._call, "progress": report}})


async def garbage(channels: Mapping[str, ConsultChannel], own: str) -> None:
    """What is no message."""
    pipe = _pipe(channels[own])
    while True:
        os.write(pipe, b"\x00\x00\x00\x20" + os.urandom(32))


async def gigabyte(channels: Mapping[str, ConsultChannel], own: str) -> None:
    """One message of a gigabyte."""
    pipe = _pipe(channels[own])
    os.write(pipe, (1 << 30).to_bytes(4, "big"))
    while True:
        os.write(pipe, b" " * 65536)


async def big_answer(channels: Mapping[str, ConsultChannel], own: str) -> str:
    """An answer of forty megabytes."""
    return "x" * 40_000_000


ON_CHANNEL: Final = (foreign_words, flood, garbage, gigabyte, big_answer)

DEEDS: Final[dict[str, Callable[..., Any]]] = {
    function.__name__: function for function in (*(fork_bomb, raw_fork, memory, thread_bomb, hang, spin, stay), *ON_CHANNEL)
}
