"""Text that a reader does not see: invisible characters, direction overrides, comments and styles of mark-up."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from ues_core.reasoning.authority.fold import INVISIBLE, is_invisible

_TELLING: Final = re.compile(
    "[\u202a-\u202e\u2066-\u2069]"
    "|(?<!\U0001f3f4)(?<![\U000e0020-\U000e007f])[\U000e0000-\U000e007f]+"
    "|[\U000e0100-\U000e01ef]{2,}|[\ufe00-\ufe0e]{3,}"
)
"""Direction overrides, tag characters (flags aside), smuggled variation selectors: nobody writes these into advice by accident."""
_RUN: Final = 3
"""Invisible characters in a row that cannot be an accident."""
_IN_A_ROW: Final = re.compile(rf"[{''.join(sorted(c for c in INVISIBLE if c < chr(0xE0000)))}]{{{_RUN},}}")

_LINK_COMMENT: Final = re.compile(r"^[ \t]{0,3}\[[^\]\n]{0,40}\]:[ \t]{0,4}(?:#|<>)[ \t]{0,4}[(\"']([^\n]{0,2000})", re.M)
_TAG: Final = re.compile(r"<([a-z][a-z0-9]{0,15})(\s[^<>]{1,600})>", re.I)
_UNSEEN: Final = re.compile(
    r"display\s{0,3}:\s{0,3}none|visibility\s{0,3}:\s{0,3}hidden|opacity\s{0,3}:\s{0,3}0(?:\.0\d*)?\s{0,3}(?:[;\"']|$)"
    r"|font-size\s{0,3}:\s{0,3}[01](?:px|pt|em|rem|%)?\s{0,3}(?:[;\"']|$)|(?:text-indent|left|top)\s{0,3}:\s{0,3}-\d{3,}"
    r"|(?<![\w-])color\s{0,3}[:=]\s{0,3}[\"']?(?:white\b|#fff(?:fff)?\b|#fefefe\b|transparent\b|rgba?\(\s{0,3}255\s{0,3},\s{0,3}255\s{0,3},\s{0,3}255)"
    r"|\s(?:hidden|aria-hidden\s{0,3}=\s{0,3}[\"']?true[\"']?)(?=[\s=]|$)",
    re.I,
)
"""Attributes that make an element invisible, or its text white as the page."""
_ADDRESSED: Final = re.compile(
    r"\s{0,20}(?:note\s+to\s+(?:the\s+)?)?(?:ai\s+)?"
    r"(?:agents?|assistant|ai|llm|agente|asistente|агент(?:у|ам)?|ассистент(?:у)?|代理|智能体|助手|trợ lý)\s{0,3}[:：]",
    re.I,
)
"""A comment that begins by calling on the agent that reads it."""
_INSIDE: Final = 4_000
"""Characters after an invisible element's tag that belong to it when it is not closed."""


class Region(NamedTuple):
    """Original characters that a reader does not see."""

    start: int
    end: int


def invisible_runs(text: str) -> Iterator[Region]:
    """Invisible characters that hide something by themselves."""
    if text.isascii():
        return
    for hit in _TELLING.finditer(text):
        yield Region(hit.start(), hit.end())
    for hit in _IN_A_ROW.finditer(text):
        yield Region(hit.start(), hit.start() + _RUN)


def unseen_regions(text: str) -> list[Region]:
    """Comments and elements that a rendered page does not show. What they say decides whether they matter."""
    if "<" not in text and "]:" not in text:
        return []
    found = list(_comments(text))
    found += [Region(hit.start(1), hit.end(1)) for hit in _LINK_COMMENT.finditer(text)]
    for tag in _TAG.finditer(text):
        if _UNSEEN.search(tag[2]):
            close = text.find(f"</{tag[1]}", tag.end(), tag.end() + _INSIDE)
            found.append(Region(tag.end(), close if close >= 0 else min(len(text), tag.end() + _INSIDE)))
    return found


def _comments(text: str) -> Iterator[Region]:
    left = text.find("<!--")
    while left >= 0:
        right = text.find("-->", left + 4)
        right = right if right >= 0 else len(text)
        yield Region(left + 4, right)
        left = text.find("<!--", right)


def addressed(text: str, region: Region) -> bool:
    """Whether what a reader does not see is said to an agent: that is telling, whatever it says."""
    return _ADDRESSED.match(text, region.start, region.end) is not None


def broken_inside(text: str, start: int, end: int) -> bool:
    """Whether an invisible character splits a word between two positions; joiners of scripts that need them aside."""
    span = text[start:end]
    if span.isascii():
        return False
    return any(
        is_invisible(char)
        and char != "\ufe0f"
        and 0 < index < len(span) - 1
        and span[index - 1].isalpha()
        and span[index + 1].isalpha()
        for index, char in enumerate(span)
    )
