"""The pages of one in-memory session: loading, history, effects, dialogs, events. No input is judged here."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Final

from ues_core.contract import (
    Code,
    DialogKind,
    DialogPolicy,
    DocumentGone,
    DriverError,
    DriverEvent,
    EventKind,
    Events,
    Fault,
    Navigation,
    NavigationKind,
    NodeKey,
    OpenSpec,
    RequestKind,
    Surface,
    decide,
)
from ues_core.testing._data import (
    AddNode,
    After,
    GoTo,
    Increment,
    Log,
    MemoryEffect,
    MemoryPage,
    OpenPage,
    RemoveNode,
    SetState,
    SetText,
    ShowDialog,
)
from ues_core.testing._document import LiveDocument, LiveNode

REDIRECT_LIMIT: Final = 20
"""Redirects followed for one document."""
EVENT_LIMIT: Final = 1_000
"""Events kept between two drains; older ones are dropped and counted."""
EFFECT_DEPTH: Final = 20
"""Effects of effects (a page that loads a page that loads a page)."""


class EventQueue:
    """A bounded queue of what happened."""

    def __init__(self) -> None:
        self._events: deque[DriverEvent] = deque(maxlen=EVENT_LIMIT)
        self._sequence = 0
        self._dropped = 0

    def add(self, kind: EventKind, page: str, **facts: object) -> None:
        """Record one event."""
        self._sequence += 1
        if len(self._events) == EVENT_LIMIT:
            self._dropped += 1
        self._events.append(
            DriverEvent.model_validate({"sequence": self._sequence, "kind": kind, "at": time.time(), "page": page, **facts})
        )

    def drain(self) -> Events:
        """Everything since the last drain."""
        drained = Events(events=tuple(self._events), dropped=self._dropped)
        self._events.clear()
        self._dropped = 0
        return drained


@dataclass(slots=True)
class _Page:
    document: LiveDocument
    entries: list[str] = field(default_factory=list)
    at: int = -1


@dataclass(slots=True)
class _Held:
    page: str
    document: LiveDocument
    shown: ShowDialog


class World:
    """Everything that one session has open."""

    def __init__(self, request: Callable[[str], MemoryPage], hangs: Callable[[str], bool], spec: OpenSpec) -> None:
        self.events = EventQueue()
        self.changes = 0
        """Grows with every change, so that a watch can see that something happened."""
        self._request = request
        self._hangs = hangs
        self._spec = spec
        self._pages: dict[str, _Page] = {}
        self._page_numbers = 0
        self._document_numbers = 0
        self._dialog_numbers = 0
        self._dialogs: dict[str, _Held] = {}
        self._timers: set[asyncio.TimerHandle] = set()
        self._waiting: set[asyncio.Future[None]] = set()

    # -- looking up --------------------------------------------------------------------------------------------------

    def document(self, page: str) -> LiveDocument:
        """The document of a page."""
        held = self._pages.get(page)
        if held is None:
            raise DriverError(
                f"There is no page {page!r}.",
                code=Code.PAGE_UNKNOWN,
                fault=Fault.HOST,
                next_step="List the pages.",
            )
        return held.document

    def find(self, key: NodeKey) -> LiveNode:
        """A node by key, connected or not. A key of another document is ``document-gone``."""
        held = self._pages.get(key.page)
        live = None if held is None or held.document.identity != key.document else held.document.node(key.n)
        if live is None:
            raise DocumentGone("The document that this key belongs to is gone.", next_step="Observe again.")
        return live

    def surfaces(self) -> tuple[Surface, ...]:
        """Every open page, oldest first."""
        return tuple(page.document.surface() for page in self._pages.values())

    # -- loading -----------------------------------------------------------------------------------------------------

    def new_page(self) -> str:
        """Open a blank page."""
        self._page_numbers += 1
        page = f"page-{self._page_numbers}"
        self._pages[page] = _Page(self._load(page, MemoryPage(url="about:blank"), "about:blank"))
        return page

    def never_answers(self, url: str) -> bool:
        """Whether the gate lets a request for ``url`` go out and nothing comes back."""
        return self._hangs(url) and decide(self._spec.gate, url, RequestKind.NAVIGATE).allowed

    def go(self, page: str, url: str, kind: RequestKind = RequestKind.NAVIGATE, depth: int = 0) -> Navigation:
        """Navigate a page through the gate; a denied navigation leaves the page as it was."""
        document = self.document(page)
        held = self._pages[page]
        if kind is RequestKind.NAVIGATE and "#" in url and url.split("#")[0] == document.location.split("#")[0]:
            document.location = url
            self._remember(held, url)
            self.changed()
            return Navigation(kind=NavigationKind.SAME_DOCUMENT, surface=document.surface())
        return self._replace(page, url, kind, depth, remember=True)

    def travel(self, page: str, step: int) -> Navigation:
        """Go along the history, or with ``0`` load the page again."""
        document = self.document(page)
        held = self._pages[page]
        at = held.at + step
        if not 0 <= at < len(held.entries):
            return Navigation(kind=NavigationKind.NONE, surface=document.surface())
        done = self._replace(page, held.entries[at], RequestKind.HISTORY, 0, remember=False)
        if not done.denied:
            held.at = at
        return done

    def close_page(self, page: str) -> None:
        """Close one page."""
        self.document(page).alive = False
        del self._pages[page]
        self._dialogs = {name: held for name, held in self._dialogs.items() if held.page != page}
        self.events.add(EventKind.PAGE_CLOSED, page)
        self.changed()

    def _replace(self, page: str, url: str, kind: RequestKind, depth: int, *, remember: bool) -> Navigation:
        held = self._pages[page]
        source, redirects = "", 0
        while True:
            verdict = decide(self._spec.gate, url, RequestKind.REDIRECT if source else kind, source)
            if not verdict.allowed:
                self.events.add(EventKind.GATE_DENIED, page, url=url, text=verdict.reason)
                return Navigation(
                    kind=NavigationKind.NONE,
                    surface=held.document.surface(),
                    redirects=redirects,
                    denied=verdict.reason,
                )
            data = MemoryPage(url=url) if url in ("", "about:blank") else self._request(url)
            if not data.redirect:
                break
            redirects += 1
            if redirects > REDIRECT_LIMIT:
                raise DriverError(f"More than {REDIRECT_LIMIT} redirects.", fault=Fault.PAGE)
            source, url = url, data.redirect
        held.document.alive = False
        self._dialogs = {name: dialog for name, dialog in self._dialogs.items() if dialog.page != page}
        document = held.document = self._load(page, data, url)
        if remember:
            self._remember(held, url)
        self.events.add(EventKind.NAVIGATION, page, url=url, status=data.status)
        self.changed()
        self.apply(document, data.on_load, depth + 1)
        return Navigation(
            kind=NavigationKind.REDIRECT if redirects else NavigationKind.DOCUMENT,
            surface=self._pages[page].document.surface(),
            status=data.status,
            redirects=redirects,
        )

    def _load(self, page: str, data: MemoryPage, location: str) -> LiveDocument:
        self._document_numbers += 1
        return LiveDocument(page, f"document-{self._document_numbers}", data, location, self._spec.viewport)

    @staticmethod
    def _remember(held: _Page, url: str) -> None:
        del held.entries[held.at + 1 :]
        held.entries.append(url)
        held.at += 1

    # -- effects -----------------------------------------------------------------------------------------------------

    def apply(self, document: LiveDocument, effects: Iterable[MemoryEffect], depth: int = 0) -> NavigationKind:
        """Let effects happen in a document, until it is gone; what they did to it."""
        if depth > EFFECT_DEPTH:
            raise DriverError("The surface's effects do not come to an end.", fault=Fault.PAGE)
        navigation = NavigationKind.NONE
        for effect in effects:
            if not document.alive:
                break
            match effect:
                case GoTo(url=url):
                    navigation = self.go(document.page, url, depth=depth).kind
                case OpenPage(url=url):
                    self._open_popup(document.page, url, depth)
                case ShowDialog():
                    self._show(document, effect, depth)
                case Log(text=text, level=level):
                    self.events.add(EventKind.CONSOLE, document.page, text=text[:4_000], level=level)
                case After(seconds=seconds, effects=later):
                    self._later(document, seconds, later)
                case _:
                    _edit(document, effect)
            self.changed()
        return navigation

    def _open_popup(self, opener: str, url: str, depth: int) -> None:
        verdict = decide(self._spec.gate, url, RequestKind.POPUP)
        if not verdict.allowed:
            self.events.add(EventKind.GATE_DENIED, opener, url=url, text=verdict.reason)
            return
        page = self.new_page()
        self.events.add(EventKind.PAGE_OPENED, page, url=url)
        self.go(page, url, RequestKind.POPUP, depth)

    def _later(self, document: LiveDocument, seconds: float, effects: tuple[MemoryEffect, ...]) -> None:
        def run() -> None:
            self._timers.discard(timer)
            self.apply(document, effects)

        timer = asyncio.get_running_loop().call_later(seconds, run)
        self._timers.add(timer)

    # -- dialogs -----------------------------------------------------------------------------------------------------

    def _show(self, document: LiveDocument, shown: ShowDialog, depth: int) -> None:
        self._dialog_numbers += 1
        name = f"dialog-{self._dialog_numbers}"
        self.events.add(EventKind.DIALOG, document.page, text=shown.message[:4_000], dialog=name, dialog_kind=shown.dialog)
        if self._spec.dialogs is DialogPolicy.HOLD:
            self._dialogs[name] = _Held(document.page, document, shown)
        else:
            self.apply(document, shown.on_dismiss, depth + 1)

    def answer(self, dialog: str, accept: bool, text: str) -> None:
        """Answer a held dialog."""
        held = self._dialogs.pop(dialog, None)
        if held is None:
            raise DriverError(f"No dialog {dialog!r} is held.", code=Code.DIALOG_UNKNOWN, fault=Fault.HOST)
        taker = held.document.named(held.shown.answer_into) if held.shown.answer_into else None
        if accept and taker is not None and held.shown.dialog is DialogKind.PROMPT:
            held.document.set_text(taker, text)
        self.apply(held.document, held.shown.on_accept if accept else held.shown.on_dismiss)
        self.changed()

    # -- change ------------------------------------------------------------------------------------------------------

    def changed(self) -> None:
        """Wake every watch."""
        self.changes += 1
        for future in self._waiting:
            if not future.done():
                future.set_result(None)
        self._waiting.clear()

    async def next_change(self, seconds: float) -> bool:
        """Wait for a change; false when none came in time."""
        future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._waiting.add(future)
        try:
            done, _ = await asyncio.wait({future}, timeout=max(seconds, 0.0))
            return bool(done)
        finally:
            self._waiting.discard(future)

    def close(self) -> None:
        """Drop everything; nothing happens later."""
        for timer in self._timers:
            timer.cancel()
        self._timers.clear()
        for page in self._pages.values():
            page.document.alive = False
        self._pages.clear()
        self._dialogs.clear()


def _edit(document: LiveDocument, effect: SetText | SetState | Increment | AddNode | RemoveNode) -> None:
    """Change the document itself. An effect on a node that is gone does nothing, as in a page."""
    if isinstance(effect, AddNode):
        parent = document.named(effect.into) if effect.into else None
        if parent is not None or not effect.into:
            document.add(effect.node, parent)
        return
    live = document.named(effect.node)
    if live is None:
        return
    match effect:
        case SetText(text=text):
            document.set_text(live, text)
        case SetState():
            document.set_state(live, effect)
        case Increment():
            document.increment(live)
        case RemoveNode():
            document.remove(live)
