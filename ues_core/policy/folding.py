"""Folding text so that what looks the same compares the same, in any script.

A page chooses its words freely, so a term must be found however it is spelled: full-width or styled letters (NFKC), any case,
zero-width characters inside, Cyrillic or Greek letters in a Latin word and the other way round, letters spaced out.
Terms and text go through the same function; a fold is never shown to anybody.
"""

from __future__ import annotations

import re
import unicodedata
from typing import Final, NamedTuple

TEXT_LIMIT: Final = 4_000
"""Characters of a text that are folded; names and descriptions are cut far below by the collector."""

_LOOKALIKES: Final = str.maketrans(
    "аеорсухіјѕԁԛԝһквнмтз" + "αβεικνορτυχηζγμ" + "ıɪɡɑʏłøđðƿ" + "օսհո",
    "aeopcyxijsdqwhkbhmt3" + "abeikvoptuxnzym" + "iigayloddp" + "ouhn",
)
"""Letters that pass for a Latin one after case folding: Cyrillic, Greek, Latin variants, Armenian."""

_INVISIBLE: Final = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u180b\u180c\u180d\u180f\u3164\uffa0")
_VARIATION = re.compile("[\ufe00-\ufe0f\U000e0100-\U000e01ef]")
_SPACED_OUT = re.compile(r"(?<= )(?:[^\W\d_] ){3,}[^\W\d_](?= )")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


class Folded(NamedTuple):
    """One text in the three forms in which terms are sought."""

    accented: str
    """Words, each between single blanks, with one blank before and after; accents kept."""
    bare: str
    """The same without accents."""
    tight: str
    """Letters, digits and signs without any blank, for scripts that do not separate words."""


def fold(text: str, limit: int = TEXT_LIMIT) -> Folded:
    """The three folded forms of a text; everything beyond ``limit`` characters is ignored."""
    if text.isascii():
        words = _words(text[:limit].lower())
        return Folded(words, words, words.replace(" ", ""))
    visible = "".join(c for c in unicodedata.normalize("NFKC", text[:limit]) if not _is_invisible(c))
    lowered = unicodedata.normalize("NFKC", visible.casefold())
    accented = lowered.translate(_LOOKALIKES)
    stripped = "".join(c for c in unicodedata.normalize("NFD", lowered) if unicodedata.category(c) != "Mn")
    bare = unicodedata.normalize("NFC", stripped).translate(_LOOKALIKES)
    tight = "".join(c for c in accented if not c.isspace() and unicodedata.category(c)[0] not in "PCZ")
    return Folded(_words(accented), _words(bare), tight)


def split_identifier(text: str) -> str:
    """An identifier (``deleteAccount``, ``delete-account_btn``) as words."""
    return re.sub(r"[-_.:/]+", " ", _CAMEL.sub(" ", text))


def _is_invisible(char: str) -> bool:
    return unicodedata.category(char) == "Cf" or char in _INVISIBLE or _VARIATION.match(char) is not None


def _words(text: str) -> str:
    spaced = "".join(c if unicodedata.category(c)[0] in "LNM" else " " for c in text)
    padded = f" {' '.join(spaced.split())} "
    return _SPACED_OUT.sub(lambda match: match[0].replace(" ", ""), padded)
