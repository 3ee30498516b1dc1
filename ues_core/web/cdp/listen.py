"""Protocol events in, state and the kit's events out."""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ues_core.contract import DialogKind, DialogPolicy, EventKind
from ues_core.web.cdp.pages import Page
from ues_core.web.collector import BINDING

if TYPE_CHECKING:
    from ues_core.web.cdp.transport import CdpTransport

_ANSWER_SECONDS: Final = 5.0
_REQUESTS_KEPT: Final = 512
_SHOWN_TYPES: Final = frozenset({"Document", "XHR", "Fetch"})
_TOLD_OF_FRAMES: Final = ("Page.frame", "Page.navigatedWithinDocument", "Page.documentOpened", "Runtime.executionContext")
_CHUNK: Final = 1 << 20


class Listener:
    """The one handler of a connection's events."""

    def __init__(self, transport: CdpTransport) -> None:
        self._transport = transport
        self._sessions: dict[str, Page] = {}
        self._inner: dict[str, Page] = {}
        """Sessions of frames that have a process of their own."""
        self._requests: OrderedDict[str, tuple[str, str, str]] = OrderedDict()
        self._downloads: OrderedDict[str, str] = OrderedDict()
        self._handlers: dict[str, Callable[[Page, dict[str, Any]], None]] = {
            "Inspector.targetCrashed": self._crashed,
            "Page.javascriptDialogOpening": self._dialog_opening,
            "Page.javascriptDialogClosed": self._dialog_closed,
            "Runtime.consoleAPICalled": self._console,
            "Runtime.exceptionThrown": self._exception,
            "Runtime.bindingCalled": self._binding,
            "Network.requestWillBeSent": self._request,
            "Network.responseReceived": self._response,
            "Network.loadingFailed": self._failed,
            "Page.frameNavigated": self._navigated,
        }

    def happened(self, session: str, method: str, params: dict[str, Any]) -> None:
        """Take one event."""
        if session == "":
            self._browser(method, params)
            return
        page = self._sessions.get(session)
        if page is None:
            self._of_frame(session, method, params)
            return
        if method.startswith(("Page.", "Runtime.executionContext")):
            page.frame_event(method, params)
        elif method.startswith("Target."):
            self._frame_target(page, page.main, method, params)
        handler = self._handlers.get(method)
        if handler is not None:
            handler(page, params)

    # -- frames in processes of their own ----------------------------------------------------------------------------

    def _of_frame(self, session: str, method: str, params: dict[str, Any]) -> None:
        page = self._inner.get(session)
        if page is None:
            return
        if method.startswith(_TOLD_OF_FRAMES):
            page.frame_event(method, params, session)
        elif method.startswith("Target."):
            self._frame_target(page, page.inner.get(session, ("",))[0], method, params)
        elif method == "Inspector.targetCrashed":
            self._left(session)
        elif method.startswith(("Runtime.", "Network.")):
            handler = self._handlers.get(method)
            if handler is not None:
                handler(page, params)

    def _frame_target(self, page: Page, parent: str, method: str, params: dict[str, Any]) -> None:
        if method == "Target.attachedToTarget":
            session, info = params["sessionId"], params["targetInfo"]
            self._inner[session] = page
            page.enter(info["targetId"], info.get("parentFrameId", "") or parent, session)
            self._transport.adopt_frame(page, session)
        elif method == "Target.detachedFromTarget":
            self._left(params["sessionId"])

    def _left(self, session: str) -> None:
        page = self._inner.pop(session, None)
        if page is not None:
            page.leave(session)

    # -- the browser -------------------------------------------------------------------------------------------------

    def _browser(self, method: str, params: dict[str, Any]) -> None:
        match method:
            case "Fetch.requestPaused":
                self._transport.spawn(self._transport.gatekeeper.answer(params))
            case "Target.attachedToTarget":
                self._attached(params)
            case "Target.detachedFromTarget":
                page = self._sessions.pop(params["sessionId"], None)
                if page is not None:
                    for session in list(page.inner):
                        self._left(session)
                    self._transport.gone(page)
            case "Browser.downloadWillBegin":
                self._download_begins(params)
            case "Browser.downloadProgress":
                self._download_goes(params)

    def _attached(self, params: dict[str, Any]) -> None:
        info, session = params["targetInfo"], params["sessionId"]
        ours = self._transport.context in ("", info.get("browserContextId", ""))
        if info["type"] != "page" or not ours:
            self._let_go(session)
            return
        page = self._transport.adopt(info["targetId"], session)
        self._sessions[session] = page
        if page.opened:
            self._transport.events.add(EventKind.PAGE_OPENED, page.id, url=info.get("url", ""))

    def _let_go(self, session: str) -> None:
        connection = self._transport.connection

        async def release() -> None:
            await connection.send("Runtime.runIfWaitingForDebugger", session=session, deadline=_ANSWER_SECONDS)
            await connection.send("Target.detachFromTarget", {"sessionId": session}, deadline=_ANSWER_SECONDS)

        self._transport.spawn(release())

    # -- documents ---------------------------------------------------------------------------------------------------

    def _navigated(self, page: Page, params: dict[str, Any]) -> None:
        frame = params["frame"]
        if frame["id"] == page.main:
            self._transport.events.add(EventKind.NAVIGATION, page.id, url=frame.get("url", ""))

    def _crashed(self, page: Page, params: dict[str, Any]) -> None:
        page.crashed = True
        self._transport.events.add(EventKind.PAGE_CRASHED, page.id)
        page.notify()

    # -- dialogs -----------------------------------------------------------------------------------------------------

    def _dialog_opening(self, page: Page, params: dict[str, Any]) -> None:
        kind = DialogKind(params.get("type", "alert"))
        held = ""
        if self._transport.spec.dialogs is DialogPolicy.HOLD:
            held = self._transport.hold(page, str(kind))
        self._transport.events.add(
            EventKind.DIALOG, page.id, text=params.get("message", ""), url=params.get("url", ""), dialog=held, dialog_kind=kind
        )
        if not held:
            # A host that asked to go away is not kept by the page's wish to ask back.
            leave = kind is DialogKind.BEFORE_UNLOAD and page.navigating > 0
            self._transport.spawn(
                self._transport.send(page, "Page.handleJavaScriptDialog", {"accept": leave}, deadline=_ANSWER_SECONDS)
            )

    def _dialog_closed(self, page: Page, params: dict[str, Any]) -> None:
        page.unhold()

    # -- evidence ----------------------------------------------------------------------------------------------------

    def _console(self, page: Page, params: dict[str, Any]) -> None:
        parts = [_argument(argument) for argument in params.get("args", ())[:20]]
        frames = params.get("stackTrace", {}).get("callFrames", ())
        url = frames[0].get("url", "") if frames else ""
        self._transport.events.add(
            EventKind.CONSOLE, page.id, level=str(params.get("type", ""))[:40], text=" ".join(parts), url=url
        )

    def _exception(self, page: Page, params: dict[str, Any]) -> None:
        details = params.get("exceptionDetails", {})
        text = details.get("exception", {}).get("description") or details.get("text", "")
        self._transport.events.add(EventKind.PAGE_ERROR, page.id, level="error", text=text, url=details.get("url", ""))

    def _binding(self, page: Page, params: dict[str, Any]) -> None:
        if params.get("name") != BINDING:
            return
        try:
            told = json.loads(params.get("payload", ""))
            page.landing = (str(told["landed"]), str(told.get("live") or ""))
        except (ValueError, KeyError, TypeError):
            return

    def _request(self, page: Page, params: dict[str, Any]) -> None:
        request = params["requestId"]
        redirected = params.get("redirectResponse")
        if redirected is not None and params.get("type") == "Document":
            page.load(params.get("loaderId", request)).redirects += 1
        self._requests[request] = (
            str(params["request"].get("method", ""))[:20],
            str(params["request"].get("url", "")),
            str(params.get("type", ""))[:40],
        )
        while len(self._requests) > _REQUESTS_KEPT:
            self._requests.popitem(last=False)

    def _response(self, page: Page, params: dict[str, Any]) -> None:
        response, kind = params["response"], str(params.get("type", ""))
        if kind == "Document" and params.get("loaderId") == params["requestId"]:
            page.load(params["requestId"]).status = response.get("status")
            page.notify()
        if kind in _SHOWN_TYPES or int(response.get("status", 0)) >= 400:
            method = self._requests.get(params["requestId"], ("", "", ""))[0]
            self._transport.events.add(
                EventKind.NETWORK,
                page.id,
                url=response.get("url", ""),
                method=method,
                status=response.get("status"),
                resource=kind.lower()[:40],
            )

    def _failed(self, page: Page, params: dict[str, Any]) -> None:
        method, url, kind = self._requests.get(params["requestId"], ("", "", str(params.get("type", ""))))
        if kind == "Document":
            page.load(params["requestId"]).failed = str(params.get("errorText", "failed"))
            page.notify()
        self._transport.events.add(
            EventKind.NETWORK_FAILED,
            page.id,
            url=url,
            method=method,
            text=str(params.get("errorText", "")),
            resource=kind.lower()[:40],
        )

    # -- downloads ---------------------------------------------------------------------------------------------------

    def _download_begins(self, params: dict[str, Any]) -> None:
        self._downloads[params["guid"]] = params.get("url", "")
        while len(self._downloads) > _REQUESTS_KEPT:
            self._downloads.popitem(last=False)
        page = self._page_of_frame(params.get("frameId", ""))
        if self._transport.spec.quarantine is None:
            self._transport.events.add(EventKind.DOWNLOAD, page, level="cancelled", url=params.get("url", ""), method="GET")

    def _download_goes(self, params: dict[str, Any]) -> None:
        folder = self._transport.spec.quarantine
        state = params.get("state")
        if folder is None or state not in ("completed", "canceled"):
            return
        url = self._downloads.pop(params["guid"], "")
        path = Path(folder) / params["guid"]
        if state == "completed" and path.is_file():
            self._transport.events.add(
                EventKind.DOWNLOAD, "", level="quarantined", url=url, method="GET", path=str(path), sha256=_sha256(path)
            )
        else:
            self._transport.events.add(EventKind.DOWNLOAD, "", level="cancelled", url=url, method="GET")

    def _page_of_frame(self, frame: str) -> str:
        for page in self._sessions.values():
            if frame in page.frames:
                return page.id
        return ""


def _argument(argument: dict[str, Any]) -> str:
    value = argument.get("value")
    if isinstance(value, str):
        return value
    if value is not None:
        return json.dumps(value)
    return str(argument.get("description") or argument.get("unserializableValue") or argument.get("type", ""))


def _sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
    return digest.hexdigest()
