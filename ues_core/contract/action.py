"""Actions: what a host may ask a session to do, one model per verb, joined by the field ``verb``."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import ConfigDict, Field, TypeAdapter

from ues_core.contract._base import Model
from ues_core.contract.words import Detail, Direction, ExpectKind, Modifier, PointerButton, ReadKind, Tristate, Verb, WaitUntil

Ref = Annotated[str, Field(min_length=1, max_length=128)]
"""An opaque ref out of an observation. Never a selector, never an index."""


class Expectation(Model):
    """A state that the host expects to see after an action; what was not seen is ``unverified``, never success."""

    kind: ExpectKind
    text: str = Field(default="", max_length=2_000)
    """URL prefix, text, title, or the name of a node."""
    role: str = Field(default="", max_length=60)
    ref: str | None = Field(default=None, max_length=128)
    state: str = Field(default="", max_length=40)
    """For ``node-state``: checked, selected, expanded, pressed, disabled, ..."""
    value: Tristate | str | None = None
    required: bool = True


class _Action(Model):
    page: str | None = Field(default=None, max_length=64)
    """The page meant; ``None`` is the session's first page (or, for actions on a ref, the ref's page)."""
    idempotency_key: str | None = Field(default=None, max_length=200)
    """A duplicate of an external side effect with the same key is refused, also after a crash."""


class _OnRef(_Action):
    ref: Ref


class Click(_OnRef):
    """Click a node."""

    verb: Literal[Verb.CLICK] = Verb.CLICK
    button: PointerButton = PointerButton.LEFT
    modifiers: tuple[Modifier, ...] = ()


class DoubleClick(_OnRef):
    """Double-click a node."""

    verb: Literal[Verb.DOUBLE_CLICK] = Verb.DOUBLE_CLICK
    modifiers: tuple[Modifier, ...] = ()


class Hover(_OnRef):
    """Hold the pointer over a node."""

    verb: Literal[Verb.HOVER] = Verb.HOVER


class Fill(_OnRef):
    """Replace a node's text (at most 10,000 characters)."""

    verb: Literal[Verb.FILL] = Verb.FILL
    text: str = Field(max_length=10_000)


class Type(_OnRef):
    """Type text at the caret of a node."""

    verb: Literal[Verb.TYPE] = Verb.TYPE
    text: str = Field(max_length=10_000)


class Press(_Action):
    """Press a key or chord on a node, or on whatever has focus."""

    verb: Literal[Verb.PRESS] = Verb.PRESS
    ref: Ref | None = None
    key: str = Field(min_length=1, max_length=80)


class Select(_OnRef):
    """Choose an option of a native select: by label first, by exact value second; ambiguity fails."""

    verb: Literal[Verb.SELECT] = Verb.SELECT
    option: str = Field(max_length=1_000)


class Scroll(_Action):
    """Bring a node into view, or scroll the page (or, with ``ref``, its scroller) in a direction."""

    verb: Literal[Verb.SCROLL] = Verb.SCROLL
    ref: Ref | None = None
    direction: Direction | None = None
    amount: float | None = Field(default=None, ge=0, le=100_000)


class Drag(_OnRef):
    """Drag one node onto another."""

    verb: Literal[Verb.DRAG] = Verb.DRAG
    to: Ref


class Upload(_OnRef):
    """Give files to a file input; the core stages copies."""

    verb: Literal[Verb.UPLOAD] = Verb.UPLOAD
    files: tuple[str, ...] = Field(min_length=1, max_length=20)


class AnswerDialog(_Action):
    """Answer a held JavaScript dialog."""

    verb: Literal[Verb.ANSWER_DIALOG] = Verb.ANSWER_DIALOG
    dialog: str = Field(min_length=1, max_length=64)
    accept: bool
    text: str = Field(default="", max_length=2_000)


class Navigate(_Action):
    """Go to a URL."""

    verb: Literal[Verb.NAVIGATE] = Verb.NAVIGATE
    url: str = Field(min_length=1, max_length=4_096)
    wait_until: WaitUntil = WaitUntil.DOM_CONTENT_LOADED


class Reload(_Action):
    """Load the page again."""

    verb: Literal[Verb.RELOAD] = Verb.RELOAD


