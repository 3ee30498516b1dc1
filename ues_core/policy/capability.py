"""What a driver must declare before an action is even tried. What is not declared is refused by name, never attempted."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from ues_core.contract import (
    Action,
    AnswerDialog,
    ClosePage,
    DriverCapabilities,
    Extract,
    NotSupported,
    Observe,
    Read,
    See,
    Upload,
)
from ues_core.contract.words import ActionClass, Detail, ReadKind, Verb
from ues_core.policy.taxonomy import TAXONOMY

_GESTURES: Final = {
    Verb.CLICK: "click",
    Verb.DOUBLE_CLICK: "click",
    Verb.HOVER: "hover",
    Verb.FILL: "fill",
    Verb.TYPE: "type",
    Verb.PRESS: "press",
    Verb.SELECT: "select",
    Verb.SCROLL: "scroll",
    Verb.DRAG: "drag",
    Verb.UPLOAD: "upload",
}


def required_capabilities(action: Action) -> tuple[str, ...]:
    """What ``action`` needs: names of ``DriverCapabilities``' fields, or ``gestures.<kind>``, ``reads.<kind>``."""
    return tuple(_required(action))


def declares(capabilities: DriverCapabilities, name: str) -> bool:
    """Whether a capability of :func:`required_capabilities` is declared."""
    field, _, member = name.partition(".")
    value = getattr(capabilities, field)
    return member in [str(v) for v in value] if member else bool(value)


def require_for_action(action: Action, capabilities: DriverCapabilities, driver: str) -> None:
    """Raise ``NotSupported`` with the first capability that ``action`` needs and the driver does not declare."""
    for name in _required(action):
        if not declares(capabilities, name):
            raise NotSupported(
                f"The driver '{driver}' does not declare '{name}', which '{action.verb}' needs.",
                next_step="Choose a driver that declares it (ues plugins list shows each driver's capabilities).",
                details={"capability": name, "driver": driver, "verb": str(action.verb)},
            )


def _required(action: Action) -> Iterator[str]:
    verb = Verb(action.verb)
    row = TAXONOMY[verb]
    if row.navigates:
        yield "navigation"
    gesture = "click" if row.action_class is ActionClass.EXTERNAL_SIDE_EFFECT else _GESTURES.get(verb)
    match action:
        case ClosePage():
            yield "pages"
        case AnswerDialog():
            yield "dialogs"
        case Upload():
            yield "uploads"
        case See():
            yield "capture"
        case Read():
            yield f"reads.{ReadKind.TEXT}"
        case Extract(kind=kind):
            yield f"reads.{kind}"
        case Observe(detail=Detail.CONTENT):
            yield "content"
        case _:
            pass
    if gesture is not None:
        yield f"gestures.{gesture}"
