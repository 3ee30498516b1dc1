"""The host's end of the pipe: requests with deadlines, bounds on everything that comes back, and one reason for its end.

Nothing that the child writes can raise here: it is an answer that somebody waits for, the answer of a call that was cancelled
and is dropped, a call of its own that is judged elsewhere, or the reason why the child is ended.
"""

from __future__ import annotations

import asyncio
import contextlib
import secrets
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from ues_core.contract import AnswerOutcome, Code, ProviderError, UesError
from ues_core.reasoning.sealed._models import SealLimits
from ues_core.reasoning.sealed.child import wire

_SECONDS_AT_ONCE: Final = 4
"""A burst of unasked messages may be this many seconds' worth."""
_CALLS_AT_ONCE: Final = 8
_ENVELOPE_BYTES: Final = 1_000
_ID_BYTES: Final = 16
_WORDS: Final = 300
_READ_CHUNK: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class End:
    """Why a child is no more."""

    code: Code
    sentence: str
    outcome: AnswerOutcome = AnswerOutcome.UNAVAILABLE


@dataclass(frozen=True, slots=True)
class ChildError(Exception):
    """The child answered with an error: what the provider raised, as words."""

    kind: str
    sentence: str
    code: str
    next_step: str
    cancelled: bool = False


@dataclass(slots=True)
class _Waiting:
    future: asyncio.Future[Any]
    most: int


Perform = Callable[[str, dict[str, Any]], Awaitable[Any]]
"""Performs one call of the child; raises ``UesError`` to refuse it."""


