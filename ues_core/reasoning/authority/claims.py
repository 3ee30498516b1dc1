"""What a claim of authority looks like: a category and a short sequence of tags, read from ``terms/claims.toml``.

A pattern is words separated by blanks:
``A|B`` one phrase with one of these tags; a ``?`` after it: or none; ``@`` before it: the head, whose mood decides;
``-n`` up to n phrases within a clause; ``^n`` the same without a question word; ``~n`` up to n phrases of the sentence. No gap
steps over a negation, unless it ends in ``!``. ``!A|B``: what comes next is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Final, NamedTuple

from ues_core.contract import AuthorityClaim
from ues_core.reasoning.authority.tables import table
from ues_core.reasoning.authority.words import codes


class Claim(NamedTuple):
    """One shape of a claim."""

    category: AuthorityClaim
    pattern: re.Pattern[str]
    directive: bool
    """Whether it asks for something; otherwise it states something."""
    needs: tuple[frozenset[str], ...]
    """Sets of tags, from each of which a sentence must have one to be worth trying."""
    company: frozenset[str]
    """Tags of which the sentence must have one besides, if there are any."""
    without: frozenset[str]
    """Tags anywhere in the sentence that take the claim away."""
    asks: bool
    """Whether a question is such a claim too."""
    source: str


_BREAKS: Final = {
    "-": ("EDGE", "COMMA", "COLON", "NEG", "NEEDS", "ENSURE"),
    "^": ("EDGE", "COMMA", "COLON", "NEG", "NEEDS", "ENSURE", "WH"),
    "~": ("EDGE", "NEG", "NEEDS", "ENSURE"),
}
"""Tags over which a gap does not step."""


@lru_cache(maxsize=1)
def claims() -> tuple[Claim, ...]:
    """Every shape, in the order of the file."""
    return tuple(
        Claim(
            AuthorityClaim(row["category"]),
            re.compile(_regex(row["pattern"])),
            "@" in row["pattern"],
            _needs(row["pattern"]),
            frozenset(row.get("with", "").split()),
            frozenset(row.get("without", "").split()),
            bool(row.get("asks", False)),
            row["pattern"],
        )
        for row in table("claims")["claim"]
    )


@lru_cache(maxsize=1)
def _by_tag() -> Mapping[str, str]:
    found: dict[str, str] = {}
    for tags, code in codes().items():
        for tag in tags:
            found[tag] = found.get(tag, "") + code
    return found


def _class(names: str, *, negative: bool = False) -> str:
    chars = "".join(_by_tag().get(name, "") for name in names.split("|"))
    if not chars:
        return "[^\\s\\S]"
    return f"[{'^' if negative else ''}{re.escape(chars)}]"


def _regex(pattern: str) -> str:
    out = ""
    told = () if "@" in pattern else ("DESC",)
    for part in pattern.split():
        if part[0] in _BREAKS:
            kept = told + tuple(t for t in _BREAKS[part[0]] if not (part.endswith("!") and t == "NEG"))
            out += f"{_class('|'.join(kept), negative=True)}{{0,{int(part[1:].rstrip('!'))}}}?"
        elif part[0] == "!":
            out += f"(?!{_class(part[1:])})"
        elif part[0] == "@":
            out += f"(?P<head>{_class(part[1:])})"
        elif part.endswith("?"):
            out += f"{_class(part[:-1])}?"
        else:
            out += _class(part)
    return out


def _needs(pattern: str) -> tuple[frozenset[str], ...]:
    return tuple(
        frozenset(part.lstrip("@").split("|")) for part in pattern.split() if part[0] not in "-^~!" and not part.endswith("?")
    )
