"""The driver contract: a driver sees and touches, nothing more.

It mints no refs, judges no risk, redacts nothing, writes no receipts. Every call takes a ``deadline``: seconds from the call
within which it must return or raise ``DeadlineExceeded``. Cancelling the task cancels the call. Errors are ``DriverError`` and
below; anything else that escapes is the driver's bug and is mapped by the core.
"""

from __future__ import annotations

from typing import Annotated, Literal, Protocol, runtime_checkable

from pydantic import Field

from ues_core.contract._base import CONTRACT_VERSION, Model
from ues_core.contract.codes import Code
from ues_core.contract.gate import OriginGate
from ues_core.contract.node import Identity, Inspection, NodeFacts
from ues_core.contract.surface import Box, NodeKey, PageId, Surface, Viewport
from ues_core.contract.words import (
    CaptureKind,
    CoverageReason,
    Detail,
    DialogKind,
    DialogPolicy,
    Direction,
    EventKind,
    FrameReach,
    GuardState,
    Landed,
    Modifier,
    NavigationKind,
    PointerButton,
    PopupPolicy,
    ReadKind,
    Support,
    SurfaceKind,
    TruncationReason,
    WaitUntil,
    WatchKind,
)

# -- what a driver is ------------------------------------------------------------------------------------------------


class DriverCapabilities(Model):
    """What a driver can do. What is not declared is refused by the core with ``not-supported``, never attempted."""

    navigation: bool = False
    pages: bool = False
    """More than one page per session."""
    closed_roots: Support = Support.NONE
    frames: FrameReach = FrameReach.NONE
    isolated_world: bool = False
    landing_guard: bool = False
    network_gate: bool = False
    attach: bool = False
    profiles: bool = False
    storage_state: bool = False
    downloads: bool = False
    uploads: bool = False
    dialogs: bool = False
    """JavaScript dialogs can be held and answered."""
    capture: bool = False
    video: bool = False
    content: bool = False
    """``Detail.CONTENT`` observations."""
    find: bool = False
    reads: tuple[ReadKind, ...] = (ReadKind.TEXT,)
    watch: tuple[WatchKind, ...] = ()
    gestures: tuple[str, ...] = ()
    """The ``kind`` of every gesture that ``dispatch`` takes."""


class DriverInfo(Model):
    """Who a driver is."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    contract_version: int = CONTRACT_VERSION
    surface: SurfaceKind = SurfaceKind.WEB
    capabilities: DriverCapabilities = DriverCapabilities()
    description: str = Field(default="", max_length=300)


# -- opening ---------------------------------------------------------------------------------------------------------


class Launch(Model):
    """Start something of our own; the driver owns it and kills it."""

    kind: Literal["launch"] = "launch"
    executable: str | None = None
    """The browser to start; found by the core. ``None`` for surfaces without one."""
    headless: bool = True
    no_sandbox: bool = False
    profile_dir: str | None = None
    """The user-data directory to use. The core makes it, locks it and, when it is temporary, removes it."""
    args: tuple[str, ...] = ()
    """Extra switches that the operator configured."""


class Attach(Model):
    """Use something that the operator already runs; the driver never kills it."""

    kind: Literal["attach"] = "attach"
    endpoint: str = Field(min_length=1, max_length=2000)
    owns: Literal[False] = False


class Timeouts(Model):
    """Five separate budgets, in seconds (reference: lifecycle table of the reasoning seed)."""

    navigation: float = Field(default=30.0, ge=1, le=180)
    """Loading a document, and opening a session."""
    action: float = Field(default=10.0, ge=0.5, le=120)
    """One action, from the ref to its receipt."""
    wait: float = Field(default=5.0, ge=0.1, le=60)
    """Waiting for a state that was asked for."""
    observe: float = Field(default=10.0, ge=0.5, le=120)
    """One observation."""
    close: float = Field(default=5.0, ge=0.5, le=60)
    """Closing a session; what does not end by then is killed."""


class OpenSpec(Model):
    """Everything a driver needs to open a session, as data. The environment is never inherited."""

    target: Annotated[Launch | Attach, Field(discriminator="kind")] = Launch()
    gate: OriginGate = OriginGate()
    url: str | None = None
    dialogs: DialogPolicy = DialogPolicy.DISMISS
    popups: PopupPolicy = PopupPolicy.STAY
    quarantine: str | None = None
    """Folder for downloads; ``None`` cancels them."""
    storage_state: dict[str, object] | None = None
    """Playwright's JSON shape; already checked against the gate by the core."""
    viewport: Viewport = Viewport()
    timeouts: Timeouts = Timeouts()
    locale: str | None = None
    record_video: str | None = None


