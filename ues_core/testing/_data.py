"""What an in-memory surface is made of, as data: pages, nodes, effects, faults."""

from __future__ import annotations

from typing import Annotated, Final, Literal

from pydantic import Field, model_validator

from ues_core.contract import DialogKind, HitStatus, Model, NodeStates, OptionFacts

METHODS: Final = (
    "open",
    "surface",
    "collect",
    "inspect",
    "dispatch",
    "read",
    "coverage",
    "navigate",
    "back",
    "forward",
    "reload",
    "pages",
    "close_page",
    "watch",
    "answer_dialog",
    "drain",
)
"""The calls at which a fault can be injected. ``close`` is not among them: it never raises and never waits."""

_INTERACTIVE: Final = frozenset(
    {
        "button",
        "checkbox",
        "combobox",
        "link",
        "listbox",
        "menuitem",
        "option",
        "radio",
        "searchbox",
        "slider",
        "spinbutton",
        "switch",
        "tab",
        "textbox",
    }
)
_EDITABLE: Final = frozenset({"searchbox", "spinbutton", "textbox"})
_TAGS: Final = {
    "button": "button",
    "checkbox": "input",
    "combobox": "select",
    "form": "form",
    "heading": "h2",
    "link": "a",
    "paragraph": "p",
    "radio": "input",
    "searchbox": "input",
    "textbox": "input",
}


class SetText(Model):
    """Replace the value of an editable node, or the name of another."""

    kind: Literal["set-text"] = "set-text"
    node: str
    text: str


class SetState(Model):
    """Set one field of a node: a state (``checked``, ``expanded``, ...), ``disabled``, ``visible`` or ``hit``."""

    kind: Literal["set-state"] = "set-state"
    node: str
    state: str
    value: bool | str | int | None = None
    """``None`` toggles a state that is true or false."""


class Increment(Model):
    """Add one to the first whole number in a node's name."""

    kind: Literal["increment"] = "increment"
    node: str


class AddNode(Model):
    """Put a node at the end of another one, or of the document when ``into`` is empty."""

    kind: Literal["add-node"] = "add-node"
    node: MemoryNode
    into: str = ""


class RemoveNode(Model):
    """Take a node and everything in it out of the document."""

    kind: Literal["remove-node"] = "remove-node"
    node: str


class GoTo(Model):
    """Navigate the page, through the gate."""

    kind: Literal["go-to"] = "go-to"
    url: str


class OpenPage(Model):
    """Open another page, through the gate."""

    kind: Literal["open-page"] = "open-page"
    url: str


class ShowDialog(Model):
    """Show a dialog; dismissed at once, or held until it is answered, as the session was opened."""

    kind: Literal["show-dialog"] = "show-dialog"
    dialog: DialogKind = DialogKind.CONFIRM
    message: str = ""
    on_accept: tuple[MemoryEffect, ...] = ()
    on_dismiss: tuple[MemoryEffect, ...] = ()
    answer_into: str = ""
    """The node that takes the text of an accepted prompt."""


class Log(Model):
    """Write a line to the page's console."""

    kind: Literal["log"] = "log"
    text: str
    level: str = "info"


class After(Model):
    """Do something later, if the document still lives then."""

    kind: Literal["after"] = "after"
    seconds: float = Field(ge=0, le=60)
    effects: tuple[MemoryEffect, ...]


MemoryEffect = Annotated[
    SetText | SetState | Increment | AddNode | RemoveNode | GoTo | OpenPage | ShowDialog | Log | After,
    Field(discriminator="kind"),
]
"""What an input does to the surface."""


class MemoryNode(Model):
    """One node. ``interactive``, ``editable`` and ``tag`` follow from the role unless they are given."""

    role: str
    name: str = ""
    id: str = ""
    """How effects name it; empty means the name that it starts with."""
    tag: str = ""
    input_type: str = ""
    value: str | None = None
    secret: bool = False
    interactive: bool | None = None
    editable: bool | None = None
    disabled: bool = False
    visible: bool = True
    download: bool = False
    href: str = ""
    content: bool = False
    """Static text: listed in ``Detail.CONTENT`` observations only."""
    text: str = ""
    """More text than the name, for ``read``."""
    description: str = ""
    placeholder: str = ""
    autocomplete: str = ""
    group: str = ""
    test_id: str = ""
    form_action: str = ""
    form_method: str = ""
    submits: bool = False
    states: NodeStates = NodeStates()
    options: tuple[OptionFacts, ...] = ()
    max_length: int | None = None
    """Text beyond it is cut by the node itself, as a page would do."""
    hit: HitStatus = HitStatus.CLEAR
    covered_by: str = ""
    bindable: bool = True
    on_approach: tuple[MemoryEffect, ...] = ()
    """When a pointer is about to meet it: what was judged may not be what is met."""
    on_click: tuple[MemoryEffect, ...] = ()
    on_input: tuple[MemoryEffect, ...] = ()
    """After its text or its chosen option changed."""
    on_hover: tuple[MemoryEffect, ...] = ()
    on_press: dict[str, tuple[MemoryEffect, ...]] = {}
    """By chord. ``Enter`` and ``Space`` on a button or link click it, without being listed."""
    on_drop: dict[str, tuple[MemoryEffect, ...]] = {}
    """By the node it is dragged to."""
    children: tuple[MemoryNode, ...] = ()

    @property
    def is_interactive(self) -> bool:
        """Whether it takes input."""
        return self.role in _INTERACTIVE if self.interactive is None else self.interactive

    @property
    def is_editable(self) -> bool:
        """Whether it takes text."""
        able = self.role in _EDITABLE if self.editable is None else self.editable
        return able and not self.disabled and not self.states.readonly

    @property
    def tag_name(self) -> str:
        """Its tag."""
        return self.tag or _TAGS.get(self.role, "div")


class MemoryPage(Model):
    """One document, or (with ``redirect``) an address that leads to another."""

    url: str
    title: str = ""
    nodes: tuple[MemoryNode, ...] = ()
    status: int = 200
    redirect: str = ""
    hangs: bool = False
    """The address never answers."""
    on_load: tuple[MemoryEffect, ...] = ()
    closed_roots: int = Field(default=0, ge=0)
    """Closed shadow roots that a probe would find."""


class MemoryFaults(Model):
    """What goes wrong, for tests of whoever calls a driver. Names are methods of the session, or ``open``."""

    hang_on: frozenset[str] = frozenset()
    """Never answers: ends with ``DeadlineExceeded``, by cancellation, or with the session."""
    raise_on: frozenset[str] = frozenset()
    """Raises ``DriverError`` before anything happens."""
    raise_after: frozenset[str] = frozenset()
    """Does it, then raises ``DriverError``: the outcome is unknown to the caller."""
    leak_on: frozenset[str] = frozenset()
    """Raises a ``RuntimeError``, as a driver with a bug would."""
    crash_on: frozenset[str] = frozenset()
    """The surface crashes: this call and every later one raise ``DriverError`` with ``page-crashed``."""
    land_elsewhere: frozenset[str] = frozenset()
    """Kinds of gesture that land on another node."""
    after_calls: int = Field(default=0, ge=0)
    """How many calls of a method go well before its fault begins."""

    @model_validator(mode="after")
    def _known(self) -> MemoryFaults:
        named = self.hang_on | self.raise_on | self.raise_after | self.leak_on | self.crash_on
        unknown = sorted(named - set(METHODS))
        if unknown:
            raise ValueError(f"no such call: {', '.join(unknown)}; there are {', '.join(METHODS)}")
        return self


for _model in (AddNode, ShowDialog, After, MemoryNode, MemoryPage):
    _model.model_rebuild()
