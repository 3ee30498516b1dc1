"""The pipe to a browser that we launched: messages of JSON, each ended by one zero byte (``--remote-debugging-pipe``)."""

from __future__ import annotations

import asyncio
import contextlib
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final

from ues_driver_cdp_raw.connection import MAX_MESSAGE_BYTES, RawConnection

_PIPE_BYTES: Final = 2**20
"""Capacity asked of the kernel for the browser's side: fewer wake-ups for a large message (Linux's unprivileged maximum)."""


class Frames:
    """Splits a byte stream at zero bytes. Every byte is looked at once and copied at most twice, whatever the sizes."""

    def __init__(self, limit: int = MAX_MESSAGE_BYTES) -> None:
        self._limit = limit
        self._parts: list[bytes] = []
        self._size = 0

    def feed(self, data: bytes) -> Iterator[bytes]:
        """Yield the messages that ``data`` completes. Raises ``ValueError`` when one outgrows the limit."""
        start = 0
        while (end := data.find(b"\0", start)) >= 0:
            yield self._complete(data[start:end])
            start = end + 1
        if start < len(data):
            self._parts.append(data[start:])
            self._size += len(data) - start
            if self._size > self._limit:
                raise ValueError(f"a message is larger than {self._limit} bytes")

    def _complete(self, last: bytes) -> bytes:
        if not self._parts:
            return last
        self._parts.append(last)
        whole = b"".join(self._parts)
        self._parts.clear()
        self._size = 0
        return whole


class PipeWire:
    """The wire over two file descriptors, which it owns from the call of ``open`` on."""

    def __init__(self) -> None:
        self._transports: list[asyncio.BaseTransport] = []
        self._out: asyncio.WriteTransport | None = None
        self._valve = _Valve()

    @classmethod
    async def open(cls, read_fd: int, write_fd: int) -> RawConnection:
        """A connection that reads messages from one descriptor and writes them to the other."""
        loop = asyncio.get_running_loop()
        connection, wire = RawConnection(), cls()
        files = [os.fdopen(read_fd, "rb", buffering=0), os.fdopen(write_fd, "wb", buffering=0)]
        try:
            _widen(read_fd)
            out, _ = await loop.connect_write_pipe(lambda: _Writer(wire._valve, connection.lost), files[1])
            wire._transports.append(out)
            wire._out = out
            into, _ = await loop.connect_read_pipe(lambda: _Reader(connection), files[0])
            wire._transports.append(into)
        except BaseException:
            await wire.close()
            for file in files:
                file.close()
            raise
        connection.use(wire)
        return connection

    async def write(self, data: bytes) -> None:
        """Send one message; waits while the pipe is full."""
        await self._valve.passed()
        out = self._out
        if out is None or out.is_closing():
            raise BrokenPipeError("the pipe to the browser is closed")
        out.write(data + b"\0")
        await self._valve.passed()

    async def close(self) -> None:
        """Close both ends; the browser sees the end of its pipe and exits."""
        self._valve.open_for_good()
        for transport in self._transports:
            if isinstance(transport, asyncio.WriteTransport):
                transport.abort()  # close() would wait for a browser that may never read
            else:
                transport.close()
        # Transports release their descriptors in a callback of the loop.
        await asyncio.sleep(0)


class _Valve:
    """Shut while the write buffer is above its high-water mark."""

    def __init__(self) -> None:
        self._open = asyncio.Event()
        self._open.set()
        self._for_good = False

    async def passed(self) -> None:
        await self._open.wait()

    def shut(self) -> None:
        if not self._for_good:
            self._open.clear()

    def reopen(self) -> None:
        self._open.set()

    def open_for_good(self) -> None:
        self._for_good = True
        self._open.set()


class _Reader(asyncio.Protocol):
    def __init__(self, connection: RawConnection) -> None:
        self._connection = connection
        self._frames = Frames()
        self._transport: asyncio.BaseTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        # Messages are handled before the next read: a slow handler slows the browser down instead of filling a queue.
        try:
            for message in self._frames.feed(data):
                self._connection.feed(message)
        except ValueError as error:
            self._connection.lost(str(error))
            if self._transport is not None:
                self._transport.close()

    def eof_received(self) -> None:
        self._connection.lost("the browser closed its pipe")

    def connection_lost(self, exc: Exception | None) -> None:
        self._connection.lost(f"the pipe broke: {exc!r}" if exc else "the browser closed its pipe")


class _Writer(asyncio.BaseProtocol):
    def __init__(self, valve: _Valve, lost: Callable[[str], Any]) -> None:
        self._valve = valve
        self._lost = lost

    def pause_writing(self) -> None:
        self._valve.shut()

    def resume_writing(self) -> None:
        self._valve.reopen()

    def connection_lost(self, exc: Exception | None) -> None:
        self._valve.open_for_good()
        self._lost(f"the pipe broke: {exc!r}" if exc else "the browser closed its pipe")


def _widen(fd: int) -> None:
    if sys.platform == "linux":
        import fcntl

        with contextlib.suppress(OSError):  # over the user's quota: the default capacity works as well
            fcntl.fcntl(fd, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)


def pipe_pairs() -> tuple[int, int, int, int]:
    """Two pipes: ``(browser reads, we write, we read, browser writes)``, none inherited by a child by itself."""
    browser_reads, we_write = os.pipe()
    try:
        we_read, browser_writes = os.pipe()
    except OSError:
        os.close(browser_reads)
        os.close(we_write)
        raise
    return browser_reads, we_write, we_read, browser_writes
