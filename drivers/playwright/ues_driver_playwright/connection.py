"""A protocol connection through Playwright: its browser session for the browser, nested sessions for pages.

Playwright gives one session per browser and keeps flat child sessions to itself, so pages are reached through sessions nested
in the browser's (``Target.sendMessageToTarget``). What is shown above is flat all the same.
"""

from __future__ import annotations

import asyncio
import json
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import TYPE_CHECKING, Any, Final

from ues_core.contract import Code, DeadlineExceeded, DocumentGone, DriverError, Fault
from ues_core.web.cdp.connection import EventHandler

if TYPE_CHECKING:
    from playwright.async_api import CDPSession

_ATTACH_SECONDS: Final = 5.0
_FAULTS_KEPT: Final = 50
_DOCUMENT_GONE: Final = (
    "inspected target navigated or closed",
    "execution context was destroyed",
    "cannot find context with specified id",
    "uniquecontextid not found",
)
_BROWSER_GONE: Final = "browser has been closed"
_PAGE_GONE: Final = (
    "session with given id not found",
    "no session with given id",
    "no target with given id",
    "target closed",
    "not attached to an active page",
    "session closed",
)


@dataclass(slots=True)
class _Pending:
    method: str
    session: str
    answer: asyncio.Future[dict[str, Any]]


@dataclass(slots=True)
class _Nested:
    """A nested session: the session it is nested in (empty: the browser's), and its target."""

    parent: str
    target: str


