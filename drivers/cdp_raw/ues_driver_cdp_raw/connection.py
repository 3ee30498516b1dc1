"""The protocol side of a connection: numbering, deadlines, sessions, errors. It moves no bytes; a ``Wire`` does."""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Callable, Mapping
from itertools import count
from typing import Any, Final, NamedTuple, Protocol

from ues_core.contract import Code, DeadlineExceeded, DocumentGone, DriverError, Fault

MAX_MESSAGE_BYTES: Final = 256 * 2**20
"""The largest message taken from a browser. A full-page capture or heap of text is far below; beyond it something is wrong."""

CLOSE_SECONDS: Final = 2.0
"""How long a wire may take to say goodbye."""

_FAULTS_KEPT: Final = 50
_MESSAGE_CHARS: Final = 500

_SESSION_NOT_FOUND: Final = -32001
_PAGE_GONE_WORDS: Final = (
    "session with given id not found",
    "no session with given id",
    "no target with given id",
    "target closed",
    "not attached to an active page",
    "session is not attached",
)
_DOCUMENT_GONE_WORDS: Final = (
    "inspected target navigated or closed",
    "execution context was destroyed",
    "cannot find context with specified id",
    "uniquecontextid not found",
)


class Wire(Protocol):
    """What moves the bytes. It calls ``RawConnection.feed`` for each message and ``RawConnection.lost`` when it ends."""

    async def write(self, data: bytes) -> None:
        """Send one whole message; waits while the other side does not read."""
        ...

    async def close(self) -> None:
        """Release everything; idempotent."""
        ...


class _Pending(NamedTuple):
    method: str
    session: str
    answer: asyncio.Future[dict[str, Any]]


class _Session(NamedTuple):
    parent: str
    target: str


