"""Chords: what a keyboard would send, and what names no key."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.web.keys import MODIFIER_BITS, modifier_stroke, parse_chord


@pytest.mark.parametrize(
    ("chord", "key", "code", "virtual", "text", "bits"),
    [
        ("a", "a", "KeyA", 65, "a", 0),
        ("Shift+a", "A", "KeyA", 65, "A", 8),
        ("Control+a", "a", "KeyA", 65, "", 2),
        ("ctrl+Shift+ArrowLeft", "ArrowLeft", "ArrowLeft", 37, "", 10),
        ("Enter", "Enter", "Enter", 13, "\r", 0),
        ("return", "Enter", "Enter", 13, "\r", 0),
        ("Control+Enter", "Enter", "Enter", 13, "", 2),
        ("7", "7", "Digit7", 55, "7", 0),
        ("!", "!", "Digit1", 49, "!", 0),
        ("+", "+", "Equal", 187, "+", 0),
        ("Control++", "+", "Equal", 187, "", 2),
        ("Space", " ", "Space", 32, " ", 0),
        ("F12", "F12", "F12", 123, "", 0),
        ("é", "é", "", 0, "é", 0),
        ("Meta+Alt+q", "q", "KeyQ", 81, "", 5),
    ],
)
def test_a_chord_is_what_the_keyboard_would_send(chord: str, key: str, code: str, virtual: int, text: str, bits: int) -> None:
    stroke = parse_chord(chord)
    assert stroke is not None
    assert (stroke.key, stroke.code, stroke.virtual, stroke.text, stroke.bits) == (key, code, virtual, text, bits)
    assert ("text" in stroke.fields()) is bool(text)


@pytest.mark.parametrize("chord", ["", "Nope", "Control+", "a+b", "Control+Control+a", "Hyper+a", "\x00", "++", "ab"])
def test_what_names_no_key_is_none(chord: str) -> None:
    assert parse_chord(chord) is None


@given(st.text(max_size=80))
def test_any_text_is_a_stroke_or_none(chord: str) -> None:
    stroke = parse_chord(chord)
    assert stroke is None or (stroke.key and 0 <= stroke.bits <= 15)


def test_every_modifier_has_a_key() -> None:
    assert {modifier_stroke(name).virtual for name in MODIFIER_BITS} == {16, 17, 18, 91}
