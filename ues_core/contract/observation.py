"""What a host is given to see. Every object carries its trust fields: page text is data, never instruction."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ues_core.contract._base import Model
from ues_core.contract.driver import Coverage, FrameNote
from ues_core.contract.node import NodeStates, OptionFacts
from ues_core.contract.rendering import DEFAULT_CHARS, render
from ues_core.contract.surface import Box, PageId, Surface
from ues_core.contract.words import (
    CaptureQuality,
    ContentSignal,
    Detail,
    InstructionAuthority,
    NameSource,
    OmitReason,
    ReadKind,
    TruncationReason,
    Trust,
)


class External(Model):
    """The base of everything that came from outside: it may inform a decision, never make it."""

    trust: Literal[Trust.UNTRUSTED_EXTERNAL] = Trust.UNTRUSTED_EXTERNAL
    instruction_authority: Literal[InstructionAuthority.NONE] = InstructionAuthority.NONE


class ContentFlag(Model):
    """One finding of the content analyser. Information for the host, never a filter."""

    signal: ContentSignal
    severity: Literal["high", "medium"]
    quote: str = Field(max_length=300)


class Node(Model):
    """One observable node, under an opaque ref. Text is redacted."""

    ref: str = Field(min_length=1, max_length=128)
    parent_ref: str | None = None
    """The nearest emitted ancestor in the composed tree; always an earlier node of the same observation."""
    role: str = ""
    name: str = ""
    name_source: NameSource = NameSource.CONTENT
    description: str = ""
    tag: str = ""
    input_type: str = ""
    interactive: bool = False
    editable: bool = False
    disabled: bool = False
    in_viewport: bool = False
    bindable: bool = True
    content: bool = False
    frame_origin: str = ""
    href: str = ""
    download: bool = False
    value: str | None = None
    """``None`` when the node has no value or its value is withheld; an empty string is a value."""
    value_withheld: bool = False
    value_truncated: bool = False
    placeholder: str = ""
    states: NodeStates = NodeStates()
    options: tuple[OptionFacts, ...] = ()
    options_total: int = 0
    group: str = ""
    popup: str = ""
    keyshortcuts: str = ""
    submits: bool = False
    box: Box | None = None
    occluded: bool | None = None


class Scope(Model):
    """What a scoped observation is rooted at."""

    ref: str
    """The ref the caller passed, or the alias ``last-scope``."""
    root_ref: str
    """A fresh ref for the root, which binds it even when the root itself is not emitted."""
    role: str = ""
    name: str = ""
    tag: str = ""
    name_changed: bool = False


class Anchor(Model):
    """Where the node of the last dispatched action is now."""

    ref: str | None = None
    """Its ref in this observation; ``None`` when it was not emitted."""
    connected: bool
    contained: bool | None = None


class Limits(Model):
    """The budgets that an observation kept to."""

    max_nodes: int
    max_bytes: int


class Delta(Model):
    """What changed since an earlier epoch. Nodes that live keep their refs."""

    since: int
    added: tuple[Node, ...] = ()
    removed: tuple[str, ...] = ()
    changed: tuple[Node, ...] = ()
    unlisted: tuple[str, ...] = ()
    """Refs of nodes for which a full listing has no room now: not gone, as far as is known; their refs still work."""
    unchanged: int = 0


class DialogNote(Model):
    """A JavaScript dialog that is, or was, open."""

    dialog: str
    kind: str
    message: str = Field(default="", max_length=400)
    held: bool = False


class Observation(External):
    """A bounded semantic view of a page or of one subtree."""

    owner: str
    session: str
    page: PageId
    surface: Surface
    """``location`` is scrubbed: without user information, query and fragment."""
    epoch: int = Field(ge=1)
    fingerprint: str
    """Over location, title and the nodes' identities; equal for equal-looking observations of one document."""
    digest: str
    """Over everything a person would see, without refs, keys and the surface's own origin; equal across drivers."""
    observed_at: str
    expires_at: str
    """ISO 8601, UTC. After it, refs are refused with ``ref-expired``."""
    detail: Detail = Detail.CONTROLS
    scope: Scope | None = None
    nodes: tuple[Node, ...] = ()
    candidates: int = 0
    omitted: int = 0
    """Candidates that are observable but were cut by a budget."""
    cursor: str | None = None
    """Pass it to ``observe(cursor=...)`` for the next nodes; ``None`` when all were emitted."""
    hidden_matches: int = 0
    hidden_matches_partial: bool = False
    """Not all were looked at: a budget ran out, or there are so many matches (over 4,000) that those far away are not asked."""
    anchor: Anchor | None = None
    coverage: Coverage = Coverage()
    truncated: bool = False
    truncation_reasons: tuple[TruncationReason, ...] = ()
    limits: Limits
    delta: Delta | None = None
    frames: tuple[FrameNote, ...] = ()
    flags: tuple[ContentFlag, ...] = ()
    dialogs: tuple[DialogNote, ...] = ()
    redactions: int = 0
    """How many pieces of text were masked."""

    def find(self, *, role: str | None = None, name: str | None = None) -> Node | None:
        """The first listed node with this role and with ``name`` in its name (case-insensitive); ``None`` without one."""
        for node in self.nodes:
            if (role is None or node.role == role) and (name is None or name.casefold() in node.name.casefold()):
                return node
        return None

    def render(self, *, max_chars: int = DEFAULT_CHARS) -> str:
        """Compact indented text for a model, at most ``max_chars`` characters; no page text in it parses as a node's line."""
        return render(self, max_chars)


class ReadText(External):
    """Text or data read out of a node or page. Redacted and bounded."""

    owner: str
    session: str
    page: PageId
    ref: str | None = None
    kind: ReadKind = ReadKind.TEXT
    text: str = ""
    items: tuple[dict[str, str], ...] = ()
    total_items: int = 0
    truncated: bool = False
    withheld: bool = False
    flags: tuple[ContentFlag, ...] = ()


class Mark(Model):
    """One numbered box in a picture."""

    number: int
    ref: str
    box: Box
    """In pixels of the picture."""


class OmittedMark(Model):
    """A node without a box, and why."""

    ref: str
    reason: OmitReason


class Picture(External):
    """Pixels and boxes of the latest observation; no understanding."""

    owner: str
    session: str
    page: PageId
    png: bytes
    sha256: str
    width: int
    height: int
    scale_x: float = 1.0
    scale_y: float = 1.0
    quality: CaptureQuality = CaptureQuality.UNKNOWN
    marks: tuple[Mark, ...] = ()
    omitted: tuple[OmittedMark, ...] = ()
    epoch: int


class EvidenceEntry(Model):
    """One console, network, dialog, download, page or navigation event. Redacted; never headers, never bodies."""

    sequence: int
    at: str
    kind: str
    page: str = ""
    level: str = ""
    text: str = ""
    url: str = ""
    method: str = ""
    status: int | None = None
    resource: str = ""


class EvidenceReport(External):
    """Bounded evidence of a session, oldest first."""

    owner: str
    session: str
    entries: tuple[EvidenceEntry, ...] = ()
    dropped: int = 0
    """Events lost to a bounded queue, plus entries left out by the limit."""
    last_sequence: int = 0
    console_errors: int = 0
    network_failures: int = 0