# -- observing -------------------------------------------------------------------------------------------------------


class Find(Model):
    """Look for nodes by text or role instead of listing from the top."""

    text: str = Field(default="", max_length=300)
    """Case-insensitive substring of the name, value or content."""
    role: str = Field(default="", max_length=60)


class CollectRequest(Model):
    """What to collect. Budgets are applied inside the surface, before anything crosses the wire."""

    within: NodeKey | None = None
    """Collect the flattened subtree of this node; ``None`` collects the page."""
    detail: Detail = Detail.CONTROLS
    max_nodes: int = Field(default=60, ge=1, le=2000)
    max_bytes: int = Field(default=49_152, ge=256, le=1_048_576)
    """UTF-8 bytes of node facts (reference: 48 KiB)."""
    scan_window: int = Field(default=200_000, ge=1, le=1_000_000)
    """Candidates examined at most."""
    find: Find | None = None
    skip: int = Field(default=0, ge=0)
    """Nodes to skip, for a cursor."""
    frames: FrameReach = FrameReach.SAME_ORIGIN
    frame_origins: tuple[str, ...] = ()
    """Third-party origins that may be entered as well."""
    closed_shadow: Support = Support.NONE
    anchor: NodeKey | None = None
    """Report this node's whereabouts too."""
    boxes: bool = False


class FrameNote(Model):
    """One embedded frame that the walk met."""

    origin: str = Field(default="", max_length=300)
    entered: bool = False
    reason: TruncationReason | None = None
    service: str = Field(default="", max_length=60)
    """The human-verification service, when it is a known one. Such frames are named, never entered."""


class AnchorFacts(Model):
    """Where the anchored node is now."""

    index: int | None = None
    """Its index among the collected nodes; ``None`` when not emitted."""
    connected: bool
    contained: bool | None = None
    """Inside the scope, by composed containment; ``None`` for a whole-page collection."""


class Collected(Model):
    """Facts of the observable nodes, in emission order."""

    surface: Surface
    nodes: tuple[NodeFacts, ...] = ()
    root: NodeFacts | None = None
    """The scope root's own facts, emitted or not; ``None`` for a whole-page collection."""
    candidates: int = 0
    """Nodes that matched."""
    emitted_from: int = 0
    hidden_matches: int = 0
    hidden_matches_partial: bool = False
    """Not all were looked at: a budget ran out, or there are so many matches (over 4,000) that those far away are not asked."""
    reasons: tuple[TruncationReason, ...] = ()
    frames: tuple[FrameNote, ...] = ()
    anchor: AnchorFacts | None = None
    pierced: int = 0
    """Closed shadow roots whose content is among the nodes."""
    scroll_x: float = 0.0
    scroll_y: float = 0.0
    content_height: float = 0.0
    text_sample: str = Field(default="", max_length=20_000)
    """Visible text for the content analyser; empty unless asked for by ``Detail.CONTENT``."""


class CoverageCaps(Model):
    """Bounds of the closed-root probe (reference: 5,000 nodes, 250 ms)."""

    max_nodes: int = Field(default=5_000, ge=1, le=1_000_000)
    max_seconds: float = Field(default=0.25, gt=0, le=30)


class Coverage(Model):
    """Whether closed shadow roots may hide content. Only ``verified`` proves absence."""

    verified: bool = False
    closed_shadow_roots: int = 0
    probed_nodes: int = 0
    pierced: int = 0
    reason: CoverageReason | None = CoverageReason.SKIPPED


# -- touching --------------------------------------------------------------------------------------------------------


class _Gesture(Model):
    page: PageId


class _OnNode(_Gesture):
    key: NodeKey


class ClickGesture(_OnNode):
    """Press and release a pointer button on the node's clickable point."""

    kind: Literal["click"] = "click"
    button: PointerButton = PointerButton.LEFT
    count: int = Field(default=1, ge=1, le=3)
    modifiers: tuple[Modifier, ...] = ()


class HoverGesture(_OnNode):
    """Hold the pointer over the node."""

    kind: Literal["hover"] = "hover"


class FillGesture(_OnNode):
    """Replace the node's text."""

    kind: Literal["fill"] = "fill"
    text: str = Field(max_length=200_000)


