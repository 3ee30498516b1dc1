"""Which regular expressions a contributor may bring: a subset that takes time linear in the text, by construction.

Literals, classes, groups, alternatives and bounded repetition. Python's engine backtracks, so what is counted is the number
of ways in which a pattern can be tried at one position of the text: a pattern with few ways is linear, with a small constant.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, NoReturn

REPEAT_LIMIT: Final = 200
"""The largest upper bound of a repetition."""
WAYS_LIMIT: Final = 4_096
"""Ways to try a pattern at one position, at most. A key of 20 to 200 characters after up to 5 blanks has 1,086."""
SHORTEST_MATCH: Final = 4
"""Characters; whatever is shorter is no secret, and a pattern that matches nothing at all would match everywhere."""
LONGEST_MATCH: Final = 4_096
"""Characters."""
DEPTH_LIMIT: Final = 8
"""Nesting of groups."""

_CLASS_ESCAPES: Final = "dDwWsS"
_ZERO_WIDTH_ESCAPES: Final = "bB"
_CHARACTER_ESCAPES: Final = "ntrfv"
_HEX_ESCAPES: Final = {"x": 2, "u": 4}
_BOUNDS = re.compile(r"\{(\d{1,6})(?:(,)(\d{0,6}))?\}", re.ASCII)


def check_linear(pattern: str) -> None:
    """Refuse a pattern outside of the subset: raises ``ValueError`` with one sentence that says where and why."""
    shape = _Reader(pattern).read()
    if shape.shortest < SHORTEST_MATCH:
        raise ValueError(f"the pattern could match {shape.shortest} characters; at least {SHORTEST_MATCH} are needed")
    if shape.longest > LONGEST_MATCH:
        raise ValueError(f"the pattern could match more than {LONGEST_MATCH} characters")
    try:
        re.compile(pattern)
    except (re.error, OverflowError, RecursionError) as error:
        raise ValueError(f"the pattern is no regular expression: {error}") from None


def compile_linear(pattern: str) -> re.Pattern[str]:
    """The compiled pattern, after ``check_linear``."""
    check_linear(pattern)
    return re.compile(pattern)


@dataclass(frozen=True, slots=True)
class _Shape:
    """What a piece of a pattern can match."""

    shortest: int
    longest: int
    ways: int
    repeats: bool = False
    """Whether a repetition stands somewhere inside."""


_NOTHING: Final = _Shape(0, 0, 1)
_ONE: Final = _Shape(1, 1, 1)


class _Reader:
    """A recursive-descent reader of the subset; it builds nothing but shapes."""

    def __init__(self, pattern: str) -> None:
        self._text = pattern
        self._at = 0

    def read(self) -> _Shape:
        if self._text.startswith("(?i)"):
            self._at = 4
        shape = self._alternatives(0)
        if self._at < len(self._text):
            self._refuse("an unmatched closing parenthesis")
        return shape

    def _refuse(self, what: str) -> NoReturn:
        raise ValueError(f"{what} (at character {self._at + 1}) is outside of the linear-time subset")

    def _peek(self) -> str:
        return self._text[self._at] if self._at < len(self._text) else ""

    def _bounded(self, shape: _Shape) -> _Shape:
        if shape.ways > WAYS_LIMIT:
            self._refuse(f"a pattern that can be tried in more than {WAYS_LIMIT} ways")
        return shape

    def _alternatives(self, depth: int) -> _Shape:
        if depth > DEPTH_LIMIT:
            self._refuse(f"nesting deeper than {DEPTH_LIMIT}")
        branches = [self._sequence(depth)]
        while self._peek() == "|":
            self._at += 1
            branches.append(self._sequence(depth))
        return self._bounded(
            _Shape(
                min(b.shortest for b in branches),
                max(b.longest for b in branches),
                sum(b.ways for b in branches),
                any(b.repeats for b in branches),
            )
        )

    def _sequence(self, depth: int) -> _Shape:
        total = _NOTHING
        while self._peek() not in ("", "|", ")"):
            item = self._repeated(self._atom(depth))
            total = self._bounded(
                _Shape(
                    total.shortest + item.shortest,
                    total.longest + item.longest,
                    total.ways * item.ways,
                    total.repeats or item.repeats,
                )
            )
        return total

    def _repeated(self, atom: _Shape) -> _Shape:
        symbol = self._peek()
        if symbol in ("*", "+") and symbol:
            self._refuse(f"the unbounded repetition {symbol}")
        if symbol == "?":
            low, high = 0, 1
            self._at += 1
        elif symbol == "{":
            bounds = _BOUNDS.match(self._text, self._at)
            if bounds is None:
                self._refuse("a brace that is no repetition (write it as \\{)")
            if bounds.group(2) and not bounds.group(3):
                self._refuse("a repetition without upper bound")
            low = int(bounds.group(1))
            high = int(bounds.group(3)) if bounds.group(3) else low
            if high > REPEAT_LIMIT or low > high:
                self._refuse(f"a repetition that is not within 0 to {REPEAT_LIMIT}")
            self._at = bounds.end()
        else:
            return atom
        if atom.repeats:
            self._refuse("a repetition of a repetition")
        if atom.longest == 0:
            self._refuse("a repetition of nothing")
        if self._peek() == "?":
            self._at += 1
        if self._peek() and self._peek() in "*+?{":
            self._refuse("a repetition of a repetition")
        ways = 0
        for count in range(low, high + 1):
            ways += atom.ways**count
            if ways > WAYS_LIMIT:
                break
        return self._bounded(_Shape(atom.shortest * low, atom.longest * high, ways, repeats=True))

    def _atom(self, depth: int) -> _Shape:
        symbol = self._peek()
        if symbol == "(":
            return self._group(depth)
        if symbol == "[":
            return self._class()
        if symbol == "\\":
            return self._escape()
        if symbol in ("*", "+", "?", "{"):
            self._refuse("a repetition of nothing")
        self._at += 1
        return _NOTHING if symbol in ("^", "$") else _ONE

    def _group(self, depth: int) -> _Shape:
        self._at += 1
        if self._text.startswith("?:", self._at):
            self._at += 2
        elif self._peek() == "?":
            self._refuse("look-around, a reference, a named group or a flag")
        inside = self._alternatives(depth + 1)
        if self._peek() != ")":
            self._refuse("an unmatched opening parenthesis")
        self._at += 1
        return inside

    def _escape(self) -> _Shape:
        letter = self._text[self._at + 1 : self._at + 2]
        if letter in _HEX_ESCAPES and letter:
            digits = self._text[self._at + 2 : self._at + 2 + _HEX_ESCAPES[letter]]
            if len(digits) != _HEX_ESCAPES[letter] or not all(c in "0123456789abcdefABCDEF" for c in digits):
                self._refuse("an incomplete escape")
            self._at += 2 + len(digits)
            return _ONE
        known = _CLASS_ESCAPES + _ZERO_WIDTH_ESCAPES + _CHARACTER_ESCAPES
        if not letter or (letter.isalnum() and letter not in known):
            self._refuse("a back-reference or an unknown escape")
        self._at += 2
        return _NOTHING if letter in _ZERO_WIDTH_ESCAPES else _ONE

    def _class(self) -> _Shape:
        self._at += 1
        if self._peek() == "^":
            self._at += 1
        first = True
        while (symbol := self._peek()) != "]" or first:
            if not symbol:
                self._refuse("a class that is not closed")
            if symbol == "[" or self._text[self._at : self._at + 2] in ("--", "&&", "~~", "||"):
                self._refuse("a class within a class (write brackets as \\[)")
            if symbol == "\\":
                if self._text[self._at + 1 : self._at + 2] in tuple(_ZERO_WIDTH_ESCAPES):
                    self._refuse("a boundary within a class")
                self._escape()
            else:
                self._at += 1
            first = False
        self._at += 1
        return _ONE
