"""Text as a reader sees it: compatibility forms, look-alike letters and invisible characters folded away."""

from __future__ import annotations

import unicodedata
from typing import Final

_LOOK_ALIKES: Final = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0455\u0458\u0501\u051b\u051d\u04bb\u0261\u03bf\u03b1\u03b5\u03b9\u03ba\u03bd\u03c1\u03c5\u0131\u2019\u2018",
    "aeopcyxisjdlwhgoaeikvpui''",
)
"""Cyrillic and Greek letters that are drawn like Latin ones. Applied only to words that mix scripts."""

_INVISIBLE: Final = frozenset(
    [
        *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
        *range(0x200B, 0x2010),
        *range(0x202A, 0x202F),
        *range(0x2060, 0x2070),
        *range(0xE0000, 0xE0080),
        *range(0xFE00, 0xFE0F),
    ]
)
_DROP: Final = dict.fromkeys(_INVISIBLE)
_TELLING: Final = frozenset([*range(0x202A, 0x202F), *range(0x2066, 0x206A), *range(0xE0000, 0xE0080)])
"""Direction overrides and tag characters: nobody writes these into advice by accident."""


def fold(text: str) -> str:
    """Lower-case, NFKC, invisible characters dropped, look-alikes folded inside of mixed words, blanks collapsed."""
    plain = unicodedata.normalize("NFKC", text).translate(_DROP).casefold()
    if not plain.isascii():
        plain = " ".join(_unmix(word) for word in plain.split(" "))
    return " ".join(plain.split())


def _unmix(word: str) -> str:
    if word.isascii():
        return word
    folded = word.translate(_LOOK_ALIKES)
    return folded if folded.isascii() or any("a" <= c <= "z" for c in word) else word


def hidden_characters(text: str) -> str:
    """The invisible characters that hide text: any direction override or tag character, or three others in a row."""
    if text.isascii():
        return ""
    run = 0
    for char in text:
        code = ord(char)
        if code in _TELLING:
            return f"U+{code:04X}"
        run = run + 1 if code in _INVISIBLE else 0
        if run >= 3:
            return f"U+{code:04X} repeated"
    return ""