class TypeGesture(_OnNode):
    """Focus the node and insert text at the caret."""

    kind: Literal["type"] = "type"
    text: str = Field(max_length=200_000)


class PressGesture(_Gesture):
    """Press a key or chord (``Enter``, ``Control+a``) on the node, or on whatever has focus."""

    kind: Literal["press"] = "press"
    key: NodeKey | None = None
    chord: str = Field(min_length=1, max_length=80)


class SelectGesture(_OnNode):
    """Choose one option of a native select, by index. The core resolves labels and values to the index."""

    kind: Literal["select"] = "select"
    index: int = Field(ge=0)


class ScrollGesture(_Gesture):
    """Bring a node into view (``key``), or scroll the page or a scroller by an amount in CSS pixels."""

    kind: Literal["scroll"] = "scroll"
    key: NodeKey | None = None
    direction: Direction | None = None
    amount: float | None = Field(default=None, ge=0, le=100_000)
    """``None`` with a direction: one page."""


class DragGesture(_OnNode):
    """Drag from one node to another. The button is released on every path."""

    kind: Literal["drag"] = "drag"
    to: NodeKey


class UploadGesture(_OnNode):
    """Give files to a file input. Paths are copies that the core staged, never a caller's paths."""

    kind: Literal["upload"] = "upload"
    files: tuple[str, ...] = Field(min_length=1, max_length=20)


Gesture = Annotated[
    ClickGesture
    | HoverGesture
    | FillGesture
    | TypeGesture
    | PressGesture
    | SelectGesture
    | ScrollGesture
    | DragGesture
    | UploadGesture,
    Field(discriminator="kind"),
]
"""One validated input."""


class Landing(Model):
    """Where a gesture went and what could be seen of it at once."""

    dispatched: bool
    """False only when it is certain that no input left the driver."""
    landed: Landed = Landed.UNKNOWN
    guard: GuardState = GuardState.NOT_APPLICABLE
    code: Code = Code.OK
    """Not ``ok`` when the gesture was refused or failed."""
    detail: str = Field(default="", max_length=400)
    covered_by: str = Field(default="", max_length=300)
    live: Identity | None = None
    """Identity at the moment of landing, when the guard read it."""
    value_equal: bool | None = None
    """fill: the node's text equals what was asked for. The text itself never leaves."""
    option_selected: bool | None = None
    scrolled: float | None = None
    """scroll: how far it moved, in CSS pixels."""
    in_viewport: bool | None = None
    """scroll to a node: whether it is visible now."""
    navigation: NavigationKind = NavigationKind.NONE


class Navigation(Model):
    """What a navigation did."""

    kind: NavigationKind
    surface: Surface
    status: int | None = None
    """HTTP status of the document."""
    redirects: int = 0
    denied: str = Field(default="", max_length=400)
    """Why the gate stopped it; empty when it did not."""


# -- reading ---------------------------------------------------------------------------------------------------------


class ReadRequest(Model):
    """How to read: one shape, bounded by characters and items."""

    kind: ReadKind = ReadKind.TEXT
    limit: int = Field(default=4_000, ge=1, le=200_000)
    max_items: int = Field(default=50, ge=1, le=2_000)


class NodeText(Model):
    """The text of one node or page."""

    text: str = ""
    truncated: bool = False
    secret: bool = False
    """The node is a secret; nothing was read."""
    items: tuple[dict[str, str], ...] = ()
    """links, tables, forms: one row each."""
    total_items: int = 0


class CaptureRequest(Model):
    """What to picture."""

    kind: CaptureKind = CaptureKind.VIEWPORT
    key: NodeKey | None = None
    scale: int = Field(default=1, ge=1, le=3)
    keys: tuple[NodeKey, ...] = ()
    """Nodes whose boxes and occlusion are wanted."""
    max_pixels: int = Field(default=16_777_216, ge=1)
    max_bytes: int = Field(default=16_777_216, ge=1)


class CapturedNode(Model):
    """One node in a picture."""

    key: NodeKey
    box: Box | None = None
    omitted: str = Field(default="", max_length=40)
    """An ``OmitReason``; empty when visible."""


class Captured(Model):
    """Pixels and boxes."""

    png: bytes
    width: int
    height: int
    scale_x: float = 1.0
    scale_y: float = 1.0
    origin_x: float = 0.0
    origin_y: float = 0.0
    nodes: tuple[CapturedNode, ...] = ()


