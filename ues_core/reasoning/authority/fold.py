"""Text as a reader sees it, with the way back: every folded character knows which original character it came from.

Lower case, compatibility forms (NFKC), accents composed, invisible characters dropped, traditional Chinese characters written as
simplified ones. Look-alike letters and digits for letters are a matter of whole words: see ``words``.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ues_core.reasoning.authority.tables import traditional_to_simplified

INVISIBLE: Final = frozenset(
    map(
        chr,
        [
            *(0x00AD, 0x034F, 0x061C, 0x115F, 0x1160, 0x17B4, 0x17B5, 0x180E, 0x3164, 0xFEFF, 0xFFA0),
            *range(0x180B, 0x1810),
            *range(0x200B, 0x2010),
            *range(0x202A, 0x202F),
            *range(0x2060, 0x2070),
            *range(0xE0000, 0xE0080),
            *range(0xFE00, 0xFE10),
            *range(0xE0100, 0xE01F0),
        ],
    )
)
"""Characters of which a reader sees nothing."""
_SAME: Final = {
    "\u2019": "'",
    "\u2018": "'",
    "\u02bc": "'",
    "\u2032": "'",
    "\u00b4": "'",
    "\u0131": "i",
    "\u2010": "-",
    "\u2011": "-",
}


class Folded(NamedTuple):
    """A folded text and, for each of its characters, the index of the original one."""

    text: str
    origin: Sequence[int]


def is_invisible(char: str) -> bool:
    """Whether a reader sees nothing of this character."""
    return char in INVISIBLE


def fold(text: str) -> Folded:
    """The folded text. Never raises; folding a folded text changes nothing."""
    if text.isascii():
        return Folded(text.lower(), range(len(text)))
    plain = list(map(_folded, text))
    if max(map(len, plain)) == 1 == min(map(len, plain)) and not any("\u0300" <= one <= "\u036f" for one in set(plain)):
        return Folded("".join(plain), range(len(text)))
    out: list[str] = []
    origin: list[int] = []
    for index, one_or_more in enumerate(plain):
        for one in one_or_more:
            if "\u0300" <= one <= "\u036f":
                _compose(out, one)
            else:
                out.append(one)
                origin.append(index)
    return Folded("".join(out), origin)


def bare(word: str) -> str:
    """A word without the marks on its letters: what is left when somebody types without accents, or piles them up."""
    if word.isascii():
        return word
    stripped = "".join(c for c in unicodedata.normalize("NFD", word) if not "\u0300" <= c <= "\u036f")
    return unicodedata.normalize("NFC", stripped).translate(_STROKES)


_STROKES: Final = str.maketrans("đłøı", "dloi")


def _compose(out: list[str], mark: str) -> None:
    """Put a combining mark on the last letter where Unicode has such a letter; otherwise it is decoration and goes."""
    if out:
        composed = unicodedata.normalize("NFC", out[-1] + mark)
        if len(composed) == 1:
            out[-1] = composed


@lru_cache(maxsize=8192)
def _folded(char: str) -> str:
    if char < "\x80":
        return char.lower()
    if char in INVISIBLE:
        return ""
    if char in _SAME:
        return _SAME[char]
    plain = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", char).casefold())
    kept = "".join(c for c in plain if c not in INVISIBLE)
    return unicodedata.normalize("NFC", kept.translate(traditional_to_simplified()))