class RawConnection:
    """A ``ues_core.web.cdp.CdpConnection`` over any wire. Create it on the loop that will use it."""

    def __init__(self) -> None:
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._wire: Wire | None = None
        self._numbers = count(1)
        self._pending: dict[int, _Pending] = {}
        self._sessions: dict[str, _Session] = {}
        self._handlers: list[Callable[[str, str, dict[str, Any]], None]] = []
        self._faults: deque[str] = deque(maxlen=_FAULTS_KEPT)

    @property
    def faults(self) -> tuple[str, ...]:
        """What went wrong without ending the connection, latest last: handlers that raised, messages that made no sense."""
        return tuple(self._faults)

    @property
    def waiting(self) -> int:
        """How many commands have no answer yet."""
        return len(self._pending)

    def use(self, wire: Wire) -> None:
        """Give the connection its wire, once, before the first ``send``."""
        self._wire = wire

    def on_event(self, handler: Callable[[str, str, dict[str, Any]], None]) -> None:
        """Call ``handler(session, method, params)`` for every event, on the loop, in order of arrival."""
        self._handlers.append(handler)

    async def send(
        self, method: str, params: Mapping[str, Any] | None = None, *, session: str = "", deadline: float
    ) -> dict[str, Any]:
        """Send one command and return its result; see ``ues_core.web.cdp.CdpConnection.send``."""
        if self.closed.done() or self._wire is None:
            raise _connection_gone(method, self.closed.result() if self.closed.done() else "never opened")
        if deadline <= 0:
            raise _too_late(method, deadline)
        number = next(self._numbers)
        command: dict[str, Any] = {"id": number, "method": method, "params": dict(params or {})}
        if session:
            command["sessionId"] = session
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._pending[number] = _Pending(method, session, answer)
        try:
            async with asyncio.timeout(deadline):
                # ASCII only: a lone surrogate from a page survives as an escape, and no byte can be the pipe's separator.
                await self._wire.write(json.dumps(command, separators=(",", ":")).encode("ascii"))
                return await answer
        except TimeoutError:
            raise _too_late(method, deadline) from None
        except (OSError, RuntimeError) as error:
            raise _connection_gone(method, str(error) or type(error).__name__) from error
        finally:
            self._pending.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()  # marks it as seen when the write failed first

    async def close(self) -> None:
        """End the connection: pending commands fail, the wire is released. Idempotent, bounded."""
        self.lost("closed by the driver")
        wire = self._wire
        if wire is None:
            return
        try:
            async with asyncio.timeout(CLOSE_SECONDS):
                await wire.close()
        except Exception as error:  # noqa: BLE001 - closing never raises; what happened is recorded
            self._record(f"close: {error!r}")

    # -- called by the wire ------------------------------------------------------------------------------------------

    def feed(self, raw: bytes | str) -> None:
        """Take one message from the browser."""
        try:
            message = json.loads(raw)
        except (ValueError, RecursionError) as error:
            self._record(f"message of {len(raw)} bytes is not JSON: {error!r}")
            return
        if not isinstance(message, dict):
            self._record(f"message is a {type(message).__name__}, not an object")
        elif "id" in message:
            self._answered(message)
        elif "method" in message:
            self._happened(str(message.get("sessionId", "")), str(message["method"]), _object(message.get("params")))
        else:
            self._record(f"message is neither an answer nor an event: {sorted(message)[:8]}")

    def lost(self, reason: str) -> None:
        """The connection ended: every pending command fails at once. The first reason stays."""
        if self.closed.done():
            return
        self.closed.set_result(reason)
        self._sessions.clear()
        for pending in list(self._pending.values()):
            _fail(pending, _connection_gone(pending.method, reason))

    # -- inside ------------------------------------------------------------------------------------------------------

    def _answered(self, message: dict[str, Any]) -> None:
        number = message["id"]
        pending = self._pending.get(number) if isinstance(number, int) else None
        if pending is None or pending.answer.done():
            return  # its deadline passed or its caller was cancelled
        error = message.get("error")
        if isinstance(error, dict):
            _fail(pending, error_of(pending.method, error))
            return
        pending.answer.set_result(_object(message.get("result")))

    def _happened(self, session: str, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Target.attachedToTarget":
                target = _object(params.get("targetInfo")).get("targetId", "")
                self._sessions[str(params.get("sessionId", ""))] = _Session(session, str(target))
            case "Target.detachedFromTarget":
                self._end_session(str(params.get("sessionId", "")), _page_gone)
            case "Target.targetDestroyed":
                self._end_target(str(params.get("targetId", "")), _page_gone)
            case "Target.targetCrashed":
                self._fail_target(str(params.get("targetId", "")), _page_crashed)
            case "Inspector.targetCrashed":
                self._fail_session(session, _page_crashed)
        for handler in tuple(self._handlers):
            try:
                handler(session, method, params)
            except Exception as error:  # noqa: BLE001 - a handler's bug must not end the reader; it is recorded
                self._record(f"handler of {method}: {error!r}")

    def _end_session(self, session: str, why: Callable[[str], DriverError]) -> None:
        self._fail_session(session, why)
        self._sessions.pop(session, None)
        # Sessions of workers and frames below it die with it; their own detach events need not arrive.
        for child in [name for name, known in self._sessions.items() if known.parent == session]:
            self._end_session(child, why)

    def _end_target(self, target: str, why: Callable[[str], DriverError]) -> None:
        for session in self._sessions_of(target):
            self._end_session(session, why)

    def _fail_target(self, target: str, why: Callable[[str], DriverError]) -> None:
        for session in self._sessions_of(target):
            self._fail_session(session, why)

    def _fail_session(self, session: str, why: Callable[[str], DriverError]) -> None:
        if not session:
            return
        for pending in list(self._pending.values()):
            if pending.session == session:
                _fail(pending, why(pending.method))

    def _sessions_of(self, target: str) -> list[str]:
        return [name for name, known in self._sessions.items() if target and known.target == target]

    def _record(self, fault: str) -> None:
        self._faults.append(fault[:_MESSAGE_CHARS])


def error_of(method: str, error: Mapping[str, Any]) -> DriverError:
    """The protocol's error object as one of ours, with its code and message in the details."""
    message = str(error.get("message", ""))[:_MESSAGE_CHARS]
    details = {"method": method, "cdp_code": str(error.get("code", "")), "cdp_message": message}
    words = message.lower()
    if "target crashed" in words:
        return _page_crashed(method, details)
    if error.get("code") == _SESSION_NOT_FOUND or any(known in words for known in _PAGE_GONE_WORDS):
        return _page_gone(method, details)
    if any(known in words for known in _DOCUMENT_GONE_WORDS):
        return DocumentGone(
            f"The document went away while the browser worked on {method}.",
            next_step="Observe again.",
            details=details,
        )
    return DriverError(f"The browser refused {method}: {message}", details=details)


def _object(value: object) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def _fail(pending: _Pending, error: DriverError) -> None:
    if not pending.answer.done():
        pending.answer.set_exception(error)


def _page_gone(method: str, details: dict[str, str] | None = None) -> DriverError:
    return DriverError(
        f"The page that {method} was meant for is gone.",
        code=Code.PAGE_UNKNOWN,
        fault=Fault.PAGE,
        next_step="List the pages of the session and choose one that is open.",
        details=details or {"method": method},
    )


def _page_crashed(method: str, details: dict[str, str] | None = None) -> DriverError:
    return DriverError(
        f"The page crashed while the browser worked on {method}.",
        code=Code.PAGE_CRASHED,
        fault=Fault.PAGE,
        next_step="Reload the page or navigate away from it.",
        details=details or {"method": method},
    )


def _connection_gone(method: str, reason: str) -> DriverError:
    return DriverError(
        f"The connection to the browser ended ({reason[:_MESSAGE_CHARS]}); {method} has no answer.",
        code=Code.SESSION_CLOSED,
        next_step="Open a new session.",
        details={"method": method, "reason": reason[:_MESSAGE_CHARS]},
    )


def _too_late(method: str, deadline: float) -> DeadlineExceeded:
    return DeadlineExceeded(
        f"The browser did not answer {method} within {deadline:.3g} s.",
        next_step="Try again with a longer deadline, or reload the page.",
        details={"method": method, "deadline_seconds": f"{deadline:.3g}"},
    )
