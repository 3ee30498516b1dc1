"""What a claim of authority looks like: a category and a short sequence of tags, read from ``terms/claims_*.toml``.

A pattern is words separated by blanks:
``A|B`` one phrase with one of these tags; a ``?`` after it: or none; ``@`` before it: the head, whose mood decides;
``-n`` up to n phrases within a clause; ``^n`` the same without a question word; ``~n`` up to n phrases of the sentence. No gap
steps over a negation, unless it ends in ``!``. ``!A|B``: what comes next is none of these.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence, Set
from functools import lru_cache
from typing import Final, NamedTuple

from ues_core.contract import AuthorityClaim
from ues_core.reasoning.authority.tables import lists
from ues_core.reasoning.authority.words import codes


class Claim(NamedTuple):
    """One shape of a claim."""

    category: AuthorityClaim
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
    weak: bool
    """Whether ordinary sentences often have it too: then it counts only if the learned layer does not doubt it."""
    source: str

    @property
    def pattern(self) -> re.Pattern[str]:
        """The shape as a regular expression over codes of tags."""
        return _compiled(self.source)


_BREAKS: Final = {
    "-": ("EDGE", "COMMA", "COLON", "NEG", "NEEDS", "ENSURE"),
    "^": ("EDGE", "COMMA", "COLON", "NEG", "NEEDS", "ENSURE", "WH"),
    "~": ("EDGE", "NEG", "NEEDS", "ENSURE"),
}
"""Tags over which a gap does not step."""


@lru_cache(maxsize=1)
def claims() -> Sequence[Claim]:
    """Every shape, in the order of the files."""
    return tuple(
        Claim(
            AuthorityClaim(category),
            "@" in pattern,
            _needs(pattern),
            frozenset(company.split()),
            frozenset(without.split()),
            asks,
            weak,
            pattern,
        )
        for category, pattern, company, without, asks, weak in lists()["claims"]
    )


@lru_cache(maxsize=4096)
def worth(present: frozenset[str]) -> Sequence[Claim]:
    """The shapes that a sentence with these tags can have."""
    by_tag = _by_need()
    numbers = sorted({number for tag in present for number in by_tag.get(tag, ())})
    every = claims()
    return tuple(claim for number in numbers if _possible(claim := every[number], present))


def _possible(claim: Claim, present: Set[str]) -> bool:
    if not claim.without.isdisjoint(present) or (claim.company and claim.company.isdisjoint(present)):
        return False
    return not any(need.isdisjoint(present) for need in claim.needs)


@lru_cache(maxsize=1)
def _by_need() -> Mapping[str, Sequence[int]]:
    """For every tag the shapes for which it is one of their rarest need."""
    every = claims()
    spread: dict[str, int] = {}
    for claim in every:
        for need in claim.needs:
            for tag in need:
                spread[tag] = spread.get(tag, 0) + 1
    found: dict[str, list[int]] = {}
    for number, claim in enumerate(every):
        for tag in min(claim.needs, key=lambda need: sum(spread[tag] for tag in need)):
            found.setdefault(tag, []).append(number)
    return found


@lru_cache(maxsize=1024)
def _compiled(source: str) -> re.Pattern[str]:
    return re.compile(_regex(source))


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