class Back(_Action):
    """Go one entry back in the page's history."""

    verb: Literal[Verb.BACK] = Verb.BACK


class Forward(_Action):
    """Go one entry forward in the page's history."""

    verb: Literal[Verb.FORWARD] = Verb.FORWARD


class ClosePage(_Action):
    """Close a page of the session."""

    verb: Literal[Verb.CLOSE_PAGE] = Verb.CLOSE_PAGE


class Wait(_Action):
    """Wait for expected states, or for a number of seconds."""

    verb: Literal[Verb.WAIT] = Verb.WAIT
    seconds: float = Field(default=1.0, ge=0, le=60)
    until: tuple[Expectation, ...] = Field(default=(), max_length=8)


class Observe(_Action):
    """Observe through the action path (for lanes); a session's own ``observe`` returns the observation."""

    verb: Literal[Verb.OBSERVE] = Verb.OBSERVE
    within: Ref | None = None
    detail: Detail = Detail.CONTROLS


class Inspect(_OnRef):
    """Look at one node's live facts."""

    verb: Literal[Verb.INSPECT] = Verb.INSPECT


class Read(_OnRef):
    """Read a node's text."""

    verb: Literal[Verb.READ] = Verb.READ
    limit: int = Field(default=4_000, ge=1, le=200_000)


class Extract(_Action):
    """Extract data from a node or the page."""

    verb: Literal[Verb.EXTRACT] = Verb.EXTRACT
    ref: Ref | None = None
    kind: ReadKind = ReadKind.TEXT


class See(_Action):
    """Take a picture."""

    verb: Literal[Verb.SEE] = Verb.SEE


class Evidence(_Action):
    """Collect console and network evidence."""

    verb: Literal[Verb.EVIDENCE] = Verb.EVIDENCE


class Close(_Action):
    """Close the session."""

    verb: Literal[Verb.CLOSE] = Verb.CLOSE


class _External(_OnRef):
    """A click that the host itself declares to have an effect outside the surface: approval needed, never retried."""


class Submit(_External):
    """Submit a form."""

    verb: Literal[Verb.SUBMIT] = Verb.SUBMIT


class Purchase(_External):
    """Buy something."""

    verb: Literal[Verb.PURCHASE] = Verb.PURCHASE


class Payment(_External):
    """Pay."""

    verb: Literal[Verb.PAYMENT] = Verb.PAYMENT


class Delete(_External):
    """Delete something."""

    verb: Literal[Verb.DELETE] = Verb.DELETE


class DestructiveConfirm(_External):
    """Confirm something destructive."""

    verb: Literal[Verb.DESTRUCTIVE_CONFIRM] = Verb.DESTRUCTIVE_CONFIRM


class SendMessage(_External):
    """Send a message."""

    verb: Literal[Verb.SEND_MESSAGE] = Verb.SEND_MESSAGE


class CreateOrder(_External):
    """Create an order."""

    verb: Literal[Verb.CREATE_ORDER] = Verb.CREATE_ORDER


class Publish(_External):
    """Publish something."""

    verb: Literal[Verb.PUBLISH] = Verb.PUBLISH


class AccountMutation(_External):
    """Change an account."""

    verb: Literal[Verb.ACCOUNT_MUTATION] = Verb.ACCOUNT_MUTATION


Action = Annotated[
    Click
    | DoubleClick
    | Hover
    | Fill
    | Type
    | Press
    | Select
    | Scroll
    | Drag
    | Upload
    | AnswerDialog
    | Navigate
    | Reload
    | Back
    | Forward
    | ClosePage
    | Wait
    | Observe
    | Inspect
    | Read
    | Extract
    | See
    | Evidence
    | Close
    | Submit
    | Purchase
    | Payment
    | Delete
    | DestructiveConfirm
    | SendMessage
    | CreateOrder
    | Publish
    | AccountMutation,
    Field(discriminator="verb"),
]
"""One action; ``verb`` says which."""

ACTION_ADAPTER: TypeAdapter[Action] = TypeAdapter(Action, config=ConfigDict(defer_build=True))
"""Validates a plain mapping into an action."""
