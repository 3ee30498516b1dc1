"""The twelve primitives over a Chrome DevTools Protocol connection, whoever brings the connection."""

from __future__ import annotations

import asyncio
import contextlib
import json
from collections.abc import Awaitable, Callable, Mapping
from itertools import count
from typing import Any, Final

from ues_core.contract import (
    Attach,
    Code,
    DeadlineExceeded,
    DocumentGone,
    DriverError,
    EventKind,
    Events,
    Fault,
    OpenSpec,
    RequestKind,
    WaitUntil,
)
from ues_core.web.cdp.connection import CdpConnection
from ues_core.web.cdp.gate import Gatekeeper
from ues_core.web.cdp.listen import Listener
from ues_core.web.cdp.navigation import Navigator
from ues_core.web.cdp.pages import Dialog, Frame, Page, attached_document, page_unknown
from ues_core.web.collector import BINDING, WORLD, bundle
from ues_core.web.deadline import Clock
from ues_core.web.events import EventRing
from ues_core.web.transport import FrameView, KeyEvent, PointerEvent, Went

SETUP_SECONDS: Final = 10.0
"""Within this time a page of a healthy browser has answered its set-up commands."""
RESCUE_SECONDS: Final = 1.0
"""How long stopping a script that loops may take."""

FRAME_SECONDS: Final = 2.0
"""How long an observation waits for the process of a frame that has just come up."""

_FRAMES: Final = {
    "autoAttach": True,
    "waitForDebuggerOnStart": True,
    "flatten": True,
    "filter": [{"type": "iframe"}],
}
_ABSENT: Final = "!"
_TICKS: Final = 3
"""Turns of the loop after which commands that were handed over have left."""
_PROMISES: Final = frozenset({"watchFor"})
_IN_DIALOG: Final = frozenset({"Page.handleJavaScriptDialog", "Fetch.continueRequest", "Fetch.failRequest", "Page.close"})


