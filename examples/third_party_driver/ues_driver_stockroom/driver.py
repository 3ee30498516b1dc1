"""The driver: facts of the terminal's widgets under private keys, and input on one of them. It imports the contract only.

What it does not do: mint refs, judge risk, redact, write receipts. The core does that around it.
"""

from __future__ import annotations

from collections import deque

from ues_core.contract import (
    Captured,
    CaptureRequest,
    ClickGesture,
    Code,
    Collected,
    CollectRequest,
    Coverage,
    CoverageCaps,
    DocumentGone,
    DriverCapabilities,
    DriverError,
    DriverEvent,
    DriverInfo,
    Events,
    Fault,
    FillGesture,
    Gesture,
    GuardState,
    HitStatus,
    HitTest,
    Identity,
    Inspection,
    Landed,
    Landing,
    NameSource,
    Navigation,
    NodeFacts,
    NodeKey,
    NodeText,
    NotSupported,
    OpenSpec,
    OptionFacts,
    PressGesture,
    ReadRequest,
    SelectGesture,
    Surface,
    SurfaceKind,
    TruncationReason,
    TypeGesture,
    WaitUntil,
    WatchCondition,
    WatchOutcome,
)
from ues_driver_stockroom.terminal import SHELVES, Terminal, Widget

PAGE = "screen"
DOCUMENT = "screen-1"
EVENT_LIMIT = 200

ROLES = {"title": "heading", "text": "textbox", "secret": "textbox", "choice": "combobox", "button": "button"}

CAPABILITIES = DriverCapabilities(
    landing_guard=True,
    find=True,
    gestures=("click", "fill", "type", "press", "select"),
)
"""What the core may ask for. Everything else it refuses on its own, with ``not-supported``."""


class StockroomDriver:
    """Opens terminals. It holds no state: each session has a terminal of its own."""

    info = DriverInfo(
        name="stockroom",
        surface=SurfaceKind.DESKTOP,
        capabilities=CAPABILITIES,
        description="A stockroom's bookkeeping terminal, as an example of a surface that is no web page.",
    )

    async def open(self, spec: OpenSpec) -> StockroomSession:
        """Open a terminal. It has no addresses, so a start URL is refused."""
        if spec.url is not None:
            raise _unsupported("navigation")
        return StockroomSession(Terminal())


