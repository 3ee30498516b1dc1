"""What is known about pages and their frames, from protocol events alone. No command is sent from here."""

from __future__ import annotations

import asyncio
from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Any, Final

from ues_core.contract import Code, DocumentGone, DriverError, Fault
from ues_core.web.collector import WORLD

_LOADERS_KEPT: Final = 32
WAITED_FOR: Final = frozenset({"DOMContentLoaded", "load"})
"""Names of lifecycle events that say how far a document is."""


@dataclass(slots=True)
class Frame:
    """One frame and its document."""

    id: str
    parent: str
    document: str
    url: str = ""
    context: str = ""
    """Unique id of the isolated world's context; empty when there is none yet."""
    context_number: int = 0
    reopened: bool = False
    owner: tuple[str, int] = ("", 0)
    """(document of the parent, number of the element that holds the frame), once it was asked for."""
    session: str = ""
    """The session of the process that draws the frame."""


@dataclass(slots=True)
class Dialog:
    """A JavaScript dialog that waits for an answer."""

    id: str
    kind: str


@dataclass(slots=True)
class Loading:
    """What is known about one document request."""

    states: set[str] = field(default_factory=set)
    status: int | None = None
    redirects: int = 0
    denied: str = ""
    failed: str = ""


class Page:
    """One page: its session, frames, documents, dialog."""

    def __init__(self, page_id: str, target: str, session: str, *, opened: bool) -> None:
        self.id = page_id
        self.target = target
        self.session = session
        self.opened = opened
        """Opened by another page, not by us."""
        self.frames: dict[str, Frame] = {}
        self.main = target
        self.dialog: Dialog | None = None
        self.interrupt: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.crashed = False
        self.closed = False
        self.navigating = 0
        self.same_document = 0
        self.denials = 0
        self.last_denial = ""
        self.landing: tuple[str, str] = ("", "")
        self.ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.sent = asyncio.Event()
        """The set-up commands have left; they are obeyed before the page's first document comes."""
        self.inner: dict[str, tuple[str, asyncio.Future[None]]] = {}
        """Sessions of frames that other processes draw: the frame, and whether the session is set up."""
        self._loads: OrderedDict[str, Loading] = OrderedDict()
        self._waiters: list[asyncio.Future[None]] = []

    # -- documents ---------------------------------------------------------------------------------------------------

    @property
    def document(self) -> str:
        """Id of the main document."""
        frame = self.frames.get(self.main)
        return frame.document if frame is not None else ""

    def load(self, loader: str) -> Loading:
        """What is known about the request of a document; bounded: those not asked for longest go first, never the page's own."""
        known = self._loads.setdefault(loader, Loading())
        self._loads.move_to_end(loader)
        if len(self._loads) > _LOADERS_KEPT:
            del self._loads[next(old for old in self._loads if old not in (self.document, loader))]
        return known

    def frame(self, frame_id: str, document: str = "") -> Frame:
        """A frame by the contract's id (empty: main), and still with that document. Raises ``DocumentGone``."""
        found = self.frames.get(frame_id or self.main)
        if found is None or (document and found.document != document):
            raise DocumentGone(
                "The document that this call meant was replaced.",
                next_step="Observe again.",
                details={"page": self.id},
            )
        return found

    # -- waiting -----------------------------------------------------------------------------------------------------

    def notify(self) -> None:
        """Wake everybody who waits for a change of this page."""
        waiters, self._waiters = self._waiters, []
        for waiter in waiters:
            if not waiter.done():
                waiter.set_result(None)

    async def changed(self) -> None:
        """Wait for the next change."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiters.append(waiter)
        await waiter

    def hold(self, dialog: Dialog) -> None:
        """A dialog blocks the page: whoever waits for an answer is told."""
        self.dialog = dialog
        if not self.interrupt.done():
            self.interrupt.set_result(None)
        self.notify()

    def unhold(self) -> None:
        """The dialog is gone."""
        if self.dialog is not None:
            self.dialog = None
            self.interrupt = asyncio.get_running_loop().create_future()
        self.notify()

    def require_usable(self) -> None:
        """Raise unless the page can answer now."""
        if self.closed:
            raise page_unknown(self.id)
        if self.crashed:
            raise DriverError(
                f"Page {self.id} crashed.",
                code=Code.PAGE_CRASHED,
                fault=Fault.PAGE,
                next_step="Reload the page, navigate it, or close it.",
            )
        if self.dialog is not None:
            raise dialog_open(self)

    # -- events ------------------------------------------------------------------------------------------------------

    def tree(self, node: dict[str, Any], session: str = "") -> None:
        """Take a frame tree as the protocol gives it."""
        self._take(node["frame"], session or self.session)
        for child in node.get("childFrames", ()):
            self.tree(child, session)

    def enter(self, frame_id: str, parent: str, session: str) -> None:
        """A process of its own draws a frame from now on; what document it shows is not known yet."""
        frame = self.frames.get(frame_id)
        if frame is None:
            frame = self.frames[frame_id] = Frame(frame_id, parent, "")
        frame.session, frame.document, frame.context, frame.owner = session, attached_document(session), "", ("", 0)
        self.inner[session] = (frame_id, asyncio.get_running_loop().create_future())
        self.notify()

    def leave(self, session: str) -> None:
        """A frame's session ended: what it told of is gone, unless another process has told of it since."""
        known = self.inner.pop(session, None)
        if known is None:
            return
        if not known[1].done():
            known[1].set_result(None)
        for frame in [frame for frame in self.frames.values() if frame.session == session]:
            if frame.id == known[0]:  # its element is still there: another process draws it, or none
                frame.session, frame.context, frame.document = self.session, "", "left-" + session
            else:
                self._drop(frame.id)
        self.notify()

    def frame_event(self, method: str, params: dict[str, Any], session: str = "") -> None:
        """Take one event about frames, documents or contexts; ``session`` is the one that told of it."""
        session = session or self.session
        match method:
            case "Page.frameAttached":
                frame_id = params["frameId"]
                if frame_id not in self.frames:
                    self.frames[frame_id] = Frame(
                        frame_id, params.get("parentFrameId", ""), "initial-" + frame_id, session=session
                    )
            case "Page.frameDetached":
                self._detached(params["frameId"], params.get("reason", ""), session)
            case "Page.frameNavigated":
                self._take(params["frame"], session)
                if session == self.session:
                    self.crashed = False
            case "Page.navigatedWithinDocument":
                frame = self.frames.get(params["frameId"])
                if frame is not None:
                    frame.url = params.get("url", frame.url)
                if params["frameId"] == self.main:
                    self.same_document += 1
            case "Page.documentOpened":
                frame = self.frames.get(params["frame"]["id"])
                if frame is not None:
                    frame.reopened = True
                    frame.url = params["frame"].get("url", frame.url)
            case "Page.lifecycleEvent":
                # Of frames nobody waits for these, and a page may have hundreds of them.
                if params["frameId"] == self.main and params["name"] in WAITED_FOR:
                    self.load(params["loaderId"]).states.add(params["name"])
            case "Runtime.executionContextCreated":
                self._context(params["context"], session)
            case "Runtime.executionContextDestroyed":
                for frame in self.frames.values():
                    if frame.context == params.get("executionContextUniqueId", "-"):
                        frame.context = ""
            case "Runtime.executionContextsCleared":
                for frame in self.frames.values():
                    if frame.session == session:
                        frame.context = ""
        self.notify()

    def _take(self, data: dict[str, Any], session: str) -> None:
        frame_id, document = data["id"], data["loaderId"]
        known = self.frames.get(frame_id)
        if known is None:
            self.frames[frame_id] = Frame(frame_id, data.get("parentId", ""), document, data.get("url", ""), session=session)
            return
        known.url, known.parent = data.get("url", ""), data.get("parentId", "") or known.parent
        if known.session != session:
            known.session, known.context = session, ""
        if known.document in ("", document):
            known.document = document
            return
        # The context stays until an event ends it: the first document after a blank one may keep the window, and the world.
        known.document, known.reopened, known.owner = document, False, ("", 0)
        for child in [frame.id for frame in self.frames.values() if frame.parent == frame_id]:
            self._drop(child)

    def _detached(self, frame_id: str, reason: str, session: str) -> None:
        frame = self.frames.get(frame_id)
        if reason != "swap":
            self._drop(frame_id)
        elif frame is not None and frame.session == session and self.inner.get(session, ("",))[0] != frame_id:
            # Another process takes over; until its session is there nothing can be asked.
            frame.context, frame.document = "", "swapped-" + frame.document[:64]

    def _drop(self, frame_id: str) -> None:
        self.frames.pop(frame_id, None)
        for child in [frame.id for frame in self.frames.values() if frame.parent == frame_id]:
            self._drop(child)

    def _context(self, context: dict[str, Any], session: str) -> None:
        if context.get("name") != WORLD:
            return
        frame_id = context.get("auxData", {}).get("frameId", "")
        frame = self.frames.get(frame_id)
        if frame is None:  # contexts that exist already are told of before the frames are
            frame = self.frames[frame_id] = Frame(frame_id, "", "")
        frame.session = session
        frame.context, frame.context_number = context["uniqueId"], context["id"]


def attached_document(session: str) -> str:
    """What a document is called whose process has not told of it yet."""
    return "attached-" + session


def page_unknown(page: str) -> DriverError:
    """There is no such page."""
    return DriverError(
        f"There is no open page {page[:64]!r}.",
        code=Code.PAGE_UNKNOWN,
        fault=Fault.HOST,
        next_step="List the pages of the session and choose one that is open.",
    )


def dialog_open(page: Page) -> DriverError:
    """A held dialog blocks the page."""
    dialog = page.dialog
    return DriverError(
        f"Page {page.id} waits for an answer to a dialog.",
        code=Code.DIALOG_OPEN,
        fault=Fault.PAGE,
        next_step="Answer the dialog, then try again.",
        details={"dialog": dialog.id if dialog is not None else ""},
    )