# -- waiting and events ----------------------------------------------------------------------------------------------


class WatchCondition(Model):
    """One condition; a watch ends when any of its conditions holds."""

    kind: WatchKind
    text: str = Field(default="", max_length=1000)
    key: NodeKey | None = None
    seconds: float = Field(default=0.5, ge=0, le=60)
    """For ``quiet`` and ``node-text-stable``: how long nothing may change."""


class WatchOutcome(Model):
    """How a watch ended."""

    met: int | None = None
    """Index of the condition that held; ``None`` when the deadline came first."""
    seconds: float = 0.0


class DriverEvent(Model):
    """One thing that happened since the last drain. Text is bounded by the driver and not yet redacted."""

    sequence: int
    kind: EventKind
    at: float
    """Seconds since the epoch."""
    page: str = ""
    level: str = Field(default="", max_length=40)
    text: str = Field(default="", max_length=4_000)
    url: str = Field(default="", max_length=8_192)
    method: str = Field(default="", max_length=20)
    status: int | None = None
    resource: str = Field(default="", max_length=40)
    dialog: str = Field(default="", max_length=64)
    dialog_kind: DialogKind | None = None
    path: str = ""
    """download: the file in the quarantine folder."""
    sha256: str = ""


class Events(Model):
    """What happened, oldest first."""

    events: tuple[DriverEvent, ...] = ()
    dropped: int = 0
    """Events that a bounded queue had to drop."""


# -- the protocols ---------------------------------------------------------------------------------------------------


@runtime_checkable
class DriverSession(Protocol):
    """One isolated session of a driver. Methods for capabilities that are not declared are never called."""

    async def surface(self, page: str, *, deadline: float) -> Surface:
        """The page's identity now."""
        ...

    async def collect(self, page: str, request: CollectRequest, *, deadline: float) -> Collected:
        """Facts of the observable nodes of the page or one subtree."""
        ...

    async def inspect(self, key: NodeKey, *, deadline: float) -> Inspection:
        """Live facts of one node, whether it is connected, and a hit test."""
        ...

    async def dispatch(self, gesture: Gesture, *, expect: Identity | None, deadline: float) -> Landing:
        """One input. ``expect`` is re-checked where the event lands; on a mismatch nothing may reach the page."""
        ...

    async def read(self, target: NodeKey | str, request: ReadRequest, *, deadline: float) -> NodeText:
        """Text or data of a node, or of a page when ``target`` is a page id."""
        ...

    async def coverage(self, target: NodeKey | str, caps: CoverageCaps, *, deadline: float) -> Coverage:
        """Probe for closed shadow roots."""
        ...

    async def capture(self, page: str, request: CaptureRequest, *, deadline: float) -> Captured:
        """Pixels and boxes."""
        ...

    async def navigate(self, page: str, url: str, *, wait_until: WaitUntil, deadline: float) -> Navigation:
        """Go to a URL that the gate allows."""
        ...

    async def back(self, page: str, *, deadline: float) -> Navigation:
        """One entry back."""
        ...

    async def forward(self, page: str, *, deadline: float) -> Navigation:
        """One entry forward."""
        ...

    async def reload(self, page: str, *, deadline: float) -> Navigation:
        """Load the document again."""
        ...

    async def pages(self) -> tuple[Surface, ...]:
        """Every open page, oldest first."""
        ...

    async def close_page(self, page: str, *, deadline: float) -> None:
        """Close one page."""
        ...

    async def watch(self, page: str, conditions: tuple[WatchCondition, ...], *, deadline: float) -> WatchOutcome:
        """Wait inside the surface, event-driven, until a condition holds or the deadline comes."""
        ...

    async def answer_dialog(self, dialog: str, accept: bool, text: str, *, deadline: float) -> None:
        """Answer a held dialog."""
        ...

    async def drain(self) -> Events:
        """Events since the last call."""
        ...

    async def close(self) -> None:
        """Kill what is owned, detach from what is not. Idempotent, bounded, never raises."""
        ...


@runtime_checkable
class Driver(Protocol):
    """Opens sessions. Holds no mutable state of its own."""

    @property
    def info(self) -> DriverInfo:
        """Who it is and what it can do."""
        ...

    async def open(self, spec: OpenSpec) -> DriverSession:
        """Open one isolated session, within ``spec.timeouts.navigation``; on failure nothing is left running."""
        ...