class StockroomSession:
    """One terminal.

    Every call works on memory and never waits, so each ``deadline`` is met by itself; a driver that talks to another
    process would bound each wait by it (``asyncio.timeout``) and raise ``DeadlineExceeded``.
    """

    def __init__(self, terminal: Terminal) -> None:
        self._terminal = terminal
        self._keys: dict[Widget, int] = {}
        self._events: deque[DriverEvent] = deque(maxlen=EVENT_LIMIT)
        self._closed = False

    # -- seeing ------------------------------------------------------------------------------------------------------

    async def surface(self, page: str, *, deadline: float) -> Surface:
        """The screen's identity. It is never replaced, so the document is always the same."""
        self._check(page)
        return self._surface()

    async def collect(self, page: str, request: CollectRequest, *, deadline: float) -> Collected:
        """The widgets, top to bottom: an exact prefix under both budgets."""
        self._check(page)
        widgets, root = self._terminal.widgets, None
        if request.within is not None:
            scope = self._widget(request.within)
            if scope not in widgets:
                raise DriverError("The widget is gone.", code=Code.SCOPE_UNAVAILABLE, fault=Fault.PAGE)
            widgets, root = [scope], self._facts(scope)
        if request.find is not None:
            text, role = request.find.text.casefold(), request.find.role
            widgets = [
                w for w in widgets if (not role or ROLES[w.kind] == role) and text in f"{w.label}\n{_shown(w) or ''}".casefold()
            ]
        nodes: list[NodeFacts] = []
        reasons: tuple[TruncationReason, ...] = ()
        size = 0
        for widget in widgets[request.skip :]:
            facts = self._facts(widget)
            size += len(facts.model_dump_json(exclude_defaults=True).encode())
            if len(nodes) == request.max_nodes:
                reasons = (TruncationReason.NODE_BUDGET_EXCEEDED,)
            elif size > request.max_bytes:
                reasons = (TruncationReason.BYTE_BUDGET_EXCEEDED,)
            if reasons:
                break
            nodes.append(facts)
        return Collected(
            surface=self._surface(),
            nodes=tuple(nodes),
            root=root,
            candidates=len(widgets),
            emitted_from=request.skip,
            reasons=reasons,
        )

    async def inspect(self, key: NodeKey, *, deadline: float) -> Inspection:
        """One widget as it is now."""
        self._check(key.page)
        widget = self._widget(key)
        if widget not in self._terminal.widgets:
            return Inspection(connected=False, hit=HitTest(status=HitStatus.DETACHED), surface_document=DOCUMENT)
        return Inspection(
            connected=True,
            facts=self._facts(widget),
            hit=HitTest(status=HitStatus.CLEAR),
            surface_document=DOCUMENT,
        )

    async def read(self, target: NodeKey | str, request: ReadRequest, *, deadline: float) -> NodeText:
        """The text of one widget, or of the whole screen; never a secret."""
        self._check(target if isinstance(target, str) else target.page)
        widgets = self._terminal.widgets if isinstance(target, str) else [self._widget(target)]
        if not isinstance(target, str) and widgets[0].kind == "secret":
            return NodeText(secret=True)
        text = "\n".join(f"{w.label} {_shown(w) or ''}".rstrip() for w in widgets)
        return NodeText(text=text[: request.limit], truncated=len(text) > request.limit)

    # -- touching ----------------------------------------------------------------------------------------------------

    async def dispatch(self, gesture: Gesture, *, expect: Identity | None, deadline: float) -> Landing:
        """One input. Nothing happens between the check and the input, so what was judged is what is touched."""
        self._check(gesture.page)
        widget = self._terminal.focus if gesture.key is None else self._widget(gesture.key)
        if widget is None or widget not in self._terminal.widgets:
            return _refused(Code.TARGET_GONE, "the widget is gone")
        now = self._facts(widget).identity()
        if expect is not None and now.canonical() != expect.canonical():
            return _refused(Code.TARGET_CHANGED, "changed: " + ", ".join(expect.changed(now)), now)
        if not widget.enabled:
            return _refused(Code.TARGET_DISABLED, "the widget is disabled", now)
        landing = Landing(dispatched=True, landed=Landed.ON_TARGET, guard=GuardState.GUARDED, live=now)
        match gesture:
            case ClickGesture():
                for _ in range(gesture.count):
                    self._terminal.press(widget)
            case FillGesture() | TypeGesture():
                if widget.kind not in ("text", "secret"):
                    return _refused(Code.TARGET_NOT_EDITABLE, "the widget takes no text", now)
                wanted = gesture.text if isinstance(gesture, FillGesture) else widget.text + gesture.text
                self._terminal.write(widget, wanted)
                landing = landing.model_copy(update={"value_equal": widget.text == wanted})
            case PressGesture():
                self._terminal.key(widget, gesture.chord)
            case SelectGesture():
                if widget.kind != "choice" or gesture.index >= len(SHELVES):
                    return _refused(Code.OPTION_MISSING, f"there is no option {gesture.index}", now)
                self._terminal.write(widget, SHELVES[gesture.index])
                landing = landing.model_copy(update={"option_selected": True})
            case _:
                raise _unsupported(f"the gesture {gesture.kind}")
        return landing

    # -- pages and ends ----------------------------------------------------------------------------------------------

    async def pages(self) -> tuple[Surface, ...]:
        """The one screen."""
        self._check(PAGE)
        return (self._surface(),)

    async def drain(self) -> Events:
        """A terminal that reports nothing has no events; the queue is bounded all the same."""
        self._check(PAGE)
        drained = Events(events=tuple(self._events))
        self._events.clear()
        return drained

    async def close(self) -> None:
        """Forget the terminal. Idempotent."""
        self._closed = True

    # -- not declared, so never called; refused in case a caller is wrong ----------------------------------------------

    async def coverage(self, target: NodeKey | str, caps: CoverageCaps, *, deadline: float) -> Coverage:
        """Not declared."""
        raise _unsupported("closed_roots")

    async def capture(self, page: str, request: CaptureRequest, *, deadline: float) -> Captured:
        """Not declared."""
        raise _unsupported("capture")

    async def navigate(self, page: str, url: str, *, wait_until: WaitUntil, deadline: float) -> Navigation:
        """Not declared."""
        raise _unsupported("navigation")

    async def back(self, page: str, *, deadline: float) -> Navigation:
        """Not declared."""
        raise _unsupported("navigation")

    async def forward(self, page: str, *, deadline: float) -> Navigation:
        """Not declared."""
        raise _unsupported("navigation")

    async def reload(self, page: str, *, deadline: float) -> Navigation:
        """Not declared."""
        raise _unsupported("navigation")

    async def close_page(self, page: str, *, deadline: float) -> None:
        """Not declared."""
        raise _unsupported("pages")

    async def watch(self, page: str, conditions: tuple[WatchCondition, ...], *, deadline: float) -> WatchOutcome:
        """Not declared."""
        raise _unsupported("watch")

    async def answer_dialog(self, dialog: str, accept: bool, text: str, *, deadline: float) -> None:
        """Not declared."""
        raise _unsupported("dialogs")

    # -- private -----------------------------------------------------------------------------------------------------

    def _check(self, page: str) -> None:
        if self._closed:
            raise DriverError("The session is closed.", code=Code.SESSION_CLOSED, fault=Fault.HOST)
        if page != PAGE:
            raise DriverError(f"There is no page {page!r}.", code=Code.PAGE_UNKNOWN, fault=Fault.HOST)

    def _surface(self) -> Surface:
        return Surface(page=PAGE, document=DOCUMENT, location="stockroom", title=self._terminal.title, kind=SurfaceKind.DESKTOP)

    def _key(self, widget: Widget) -> NodeKey:
        # A number per widget, given once: a widget that is struck out takes its number with it.
        number = self._keys.setdefault(widget, len(self._keys) + 1)
        return NodeKey(page=PAGE, document=DOCUMENT, n=number)

    def _widget(self, key: NodeKey) -> Widget:
        widget = next((w for w, number in self._keys.items() if number == key.n), None)
        if widget is None or key.document != DOCUMENT:
            raise DocumentGone("This key belongs to no screen of this session.", next_step="Observe again.")
        return widget

    def _facts(self, widget: Widget) -> NodeFacts:
        text = widget.kind in ("text", "secret")
        return NodeFacts(
            key=self._key(widget),
            role=ROLES[widget.kind],
            name=widget.label[:180],
            name_source=NameSource.LABEL,
            tag=widget.kind,
            input_type="password" if widget.kind == "secret" else "",
            interactive=widget.kind != "title",
            editable=text and widget.enabled,
            disabled=not widget.enabled,
            in_viewport=True,
            value=_shown(widget),
            secret=widget.kind == "secret",
            options=tuple(OptionFacts(label=s, value=s, selected=s == widget.text) for s in SHELVES)
            if widget.kind == "choice"
            else (),
            options_total=len(SHELVES) if widget.kind == "choice" else 0,
        )


def _shown(widget: Widget) -> str | None:
    """What the screen shows as the widget's value; nothing for a secret."""
    return widget.text[:180] if widget.kind in ("text", "choice") else None


def _refused(code: Code, detail: str, live: Identity | None = None) -> Landing:
    return Landing(dispatched=False, landed=Landed.NOWHERE, guard=GuardState.GUARDED, code=code, detail=detail, live=live)


def _unsupported(capability: str) -> NotSupported:
    return NotSupported(f"The stockroom terminal does not do {capability}.", details={"capability": capability})
