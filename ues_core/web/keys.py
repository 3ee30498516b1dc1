"""Keys and chords: what a keyboard with the US layout would send."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

MODIFIER_BITS: Final = {"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}
"""The protocol's bit field of modifiers."""

_ALIASES: Final = {
    "ctrl": "Control",
    "control": "Control",
    "cmd": "Meta",
    "command": "Meta",
    "meta": "Meta",
    "alt": "Alt",
    "option": "Alt",
    "shift": "Shift",
    "esc": "Escape",
    "return": "Enter",
    "del": "Delete",
    "space": " ",
    "spacebar": " ",
    "up": "ArrowUp",
    "down": "ArrowDown",
    "left": "ArrowLeft",
    "right": "ArrowRight",
}

# key -> (code, virtual key code, text); the codes are those of the UI Events specification and of Windows.
_NAMED: Final[dict[str, tuple[str, int, str]]] = {
    "Enter": ("Enter", 13, "\r"),
    "Tab": ("Tab", 9, ""),
    "Backspace": ("Backspace", 8, ""),
    "Delete": ("Delete", 46, ""),
    "Escape": ("Escape", 27, ""),
    "Insert": ("Insert", 45, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
    "PageUp": ("PageUp", 33, ""),
    "PageDown": ("PageDown", 34, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "ContextMenu": ("ContextMenu", 93, ""),
    "Control": ("ControlLeft", 17, ""),
    "Shift": ("ShiftLeft", 16, ""),
    "Alt": ("AltLeft", 18, ""),
    "Meta": ("MetaLeft", 91, ""),
    " ": ("Space", 32, " "),
    **{f"F{n}": (f"F{n}", 111 + n, "") for n in range(1, 13)},
}

_PUNCTUATION: Final = {
    **dict.fromkeys(";:", ("Semicolon", 186)),
    **dict.fromkeys("=+", ("Equal", 187)),
    **dict.fromkeys(",<", ("Comma", 188)),
    **dict.fromkeys("-_", ("Minus", 189)),
    **dict.fromkeys(".>", ("Period", 190)),
    **dict.fromkeys("/?", ("Slash", 191)),
    **dict.fromkeys("`~", ("Backquote", 192)),
    **dict.fromkeys("[{", ("BracketLeft", 219)),
    **dict.fromkeys("\\|", ("Backslash", 220)),
    **dict.fromkeys("]}", ("BracketRight", 221)),
    **dict.fromkeys("'\"", ("Quote", 222)),
    **{shown: (f"Digit{digit}", 48 + digit) for digit, shown in enumerate(")!@#$%^&*(")},
}


@dataclass(frozen=True, slots=True)
class Stroke:
    """One key, with the modifiers that are held while it is pressed."""

    key: str
    code: str
    virtual: int
    text: str
    modifiers: tuple[str, ...] = ()

    @property
    def bits(self) -> int:
        """The modifiers as the protocol's bit field."""
        return sum(MODIFIER_BITS[modifier] for modifier in self.modifiers)

    def fields(self, *, bits: int | None = None) -> dict[str, Any]:
        """The protocol's fields for this key."""
        fields: dict[str, Any] = {
            "key": self.key,
            "code": self.code,
            "windowsVirtualKeyCode": self.virtual,
            "modifiers": self.bits if bits is None else bits,
        }
        if self.text:
            fields["text"] = self.text
        return fields


def parse_chord(chord: str) -> Stroke | None:
    """A chord such as ``Enter``, ``a`` or ``Control+Shift+ArrowLeft``; ``None`` when it names no key.

    A single character may be any printable one; a plus sign is written as it is, also behind modifiers (``Control++``).
    """
    parts = _split(chord)
    if not parts:
        return None
    modifiers = []
    for part in parts[:-1]:
        modifier = _ALIASES.get(part.lower(), part)
        if modifier not in MODIFIER_BITS or modifier in modifiers:
            return None
        modifiers.append(modifier)
    return _stroke(parts[-1], tuple(modifiers))


def modifier_stroke(name: str) -> Stroke:
    """The key of a modifier."""
    code, virtual, _ = _NAMED[name]
    return Stroke(name, code, virtual, "")


def _split(chord: str) -> list[str]:
    if chord in ("", "+"):
        return [chord] if chord else []
    if chord.endswith("++"):
        head = chord[:-2]
        return [*head.split("+"), "+"] if head else []
    parts = chord.split("+")
    return parts if all(parts) else []


def _stroke(key: str, modifiers: tuple[str, ...]) -> Stroke | None:
    name = key if len(key) == 1 else _ALIASES.get(key.lower(), key)
    silent = any(modifier != "Shift" for modifier in modifiers)
    if name in _NAMED:
        code, virtual, text = _NAMED[name]
        return Stroke(name, code, virtual, "" if silent else text, modifiers)
    if len(name) != 1 or not name.isprintable():
        return None
    if name.isascii() and name.isalpha():
        shown = name.upper() if "Shift" in modifiers else name
        return Stroke(shown, f"Key{name.upper()}", ord(name.upper()), "" if silent else shown, modifiers)
    if name.isascii() and name.isdigit():
        return Stroke(name, f"Digit{name}", ord(name), "" if silent else name, modifiers)
    code, virtual = _PUNCTUATION.get(name, ("", 0))
    return Stroke(name, code, virtual, "" if silent else name, modifiers)
