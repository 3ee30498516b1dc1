"""Words of a task and of code: identifiers come apart at case changes, so that ``getUserName`` meets "user name"."""

from __future__ import annotations

import re
from typing import Final

_PART: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|[0-9]+|[^\W\d_A-Za-z]+")
_STOP_WORDS: Final = """
    a an and are as at be been but by can could do does for from has have how i if in into is it its make may must my
    need no not of on or our please shall should so some that the their them then there these this to too up us use was
    we were what when where which who why will with would you your add added change changes fix fixed fixes bug issue
    update updates remove support new now also only just get set def class self return import none true false var let
    const function public private static void int str
"""
_STOP: Final = frozenset(_STOP_WORDS.split())


def words_of(text: str) -> list[str]:
    """Lower-case parts of every word and identifier, in order."""
    return " ".join(_PART.findall(text)).lower().split()


def query_of(text: str) -> list[str]:
    """The words of a task that carry meaning, each once, with singular and plural forms."""
    seen: dict[str, None] = {}
    for word in words_of(text):
        if len(word) < 2 or word in _STOP:
            continue
        seen.setdefault(word)
        if word.isascii() and len(word) > 3:
            seen.setdefault(word[:-1] if word.endswith("s") else word + "s")
            for ending in ("ing", "ed", "er", "ion"):
                if word.endswith(ending) and len(word) - len(ending) >= 4:
                    seen.setdefault(word[: -len(ending)])
    return list(seen)[:200]
