from __future__ import annotations

from typing import Any

import pytest

from ues_core.contract import ACTION_ADAPTER, DriverCapabilities, NotSupported
from ues_core.contract.codes import Code
from ues_core.contract.words import ReadKind, Verb
from ues_core.policy import require_for_action, required_capabilities

EVERYTHING = DriverCapabilities(
    navigation=True,
    pages=True,
    uploads=True,
    dialogs=True,
    capture=True,
    content=True,
    reads=tuple(ReadKind),
    gestures=("click", "hover", "fill", "type", "press", "select", "scroll", "drag", "upload"),
)
ARGUMENTS: dict[Verb, dict[str, Any]] = {
    Verb.NAVIGATE: {"url": "https://example.test"},
    Verb.FILL: {"text": "x"},
    Verb.TYPE: {"text": "x"},
    Verb.PRESS: {"key": "Enter"},
    Verb.SELECT: {"option": "x"},
    Verb.DRAG: {"to": "r2"},
    Verb.UPLOAD: {"files": ["x"]},
    Verb.ANSWER_DIALOG: {"dialog": "d", "accept": True},
}
REFLESS = {
    Verb.NAVIGATE, Verb.RELOAD, Verb.BACK, Verb.FORWARD, Verb.CLOSE_PAGE, Verb.WAIT, Verb.OBSERVE, Verb.EXTRACT, Verb.SEE,
    Verb.EVIDENCE, Verb.CLOSE, Verb.ANSWER_DIALOG,
}  # fmt: skip


def action(verb: Verb, **more: Any) -> Any:
    ref = {} if verb in REFLESS else {"ref": "r1"}
    return ACTION_ADAPTER.validate_python({"verb": verb, **ref, **ARGUMENTS.get(verb, {}), **more})


@pytest.mark.parametrize("verb", sorted(Verb))
def test_a_driver_that_declares_everything_may_try_every_verb(verb: Verb) -> None:
    require_for_action(action(verb), EVERYTHING, "full")


@pytest.mark.parametrize(
    ("verb", "more", "capability"),
    [
        (Verb.NAVIGATE, {}, "navigation"),
        (Verb.BACK, {}, "navigation"),
        (Verb.CLOSE_PAGE, {}, "pages"),
        (Verb.UPLOAD, {}, "uploads"),
        (Verb.ANSWER_DIALOG, {}, "dialogs"),
        (Verb.SEE, {}, "capture"),
        (Verb.OBSERVE, {"detail": "content"}, "content"),
        (Verb.EXTRACT, {"kind": "tables"}, "reads.tables"),
        (Verb.CLICK, {}, "gestures.click"),
        (Verb.DOUBLE_CLICK, {}, "gestures.click"),
        (Verb.PURCHASE, {}, "gestures.click"),
        (Verb.DRAG, {}, "gestures.drag"),
        (Verb.SCROLL, {}, "gestures.scroll"),
    ],
)
def test_what_is_not_declared_is_refused_by_name(verb: Verb, more: dict[str, Any], capability: str) -> None:
    with pytest.raises(NotSupported) as caught:
        require_for_action(action(verb, **more), DriverCapabilities(), "bare")
    assert caught.value.code is Code.NOT_SUPPORTED
    assert caught.value.details["capability"] == capability
    assert capability in caught.value.sentence
    assert "bare" in caught.value.sentence


@pytest.mark.parametrize("verb", [Verb.OBSERVE, Verb.WAIT, Verb.EVIDENCE, Verb.CLOSE, Verb.READ, Verb.INSPECT])
def test_what_every_driver_can_do_needs_nothing(verb: Verb) -> None:
    require_for_action(action(verb), DriverCapabilities(), "bare")


def test_every_named_capability_is_a_field_of_the_contract() -> None:
    for verb in Verb:
        for name in required_capabilities(action(verb)):
            assert name.partition(".")[0] in DriverCapabilities.model_fields
