"""Whether words that look like a claim are one: not negated, not described, not a condition, not somebody else's words.

A directive is judged by what stands to the left of its verb in the same clause; a statement also by what the whole sentence says.
"""

from __future__ import annotations

from typing import Final

from ues_core.reasoning.authority.words import Sentence

REACH: Final = 16
"""Phrases to the left of a head that are looked at."""
REPORT_REACH: Final = 9
"""Phrases beside a quotation in which something must say that it is one."""

_CLAUSE: Final = frozenset({"EDGE", "COMMA", "COLON"})
_TRANSPARENT: Final = frozenset({"T", "QUOTE", "GUARD", "SECRET", "ADV", "CMDN", "PUBN", "POLITE", "MAYBE"})


def asked(sentence: Sentence, head: int, *, quoted: bool = False) -> bool:
    """Whether the verb at ``head`` asks the reader to do it."""
    tags = sentence.tags
    form = next((t for t in (".base", ".imp", ".inf") if t in tags[head]), ".imp")
    if "NEGATED" in tags[head]:
        return False
    if _after_negates(sentence, head):
        return False
    unknown = 0
    granted = False
    at = head - 1
    adjacent = True
    while at > 0 and head - at <= REACH:
        here = tags[at]
        if quoted and "QUOTE" in here:
            break
        if here & _CLAUSE:
            if "COLON" in here and _attributed(sentence, at + 1):
                return False
            break
        if "NEG" in here:
            return False
        if "ENABLE" in here:
            granted = True
        elif here & {"COND", "ENSURE", "TIME"} or (not granted and here & {"DESC", "WH", "PRON"}):
            return False
        elif not granted and "TO" in here and adjacent:
            return _recommended(sentence, at)
        elif not here & _TRANSPARENT and not ("AND" in here and tags[at - 1] & _CLAUSE):
            unknown += 1
        adjacent = adjacent and bool(here & {"ADV"})
        at -= 1
    if granted or form == ".imp":
        return True
    if form == ".inf" and _granted_after(sentence, head):
        return True
    if form == ".base" and head - 1 > at and not granted and tags[head - 1] & {"GUARD", "CMDN", "PUBN", "SECRET", "DET"}:
        return False
    if not unknown:
        return True
    first = tags[at + 1]
    if "PREP" in first:
        return True
    return bool(first & {"DO", ".base", ".imp"}) and any("AND" in tags[i] for i in range(at + 1, head))


def stated(sentence: Sentence, start: int, end: int, *, asks: bool = False, quoted: bool = False) -> bool:
    """Whether the words from ``start`` to ``end`` are the speaker's own, unconditional statement."""
    tags = sentence.tags
    if sentence.asks and not asks:
        return False
    if any(t & {"COND", "ONLY", "MISTAKE"} for t in tags) or (not asks and any("TIME" in t for t in tags[:start])):
        return False
    if _attributed(sentence, start):
        return False
    at = start - 1
    while at > 0 and start - at <= REACH:
        here = tags[at]
        if quoted and "QUOTE" in here:
            break
        if here & _CLAUSE:
            break
        if here & {"NEG", "DESC", "ENSURE", "WH", "NEEDS"}:
            return False
        at -= 1
    for here in tags[end : end + 6]:
        if here & _CLAUSE:
            break
        if here & {"NEGEND", "NEGAFTER"}:
            return False
    return True


def inside(sentence: Sentence, start: int, end: int) -> tuple[int, int] | None:
    """The quotation marks between which the words stand, if they do."""
    marks = [i for i, t in enumerate(sentence.tags) if "QUOTE" in t]
    left = [i for i in marks if i < start]
    right = [i for i in marks if i >= end - 1]
    if not right or len(left) % 2 == 0:
        return None
    return left[-1], right[0]


def reported(sentence: Sentence, marks: tuple[int, int] | None) -> bool:
    """Whether something beside a quotation calls it a text, a comment, a message, and nothing says to obey it."""
    if marks is None:
        return False
    tags = sentence.tags
    before = tags[max(0, marks[0] - REPORT_REACH) : marks[0]]
    after = tags[marks[1] + 1 : marks[1] + 1 + REPORT_REACH]
    return any("REPORT" in t for t in (*before, *after)) and not any(t & {"OBEY", "FOLLOWIT"} for t in after)


def _after_negates(sentence: Sentence, head: int) -> bool:
    """German says it after the verb, Japanese and Korean in its ending."""
    for offset, here in enumerate(sentence.tags[head + 1 : head + 8]):
        if here & _CLAUSE:
            return False
        if "NEGAFTER" in here or ("NEGEND" in here and offset <= 1):
            return True
    return False


def _granted_after(sentence: Sentence, head: int) -> bool:
    for here in sentence.tags[head + 1 : head + 5]:
        if here & _CLAUSE:
            return False
        if "ENABLE" in here:
            return True
    return False


def _recommended(sentence: Sentence, at: int) -> bool:
    """Whether "to ..." depends on something that asks for it."""
    return at >= 1 and bool(sentence.tags[at - 1] & {"ENABLE"})


def _attributed(sentence: Sentence, start: int) -> bool:
    """Whether a colon before the words says that somebody else says them: "a page might say: ..."."""
    tags = sentence.tags
    for at in range(start - 1, max(0, start - 4), -1):
        if "COLON" in tags[at]:
            before = tags[max(0, at - REPORT_REACH) : at]
            return any("REPORT" in t for t in before) and any("DESC" in t for t in before)
    return False