class Link:
    """One child's pipe.

    ``perform``  what to do with the child's own calls.
    ``on_end``   called once with the reason when the pipe is over.
    """

    def __init__(
        self,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        limits: SealLimits,
        perform: Perform,
        on_end: Callable[[End], None],
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._limits = limits
        self._perform = perform
        self._on_end = on_end
        self._waiting: dict[str, _Waiting] = {}
        self._calls: set[asyncio.Task[None]] = set()
        self._credit = float(limits.calls_per_second * _SECONDS_AT_ONCE)
        self._credit_at = time.monotonic()
        self._reading: asyncio.Task[None] | None = None
        self.sealed: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        """What the child measured; set by its first message."""
        self.end: End | None = None

    def start(self) -> None:
        """Begin to read."""
        self._reading = asyncio.create_task(self._read())

    async def request(
        self,
        method: str,
        params: dict[str, Any],
        *,
        seconds: float,
        most: int | None = None,
        cancel_seconds: float | None = None,
    ) -> Any:
        """Ask the child; its result, unvalidated.

        ``most``            bytes that the answer may have.
        ``cancel_seconds``  what it gets to take a cancellation, after ``seconds`` or when the caller is cancelled; then it
                            is ended as hung.

        Raises ``ChildError`` (its own error, also that it was cancelled) and ``ProviderError`` (it is no more).
        """
        key = secrets.token_hex(_ID_BYTES)
        waiting = _Waiting(asyncio.get_running_loop().create_future(), (most or self._limits.message_bytes) + _ENVELOPE_BYTES)
        if self.end is not None:
            raise ended(self.end)
        grace = self._limits.grace_seconds if cancel_seconds is None else cancel_seconds
        self._waiting[key] = waiting
        until = time.monotonic() + seconds
        try:
            await self._send({"id": key, "method": method, "params": params}, seconds)
            return await self._within(waiting.future, until - time.monotonic())
        except TimeoutError:
            await self._take_back(key, waiting, method, grace)
            raise ChildError("TimeoutError", "", "", "", cancelled=True) from None
        except asyncio.CancelledError:
            # the caller goes on at once; whether the child takes the cancellation is seen to beside it
            self._spawn(self._take_back(key, waiting, method, grace))
            raise
        finally:
            if waiting.future.done():
                self._waiting.pop(key, None)

    def notify(self, method: str, params: dict[str, Any]) -> None:
        """Say something; a child that does not read it is no matter."""
        if self.end is None and not self._writer.is_closing():
            with contextlib.suppress(OSError, RuntimeError):
                self._writer.write(wire.encode({"method": method, "params": params}))

    def finish(self, end: End) -> None:
        """The pipe is over, for this reason unless there is an earlier one."""
        if self.end is not None:
            return
        self.end = end
        for waiting in self._waiting.values():
            if not waiting.future.done():
                waiting.future.set_exception(ended(end))
                waiting.future.exception()  # also when its caller has gone
        self._waiting.clear()
        if not self.sealed.done():
            self.sealed.set_exception(ended(end))
            self.sealed.exception()
        self._on_end(end)

    async def stop(self) -> None:
        """End the tasks of this link."""
        tasks = [*self._calls, *([self._reading] if self._reading is not None else [])]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        with contextlib.suppress(OSError, RuntimeError):
            self._writer.close()

    # -- writing -----------------------------------------------------------------------------------------------------

    async def _send(self, message: dict[str, Any], seconds: float) -> None:
        try:
            self._writer.write(wire.encode(message))
            async with asyncio.timeout(seconds):
                await self._writer.drain()
        except (OSError, RuntimeError):
            # its end is noticed by the reading side, which knows why; give it a moment to say so
            await asyncio.sleep(0)

    async def _within(self, future: asyncio.Future[Any], seconds: float) -> Any:
        async with asyncio.timeout(max(0.0, seconds)):
            return await asyncio.shield(future)

    async def _take_back(self, key: str, waiting: _Waiting, method: str, grace: float) -> None:
        self.notify("cancel", {"id": key})
        try:
            await self._within(waiting.future, grace)
        except TimeoutError:
            self.finish(
                End(
                    Code.PROVIDER_HUNG, f"It did not come back from {method} and took no cancellation.", AnswerOutcome.TIMED_OUT
                )
            )
            raise ended(self.end or End(Code.PROVIDER_HUNG, "It hangs.")) from None
        except ChildError:
            pass
        finally:
            self._waiting.pop(key, None)

    def _spawn(self, work: Awaitable[None]) -> None:
        async def run() -> None:
            with contextlib.suppress(UesError):
                await work

        task = asyncio.create_task(run())
        self._calls.add(task)
        task.add_done_callback(self._calls.discard)

    # -- reading -----------------------------------------------------------------------------------------------------

    async def _read(self) -> None:
        try:
            while self.end is None:
                size = wire.length(await self._reader.readexactly(wire.HEADER_BYTES))
                most = max((w.most for w in self._waiting.values()), default=self._limits.message_bytes)
                if size > most:
                    self.finish(End(Code.PROVIDER_FLOOD, f"It announced a message of {size} bytes; {most} are allowed."))
                    return
                self._received(size, wire.decode(await self._body(size)))
        except asyncio.IncompleteReadError:
            self.finish(End(Code.PROVIDER_GONE, "Its process ended."))
        except OSError as error:
            self.finish(End(Code.PROVIDER_GONE, f"Its pipe broke ({type(error).__name__})."))
        except wire.Garbage as garbage:
            self.finish(End(Code.PROVIDER_GARBAGE, f"It wrote what is no message: {garbage}."))

    async def _body(self, size: int) -> bytes:
        body = bytearray()
        while len(body) < size:
            body += await self._reader.readexactly(min(_READ_CHUNK, size - len(body)))
        return bytes(body)

    def _received(self, size: int, message: dict[str, Any]) -> None:
        if "method" not in message:
            self._answered(size, message)
            return
        if not self._may_speak(size):
            self.finish(End(Code.PROVIDER_FLOOD, "It said too much unasked."))
            return
        method, params, key = message["method"], message.get("params", {}), message.get("id")
        if method == "sealed" and not self.sealed.done():
            self.sealed.set_result(params)
        elif len(self._calls) >= _CALLS_AT_ONCE and key is not None:
            self._reply(key, _error(wire.FAILED, "FloodError", "Too many calls at once."))
        else:
            self._spawn(self._serve(method, params, key))

    def _answered(self, size: int, message: dict[str, Any]) -> None:
        key = message.get("id", "")
        waiting = self._waiting.get(key)
        if waiting is None:
            self.finish(End(Code.PROVIDER_GARBAGE, "It answered what nobody asked, or twice."))
            return
        if size > waiting.most:
            self.finish(End(Code.PROVIDER_FLOOD, f"Its answer has {size} bytes; {waiting.most} are allowed."))
            return
        self._waiting.pop(key)
        if waiting.future.done():
            return
        if "error" in message:
            waiting.future.set_exception(_child_error(message["error"]))
            waiting.future.exception()
        else:
            waiting.future.set_result(message["result"])

    def _may_speak(self, size: int) -> bool:
        now = time.monotonic()
        rate = self._limits.calls_per_second
        self._credit = min(float(rate * _SECONDS_AT_ONCE), self._credit + (now - self._credit_at) * rate)
        self._credit_at = now
        self._credit -= 1
        return self._credit >= 0 and size <= self._limits.call_bytes

    async def _serve(self, method: str, params: dict[str, Any], key: str | None) -> None:
        try:
            answer: dict[str, Any] = {"result": await self._perform(method, params)}
        except asyncio.CancelledError:
            if key is not None:
                self._reply(key, _error(wire.CANCELLED, "UsageError", "The exchange is over."))
            raise
        except UesError as error:
            answer = _error(wire.FAILED, type(error).__name__, error.sentence, str(error.code), error.next_step)
        except Exception as error:  # noqa: BLE001 - the real channel's failure is told by its type only: its text is the host's
            answer = _error(wire.FAILED, "ChannelFailed", f"The channel failed ({type(error).__name__}).")
        if key is not None:
            self._reply(key, answer)

    def _reply(self, key: str, answer: dict[str, Any]) -> None:
        if self.end is None and not self._writer.is_closing():
            with contextlib.suppress(OSError, RuntimeError, ValueError):
                self._writer.write(wire.encode({"id": key, **answer}))


def ended(end: End) -> ProviderError:
    """The error that tells of the end."""
    return ProviderError(
        f"The sealed provider's process was ended or is gone. {end.sentence}",
        code=end.code,
        next_step="Go on without it, or open the provider again.",
        details={"outcome": str(end.outcome)},
    )


def _error(number: int, kind: str, sentence: str, code: str = "", next_step: str = "") -> dict[str, Any]:
    data = {"kind": kind, "sentence": sentence, "code": code, "next_step": next_step}
    return {"error": {"code": number, "message": "refused", "data": data}}


def _child_error(error: Any) -> ChildError:
    data = error.get("data") if isinstance(error, dict) else None
    words = (
        {k: " ".join(v[: 4 * _WORDS].split())[:_WORDS] for k, v in data.items() if isinstance(v, str)}
        if isinstance(data, dict)
        else {}
    )
    if not words.get("kind", "").isidentifier():
        words["kind"] = "Error"  # the name of a class, and no sentence
    cancelled = isinstance(error, dict) and error.get("code") == wire.CANCELLED
    return ChildError(
        words.get("kind", ""), words.get("sentence", ""), words.get("code", ""), words.get("next_step", ""), cancelled
    )