class PlaywrightConnection:
    """A ``ues_core.web.cdp.CdpConnection`` over Playwright's browser session."""

    def __init__(self, root: CDPSession) -> None:
        self.closed: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        self._root = root
        self._handlers: list[EventHandler] = []
        self._faults: deque[str] = deque(maxlen=_FAULTS_KEPT)
        self._numbers = count(1)
        self._pending: dict[int, _Pending] = {}
        self._nested: dict[str, _Nested] = {}
        self._targets: set[str] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._posts: set[asyncio.Future[Any]] = set()
        root.on("event", self._happened)
        root.on("close", lambda _: self.lost("the browser closed"))

    @property
    def faults(self) -> tuple[str, ...]:
        """What went wrong without ending the connection, latest last."""
        return tuple(self._faults)

    def on_event(self, handler: EventHandler) -> None:
        """Call ``handler(session, method, params)`` for every event, in order of arrival."""
        self._handlers.append(handler)

    async def send(
        self, method: str, params: Mapping[str, Any] | None = None, *, session: str = "", deadline: float
    ) -> dict[str, Any]:
        """Send one command and return its result; see ``CdpConnection.send``."""
        if self.closed.done():
            raise _connection_gone(method, self.closed.result())
        try:
            async with asyncio.timeout(deadline):
                if method == "Target.setAutoAttach" and not session:
                    # Playwright holds new pages for itself and lets them go; ours are found, and attached to, as they appear.
                    return await self._to_browser("Target.setDiscoverTargets", {"discover": True, "filter": [{"type": "page"}]})
                if not session:
                    return await self._to_browser(method, dict(params or {}))
                return await self._to_page(method, dict(params or {}), session)
        except TimeoutError:
            raise DeadlineExceeded(
                f"The browser did not answer {method} within {deadline:.3g} s.",
                next_step="Try again with a longer deadline, or reload the page.",
                details={"method": method, "deadline_seconds": f"{deadline:.3g}"},
            ) from None

    async def close(self) -> None:
        """Forget everything; the browser itself is closed by whoever started it."""
        self.lost("closed by the driver")
        ending = [*self._tasks, *self._posts]
        for task in ending:
            task.cancel()
        await asyncio.gather(*ending, return_exceptions=True)

    def lost(self, reason: str) -> None:
        """The connection ended: everything that waits for an answer fails at once."""
        if self.closed.done():
            return
        self.closed.set_result(reason)
        for pending in list(self._pending.values()):
            _fail(pending, _connection_gone(pending.method, reason))

    # -- sending -----------------------------------------------------------------------------------------------------

    async def _to_browser(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        from playwright.async_api import Error

        command = asyncio.ensure_future(self._root.send(method, params))
        try:
            await asyncio.wait((command, self.closed), return_when=asyncio.FIRST_COMPLETED)
            if not command.done():
                raise _connection_gone(method, self.closed.result())
            answer = command.result()
        except Error as error:
            raise _error_of(method, str(error)) from error
        finally:
            if not command.done():
                command.cancel()
        return answer if isinstance(answer, dict) else {}

    async def _to_page(self, method: str, params: dict[str, Any], session: str) -> dict[str, Any]:
        nested = self._nested.get(session)
        if nested is None:
            raise _error_of(method, "no session with given id")
        if method == "Target.setAutoAttach":
            params["flatten"] = False
        number = next(self._numbers)
        answer: asyncio.Future[dict[str, Any]] = asyncio.get_running_loop().create_future()
        self._pending[number] = _Pending(method, session, answer)
        try:
            message = json.dumps({"id": number, "method": method, "params": params}, separators=(",", ":"))
            self._post(session, nested.parent, message, number)
            return await answer
        finally:
            self._pending.pop(number, None)
            if answer.done() and not answer.cancelled():
                answer.exception()

    def _post(self, session: str, parent: str, message: str, number: int) -> None:
        """Hand a message down through the sessions it is nested in; a failure fails the command it carries."""
        method, params = "Target.sendMessageToTarget", {"sessionId": session, "message": message}
        while parent:
            outer = self._nested.get(parent)
            if outer is None:
                self._fail_number(number, _error_of(method, "no session with given id"))
                return
            message = json.dumps({"id": next(self._numbers), "method": method, "params": params}, separators=(",", ":"))
            params, parent = {"sessionId": parent, "message": message}, outer.parent

        # Playwright writes when this task first runs, so messages leave in the order in which they were handed over.
        posting = asyncio.ensure_future(self._root.send(method, params))
        self._posts.add(posting)
        posting.add_done_callback(lambda done: self._posted(done, number))

    def _posted(self, posting: asyncio.Future[Any], number: int) -> None:
        self._posts.discard(posting)
        if posting.cancelled():
            return
        error = posting.exception()
        if error is not None:
            self._fail_number(number, _error_of("Target.sendMessageToTarget", str(error)))

    def _fail_number(self, number: int, error: DriverError) -> None:
        pending = self._pending.get(number)
        if pending is not None:
            _fail(pending, error)

    def _spawn(self, work: Any) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    # -- events ------------------------------------------------------------------------------------------------------

    def _happened(self, event: dict[str, Any]) -> None:
        method, params = str(event.get("method", "")), event.get("params") or {}
        match method:
            case "Target.targetCreated":
                self._created(params["targetInfo"])
            case "Target.attachedToTarget":
                pass  # our own nested sessions: told of when they answer
            case "Target.receivedMessageFromTarget":
                self._received(params)
            case "Target.detachedFromTarget":
                self._detached("", params)
            case _:
                self._tell("", method, params)

    def _created(self, info: dict[str, Any]) -> None:
        """A page that the browser tells of for the first time: nest a session in it, then tell of it."""
        if info["type"] == "page" and info["targetId"] not in self._targets:
            self._targets.add(info["targetId"])
            self._spawn(self._nest(info))

    async def _nest(self, info: dict[str, Any]) -> None:
        target = info["targetId"]
        try:
            async with asyncio.timeout(_ATTACH_SECONDS):
                answer = await self._to_browser("Target.attachToTarget", {"targetId": target, "flatten": False})
        except (DriverError, TimeoutError) as error:
            self._targets.discard(target)
            self._faults.append(f"attach: {error!r}"[:500])
            return
        session = str(answer["sessionId"])
        self._nested[session] = _Nested("", target)
        told = {"sessionId": session, "targetInfo": info, "waitingForDebugger": False}
        self._tell("", "Target.attachedToTarget", told)

    def _received(self, params: dict[str, Any]) -> None:
        session = str(params.get("sessionId", ""))
        if session not in self._nested:
            return
        try:
            message = json.loads(params["message"])
        except (ValueError, KeyError, RecursionError) as error:
            self._faults.append(f"message: {error!r}"[:500])
            return
        if "id" in message:
            self._answered(message)
            return
        method, inner = str(message.get("method", "")), message.get("params") or {}
        match method:
            case "Target.receivedMessageFromTarget":
                self._received(inner)
                return
            case "Target.attachedToTarget":
                self._nested[inner["sessionId"]] = _Nested(session, inner["targetInfo"]["targetId"])
            case "Target.detachedFromTarget":
                self._detached(session, inner)
                return
            case "Inspector.targetCrashed":
                self._fail_session(session, "target crashed")
        self._tell(session, method, inner)

    def _answered(self, message: dict[str, Any]) -> None:
        pending = self._pending.get(message["id"])
        if pending is None or pending.answer.done():
            return
        error = message.get("error")
        if isinstance(error, dict):
            _fail(pending, _error_of(pending.method, str(error.get("message", "")), str(error.get("code", ""))))
        else:
            result = message.get("result")
            pending.answer.set_result(result if isinstance(result, dict) else {})

    def _detached(self, parent: str, params: dict[str, Any]) -> None:
        session = str(params.get("sessionId", ""))
        nested = self._nested.pop(session, None)
        if nested is None:
            return
        self._targets.discard(nested.target)
        self._fail_session(session, "target closed")
        for child in [name for name, known in self._nested.items() if known.parent == session]:
            self._nested.pop(child, None)
            self._fail_session(child, "target closed")
        self._tell(parent, "Target.detachedFromTarget", params)

    def _fail_session(self, session: str, words: str) -> None:
        for pending in list(self._pending.values()):
            if pending.session == session:
                _fail(pending, _error_of(pending.method, words))

    def _tell(self, session: str, method: str, params: dict[str, Any]) -> None:
        for handler in tuple(self._handlers):
            try:
                handler(session, method, params)
            except Exception as error:  # noqa: BLE001 - a handler's bug must not end the reader; it is recorded
                self._faults.append(f"handler of {method}: {error!r}"[:500])


def _fail(pending: _Pending, error: DriverError) -> None:
    if not pending.answer.done():
        pending.answer.set_exception(error)


def _error_of(method: str, message: str, number: str = "") -> DriverError:
    words = message.lower()
    details = {"method": method, "cdp_code": number, "cdp_message": message[:500]}
    if _BROWSER_GONE in words:  # with Playwright's own log of the browser behind it, which is nobody's business
        return _connection_gone(method, "the browser closed")
    if "target crashed" in words:
        return DriverError(
            f"The page crashed while the browser worked on {method}.",
            code=Code.PAGE_CRASHED,
            fault=Fault.PAGE,
            next_step="Reload the page or navigate away from it.",
            details=details,
        )
    if any(known in words for known in _PAGE_GONE):
        return DriverError(
            f"The page that {method} was meant for is gone.",
            code=Code.PAGE_UNKNOWN,
            fault=Fault.PAGE,
            next_step="List the pages of the session and choose one that is open.",
            details=details,
        )
    if any(known in words for known in _DOCUMENT_GONE):
        return DocumentGone(
            f"The document went away while the browser worked on {method}.", next_step="Observe again.", details=details
        )
    return DriverError(f"The browser refused {method}: {message[:500]}", details=details)


def _connection_gone(method: str, reason: str) -> DriverError:
    return DriverError(
        f"The connection to the browser ended ({reason[:500]}); {method} has no answer.",
        code=Code.SESSION_CLOSED,
        next_step="Open a new session.",
        details={"method": method, "reason": reason[:500]},
    )
