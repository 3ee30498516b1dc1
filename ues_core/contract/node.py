"""The facts a driver hands over about one node. A driver judges nothing here; the core turns facts into nodes."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from pydantic import Field

from ues_core.contract._base import Model
from ues_core.contract.surface import Box, NodeKey
from ues_core.contract.words import HitStatus, NameSource, Tristate

NAME_LIMIT: Final = 180
"""Characters of a name or value, at most (reference: contract v9 of the browser seed)."""
DESCRIPTION_LIMIT: Final = 300
"""Characters of a description or of a content node's text, at most."""

IDENTITY_FIELDS: Final = (
    "role",
    "name",
    "tag",
    "input_type",
    "interactive",
    "editable",
    "disabled",
    "visible",
    "download",
    "href",
)
"""The inputs of a node's identity, in report order. Values, states, geometry and focus are no part of it."""


class Identity(Model):
    """What makes a node the node that was judged. A landing guard compares :meth:`canonical`, character for character."""

    role: str = ""
    name: str = ""
    tag: str = ""
    input_type: str = ""
    interactive: bool = False
    editable: bool = False
    disabled: bool = False
    visible: bool = True
    download: bool = False
    href: str = ""

    def canonical(self) -> str:
        """The ten fields as a compact JSON array in report order; the page-side collector builds the same text."""
        return json.dumps([getattr(self, f) for f in IDENTITY_FIELDS], ensure_ascii=False, separators=(",", ":"))

    @property
    def digest(self) -> str:
        """SHA-256 of the canonical text, 32 hex characters."""
        return hashlib.sha256(self.canonical().encode("utf-8", "surrogatepass")).hexdigest()[:32]

    def changed(self, other: Identity) -> tuple[str, ...]:
        """The fields that differ, in report order."""
        return tuple(f for f in IDENTITY_FIELDS if getattr(self, f) != getattr(other, f))


class OptionFacts(Model):
    """One option of a select."""

    label: str = Field(default="", max_length=400)
    value: str = Field(default="", max_length=400)
    selected: bool = False
    disabled: bool = False


class NodeStates(Model):
    """ARIA states and properties; ``None`` means that the node does not have the state at all."""

    checked: Tristate | None = None
    pressed: Tristate | None = None
    selected: bool | None = None
    expanded: bool | None = None
    readonly: bool | None = None
    required: bool | None = None
    invalid: bool | None = None
    busy: bool | None = None
    modal: bool | None = None
    focused: bool | None = None
    multiselectable: bool | None = None
    current: str | None = Field(default=None, max_length=40)
    level: int | None = None
    value_min: float | None = None
    value_max: float | None = None
    value_now: float | None = None
    value_text: str | None = Field(default=None, max_length=400)
    position_in_set: int | None = None
    set_size: int | None = None


class NodeFacts(Model):
    """One observable node, under its private key.

    Names, values and descriptions are already normalised and cut by the collector, but not yet redacted.
    """

    key: NodeKey
    parent: int | None = None
    parent_key: NodeKey | None = None
    """The parent when a cursor's earlier page listed it; ``parent`` is then ``None``."""
    """Index, in the same list, of the nearest emitted ancestor in the composed tree; always smaller than the own index."""
    frame_origin: str = ""
    """Origin of the node's frame; empty in the main frame."""

    role: str = Field(default="", max_length=60)
    name: str = Field(default="", max_length=400)
    name_source: NameSource = NameSource.CONTENT
    description: str = Field(default="", max_length=600)
    tag: str = Field(default="", max_length=60)
    input_type: str = Field(default="", max_length=40)
    interactive: bool = False
    editable: bool = False
    disabled: bool = False
    visible: bool = True
    in_viewport: bool = False
    download: bool = False
    href: str = Field(default="", max_length=2000)
    """Link target: http(s) only, without user information, query and fragment."""
    content: bool = False
    """Static text rather than a control (``Detail.CONTENT``)."""

    value: str | None = Field(default=None, max_length=400)
    value_truncated: bool = False
    secret: bool = False
    """A password, a one-time code, a card field or the like: its value was withheld, never read."""
    placeholder: str = Field(default="", max_length=400)
    autocomplete: str = Field(default="", max_length=200)
    states: NodeStates = NodeStates()
    options: tuple[OptionFacts, ...] = ()
    options_total: int = 0
    group: str = Field(default="", max_length=400)
    """Legend, radio group, row and column headers: the context in which the name is meant."""
    popup: str = Field(default="", max_length=40)
    """aria-haspopup."""
    keyshortcuts: str = Field(default="", max_length=120)
    form_action: str = Field(default="", max_length=2000)
    """Where the node's form would go, scrubbed like ``href``."""
    form_method: str = Field(default="", max_length=10)
    submits: bool = False
    """Activating it submits a form."""
    test_id: str = Field(default="", max_length=200)
    dom_id: str = Field(default="", max_length=200)
    bindable: bool = True
    """False when the collector could not keep the node itself."""
    box: Box | None = None
    occluded: bool | None = None
    """``None`` when not hit-tested."""

    def identity(self) -> Identity:
        """The identity facts among these."""
        return Identity(**{f: getattr(self, f) for f in IDENTITY_FIELDS})


class HitTest(Model):
    """What a pointer aimed at the node would meet."""

    status: HitStatus
    x: float = 0.0
    y: float = 0.0
    covered_by: str = Field(default="", max_length=300)
    """A short description of what covers it: role or tag, id, first class, label."""


class Inspection(Model):
    """Live facts of one node."""

    connected: bool
    facts: NodeFacts | None = None
    """``None`` when the node is no longer connected."""
    hit: HitTest | None = None
    surface_document: str = ""
    """The page's main document at the moment of inspection."""
    form_digest: str = ""
    """SHA-256 (32 hex) over names and values of the node's form, secret values left out by their names; empty without form."""