class CdpTransport:
    """A ``WebTransport`` over one connection. Make it with ``open``."""

    def __init__(self, connection: CdpConnection, spec: OpenSpec, release: Callable[[], Awaitable[None]]) -> None:
        self.spec = spec
        self.events = EventRing()
        self.gatekeeper = Gatekeeper(self)
        self.pages_by_id: dict[str, Page] = {}
        self.context = ""
        """The browser context that is ours; empty when the whole browser is."""
        self.connection = connection
        self._release = release
        self._numbers = count(1)
        self._dialogs = count(1)
        self._tasks: set[asyncio.Task[None]] = set()
        self._closing: asyncio.Task[None] | None = None
        self._first: asyncio.Future[Page] = asyncio.get_running_loop().create_future()
        self._listener = Listener(self)
        self._navigator = Navigator(self)

    async def open(self, *, deadline: float) -> str:
        """Take over the browser's pages, or make one of our own in a browser that is not ours. Returns the first page's id."""
        clock = Clock(deadline)
        self.connection.on_event(self._listener.happened)
        attach = isinstance(self.spec.target, Attach)
        if attach:
            made = await self.connection.send("Target.createBrowserContext", {"disposeOnDetach": True}, deadline=clock.left())
            self.context = made["browserContextId"]
        await self.gatekeeper.stand(clock)
        await self.connection.send(
            "Target.setAutoAttach",
            {"autoAttach": True, "waitForDebuggerOnStart": True, "flatten": True, "filter": [{"type": "page"}]},
            deadline=clock.left(),
        )
        await self._downloads(clock)
        if attach:
            await self.connection.send(
                "Target.createTarget", {"url": "about:blank", "browserContextId": self.context}, deadline=clock.left()
            )
        try:
            async with asyncio.timeout(clock.left()):
                page = await asyncio.shield(self._first)
                await asyncio.shield(page.ready)
        except TimeoutError:
            raise DeadlineExceeded(
                "The browser showed no page in time.", next_step="Try again, or check the browser."
            ) from None
        return page.id

    async def _downloads(self, clock: Clock) -> None:
        params: dict[str, Any] = {"behavior": "deny", "eventsEnabled": True}
        if self.spec.quarantine is not None:
            params = {"behavior": "allowAndName", "downloadPath": self.spec.quarantine, "eventsEnabled": True}
        if self.context:
            params["browserContextId"] = self.context
        await self.connection.send("Browser.setDownloadBehavior", params, deadline=clock.left())

    # -- pages -------------------------------------------------------------------------------------------------------

    def pages(self) -> tuple[str, ...]:
        return tuple(page.id for page in self.pages_by_id.values() if not page.closed)

    def page(self, page_id: str) -> Page:
        """An open page, or ``page-unknown``."""
        found = self.pages_by_id.get(page_id)
        if found is None or found.closed:
            if self.connection.closed.done():
                raise DriverError(
                    f"The browser is gone: {self.connection.closed.result()}",
                    code=Code.SESSION_CLOSED,
                    next_step="Open a new session.",
                )
            raise page_unknown(page_id)
        return found

    def adopt(self, target: str, session: str) -> Page:
        """A new page of ours: set it up and let it go."""
        page = Page(f"p{next(self._numbers)}", target, session, opened=bool(self.pages_by_id))
        self.pages_by_id[page.id] = page
        if not self._first.done():
            self._first.set_result(page)
        self.spawn(self._set_up(page))
        return page

    async def _set_up(self, page: Page) -> None:
        view = self.spec.viewport
        # All is sent without waiting for answers, because a page that is held at its start may answer only after it was let go.
        # Its first document waits at the gate until then, so the collector is there before any script of the page.
        try:
            commands: list[tuple[str, dict[str, Any]]] = [
                ("Page.enable", {}),
                ("Page.setLifecycleEventsEnabled", {"enabled": True}),
                ("Page.addScriptToEvaluateOnNewDocument", {"source": bundle(), "worldName": WORLD}),
                ("Runtime.enable", {}),
                ("Runtime.addBinding", {"name": BINDING, "executionContextName": WORLD}),
                ("Inspector.enable", {}),
                ("Network.enable", {"maxTotalBufferSize": 1 << 20, "maxResourceBufferSize": 1 << 18}),
                ("Network.setBypassServiceWorker", {"bypass": True}),
                ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
                (
                    "Emulation.setDeviceMetricsOverride",
                    {"width": view.width, "height": view.height, "deviceScaleFactor": view.scale, "mobile": False},
                ),
                *self._optional(),
                ("Target.setAutoAttach", _FRAMES),
                ("Page.getFrameTree", {}),
            ]
            pending = [
                asyncio.ensure_future(self.send(page, method, params, deadline=SETUP_SECONDS)) for method, params in commands
            ]
            for _ in range(_TICKS):
                await asyncio.sleep(0)
            page.sent.set()
            try:
                await self.send(page, "Runtime.runIfWaitingForDebugger", {}, deadline=SETUP_SECONDS)
                answers = await asyncio.gather(*pending)
            finally:
                for command in pending:
                    command.cancel()
                await asyncio.gather(*pending, return_exceptions=True)
            page.tree(answers[-1]["frameTree"])
        except DriverError as error:
            if not page.ready.done():
                page.ready.set_exception(error)
                page.ready.exception()
            return
        if not page.ready.done():
            page.ready.set_result(None)
        page.notify()

    def adopt_frame(self, page: Page, session: str) -> None:
        """A frame of a page got a process of its own: set that up as the page was, and let it go."""
        self.spawn(self._set_up_frame(page, session))

    async def _set_up_frame(self, page: Page, session: str) -> None:
        commands: list[tuple[str, dict[str, Any]]] = [
            ("Page.enable", {}),
            ("Page.addScriptToEvaluateOnNewDocument", {"source": bundle(), "worldName": WORLD}),
            ("Runtime.enable", {}),
            ("Runtime.addBinding", {"name": BINDING, "executionContextName": WORLD}),
            ("Inspector.enable", {}),
            ("Network.enable", {"maxTotalBufferSize": 1 << 20, "maxResourceBufferSize": 1 << 18}),
            ("Network.setBypassServiceWorker", {"bypass": True}),
            ("Emulation.setFocusEmulationEnabled", {"enabled": True}),
            *self._optional(),
            ("Target.setAutoAttach", _FRAMES),
            ("Page.getFrameTree", {}),
            ("Runtime.runIfWaitingForDebugger", {}),
        ]
        send = self.connection.send
        answers = await asyncio.gather(
            *(send(method, params, session=session, deadline=SETUP_SECONDS) for method, params in commands),
            return_exceptions=True,
        )
        known, tree = page.inner.get(session), answers[-2]
        if known is None:
            return
        frame = page.frames.get(known[0])
        # An event may have told of a later document meanwhile, and of the frames in it.
        if isinstance(tree, dict) and frame is not None and frame.document == attached_document(session):
            page.tree(tree["frameTree"], session)
        if not known[1].done():
            known[1].set_result(None)
        page.notify()

    def world(self, page: str, frame: str) -> tuple[str, int]:
        known = self.page(page).frame(frame)
        return known.context, known.context_number

    async def frames_ready(self, page: str, *, deadline: float) -> None:
        waiting = [ready for _, ready in self.page(page).inner.values() if not ready.done()]
        if waiting:
            await asyncio.wait(waiting, timeout=min(deadline / 2, FRAME_SECONDS))

    def _optional(self) -> list[tuple[str, dict[str, Any]]]:
        extra: list[tuple[str, dict[str, Any]]] = []
        if self.spec.locale is not None:
            extra.append(("Emulation.setLocaleOverride", {"locale": self.spec.locale}))
        return extra

    async def close_page(self, page: str, *, deadline: float) -> None:
        known = self.page(page)
        clock = Clock(deadline)
        await self.connection.send("Target.closeTarget", {"targetId": known.target}, deadline=clock.left())
        await self.until(known, lambda: known.closed, clock)

    def gone(self, page: Page) -> None:
        """A page was closed, by whoever."""
        if page.closed:
            return
        page.closed = True
        page.unhold()
        if not page.ready.done():
            page.ready.set_exception(page_unknown(page.id))
            page.ready.exception()
        self.events.add(EventKind.PAGE_CLOSED, page.id)

    # -- commands ----------------------------------------------------------------------------------------------------

    async def send(
        self, page: Page, method: str, params: Mapping[str, Any], *, deadline: float, session: str = ""
    ) -> dict[str, Any]:
        """One command to a page, or to the session of one of its frames.

        It ends at once, with ``dialog-open``, when a held dialog comes up meanwhile; a frame whose process is gone is a
        ``DocumentGone``.
        """
        inner = session if session != page.session else ""
        try:
            return await self._send(page, method, params, session or page.session, deadline)
        except DriverError as error:
            if inner and error.code in (Code.PAGE_UNKNOWN, Code.PAGE_CRASHED):
                raise DocumentGone("The frame that this call meant is gone.", next_step="Observe again.") from error
            raise

    async def _send(self, page: Page, method: str, params: Mapping[str, Any], session: str, deadline: float) -> dict[str, Any]:
        if page.dialog is not None and method not in _IN_DIALOG:
            page.require_usable()
        command = asyncio.ensure_future(self.connection.send(method, params, session=session, deadline=deadline))
        try:
            if method not in _IN_DIALOG:
                await asyncio.wait((command, page.interrupt), return_when=asyncio.FIRST_COMPLETED)
                if not command.done():
                    page.require_usable()
            return await command
        finally:
            if not command.done():
                command.cancel()

    def spawn(self, work: Any) -> None:
        """Run something in the background that this transport owns."""
        task = asyncio.get_running_loop().create_task(self._quietly(work))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _quietly(self, work: Awaitable[object]) -> None:
        with contextlib.suppress(DriverError):
            await work

    async def until(self, page: Page, holds: Callable[[], bool], clock: Clock) -> None:
        """Wait until something is true of a page. Raises ``DeadlineExceeded``."""
        try:
            async with asyncio.timeout(clock.left()):
                while not holds():
                    await page.changed()
        except TimeoutError:
            raise DeadlineExceeded(
                f"Page {page.id} was not ready in time.", next_step="Try again with a longer deadline, or reload the page."
            ) from None

    async def titles(self, *, deadline: float) -> dict[str, str]:
        answer = await self.connection.send("Target.getTargets", {"filter": [{"type": "page"}]}, deadline=deadline)
        known = {target["targetId"]: str(target.get("title", "")) for target in answer["targetInfos"]}
        return {page.id: known.get(page.target, "") for page in self.pages_by_id.values() if not page.closed}

    async def cdp(
        self, page: str, method: str, params: Mapping[str, Any], *, deadline: float, frame: str = ""
    ) -> dict[str, Any]:
        known = self.page(page)
        known.require_usable()
        session = known.frame(frame).session if frame else ""
        return await self.send(known, method, params, deadline=deadline, session=session)

    # -- the isolated world ------------------------------------------------------------------------------------------

    def frames(self, page: str) -> tuple[FrameView, ...]:
        known = self.page(page)
        views: list[FrameView] = []
        for frame in known.frames.values():
            main = frame.id == known.main
            view = FrameView(
                "" if main else frame.id,
                "" if frame.parent == known.main else frame.parent,
                frame.document,
                frame.url,
                frame.reopened,
            )
            views.insert(0, view) if main else views.append(view)
        return tuple(views)

    async def evaluate(
        self, page: str, frame: str, function: str, argument: Mapping[str, Any], *, deadline: float, document: str = ""
    ) -> str:
        known = self.page(page)
        clock = Clock(deadline)
        known.require_usable()
        target = known.frame(frame, document)
        given = json.dumps(argument, separators=(",", ":"))
        call = f'Object.hasOwn(globalThis,"__ues")?__ues.{function}({given}):"{_ABSENT}"'
        if not target.context:
            await self._make_world(known, target, clock)
        value = await self._run(known, target, call, clock, function in _PROMISES)
        if value == _ABSENT:
            early = await self._run(known, target, f"{bundle()}\n__ues.early()", clock)
            target.reopened = early != "true"
            value = await self._run(known, target, call, clock, function in _PROMISES)
        return value

    async def ready(self, page: str, *, deadline: float) -> None:
        known = self.page(page)
        if known.ready.done():
            return
        try:
            async with asyncio.timeout(deadline):
                await asyncio.shield(known.ready)
        except TimeoutError:
            raise DeadlineExceeded(f"Page {page} was not ready in time.", next_step="Try again.") from None

    async def _make_world(self, page: Page, frame: Frame, clock: Clock) -> None:
        document = frame.document
        params = {"frameId": frame.id, "worldName": WORLD}
        await self.send(page, "Page.createIsolatedWorld", params, deadline=clock.left(), session=frame.session)
        if not frame.context:  # it was there already, and its event was missed: have all contexts told of again
            for method in ("Runtime.disable", "Runtime.enable"):
                await self.send(page, method, {}, deadline=clock.left(), session=frame.session)
        if frame.document != document or not frame.context:
            raise DocumentGone("The document was replaced while it was looked at.", next_step="Observe again.")

    async def _run(self, page: Page, frame: Frame, expression: str, clock: Clock, promise: bool = False) -> str:
        context = frame.context
        params = {"expression": expression, "uniqueContextId": context, "returnByValue": True}
        if promise:  # waiting for a promise costs the plain answers as well
            params["awaitPromise"] = True
        try:
            answer = await self.send(page, "Runtime.evaluate", params, deadline=clock.left(), session=frame.session)
        except DeadlineExceeded:
            self.spawn(self._stop_script(frame.session or page.session))
            raise
        except DocumentGone:
            if frame.context == context:  # else the next document's world was told of meanwhile
                frame.context = ""
            raise
        failure = answer.get("exceptionDetails")
        if failure is not None:
            text = failure.get("exception", {}).get("description") or failure.get("text", "")
            raise DriverError(f"The page-side collector failed: {str(text)[:500]}", code=Code.DRIVER_FAILED, fault=Fault.PAGE)
        return str(answer["result"].get("value", ""))

    async def _stop_script(self, session: str) -> None:
        await self.connection.send("Runtime.terminateExecution", session=session, deadline=RESCUE_SECONDS)

    async def frame_owner(self, page: str, frame: str, *, deadline: float) -> int:
        known = self.page(page)
        clock = Clock(deadline)
        child = known.frame(frame)
        parent = known.frame(child.parent)
        if child.owner[0] == parent.document:
            return child.owner[1]
        asked = {"frameId": child.id}
        owner = await self.send(known, "DOM.getFrameOwner", asked, deadline=clock.left(), session=parent.session)
        n = await self._number(known, parent, int(owner["backendNodeId"]), clock)
        child.owner = (parent.document, n)
        return n

    async def _number(self, page: Page, frame: Frame, backend: int, clock: Clock) -> int:
        node = {"backendNodeId": backend, "executionContextId": frame.context_number, "objectGroup": "ues"}
        session = frame.session
        found = await self.send(page, "DOM.resolveNode", node, deadline=clock.left(), session=session)
        call = {
            "functionDeclaration": "function(){return __ues.keyOf(this)}",
            "objectId": found["object"]["objectId"],
            "returnByValue": True,
        }
        answer = await self.send(page, "Runtime.callFunctionOn", call, deadline=clock.left(), session=session)
        await self.send(page, "Runtime.releaseObjectGroup", {"objectGroup": "ues"}, deadline=clock.left(), session=session)
        return int(answer["result"]["value"])

    # -- input -------------------------------------------------------------------------------------------------------

    async def mouse(
        self,
        page: str,
        event: PointerEvent,
        x: float,
        y: float,
        *,
        button: str = "none",
        buttons: int = 0,
        count: int = 0,
        modifiers: int = 0,
        deadline: float,
    ) -> None:
        params = {
            "type": event,
            "x": x,
            "y": y,
            "button": button,
            "buttons": buttons,
            "clickCount": count,
            "modifiers": modifiers,
            "pointerType": "mouse",
        }
        await self.cdp(page, "Input.dispatchMouseEvent", params, deadline=deadline)

    async def key(self, page: str, event: KeyEvent, fields: Mapping[str, Any], *, deadline: float) -> None:
        await self.cdp(page, "Input.dispatchKeyEvent", {"type": event, **fields}, deadline=deadline)

    async def insert_text(self, page: str, text: str, *, deadline: float) -> None:
        await self.cdp(page, "Input.insertText", {"text": text}, deadline=deadline)

    async def object_of(self, page: str, frame: str, n: int, *, deadline: float) -> str:
        known = self.page(page)
        params = {
            "expression": f"__ues.node({n})",
            "uniqueContextId": known.frame(frame).context,
            "objectGroup": "ues",
        }
        found = await self.send(known, "Runtime.evaluate", params, deadline=deadline, session=known.frame(frame).session)
        return str(found["result"].get("objectId", ""))

    def landed(self, page: str) -> tuple[str, str]:
        found = self.pages_by_id.get(page)
        return found.landing if found is not None else ("", "")

    def expect_landing(self, page: str) -> None:
        self.page(page).landing = ("", "")

    # -- going -------------------------------------------------------------------------------------------------------

    async def navigate(self, page: str, url: str, *, wait_until: WaitUntil, deadline: float) -> Went:
        return await self._navigator.navigate(self.page(page), url, wait_until, Clock(deadline))

    async def history(self, page: str, delta: int, *, deadline: float) -> Went:
        return await self._navigator.history(self.page(page), delta, Clock(deadline))

    async def reload(self, page: str, *, deadline: float) -> Went:
        return await self._navigator.reload(self.page(page), Clock(deadline))

    def may_go(self, page: Page, url: str, kind: RequestKind) -> str:
        """Empty when the gate lets a navigation start, else the reason."""
        reasons: list[str] = []
        self.gatekeeper.asked(page, url, kind, reasons.append)
        return reasons[0] if reasons else ""

    # -- dialogs -----------------------------------------------------------------------------------------------------

    def hold(self, page: Page, kind: str) -> str:
        """Keep a dialog open until it is answered; its id."""
        dialog = Dialog(f"d{next(self._dialogs)}", kind)
        page.hold(dialog)
        return dialog.id

    def dialog(self, page: str) -> str:
        found = self.page(page).dialog
        return found.id if found is not None else ""

    async def answer_dialog(self, dialog: str, accept: bool, text: str, *, deadline: float) -> None:
        clock = Clock(deadline)
        for page in self.pages_by_id.values():
            if page.dialog is not None and page.dialog.id == dialog:
                answer: dict[str, Any] = {"accept": accept}
                if accept and page.dialog.kind == "prompt":
                    answer["promptText"] = text
                await self.send(page, "Page.handleJavaScriptDialog", answer, deadline=clock.left())
                await self.until(page, lambda held=page: held.dialog is None or held.closed, clock)  # type: ignore[misc]
                return
        raise DriverError(
            f"There is no open dialog {dialog[:64]!r}.",
            code=Code.DIALOG_UNKNOWN,
            fault=Fault.HOST,
            next_step="Look at the session's events for the dialog that is open.",
        )

    # -- ending ------------------------------------------------------------------------------------------------------

    def drain(self) -> Events:
        return self.events.drain()

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self.context:
            with contextlib.suppress(DriverError):
                await self.connection.send(
                    "Target.disposeBrowserContext", {"browserContextId": self.context}, deadline=self.spec.timeouts.close / 2
                )
        try:
            await self._release()
        except Exception as error:  # noqa: BLE001 - closing never raises; what happened stays among the events
            self.events.add(EventKind.PAGE_ERROR, level="close", text=repr(error))
        for page in self.pages_by_id.values():
            page.closed = True
            page.unhold()
