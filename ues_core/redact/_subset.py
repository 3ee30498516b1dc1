r"""Patterns from plugins: a subset of regular expressions that cannot run long, parsed here and compiled without backtracking.

The subset: literals, escapes ``\d \w \s \b`` and their opposites, ``.``, character classes, groups with alternatives, and the
repetitions ``?`` and ``{m,n}`` with n at most 256, on one character only (a group takes ``?``). No look-around, no references,
no flags, no ``+`` or ``*``. Every repetition is possessive and every group atomic, so one start position costs at most the
pattern's width; a detector is therefore linear in the text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from typing import Final, NamedTuple

from ues_core.contract import Code, ExtraDetector, PluginError
from ues_core.redact._live import LiveValues
from ues_core.redact._model import MASK, Span

MAX_REPEAT: Final = 256
MAX_WIDTH: Final = 1_024
"""Characters that one match may span."""
MIN_WIDTH: Final = 4
"""A detector that matches fewer characters would mask ordinary words."""
MAX_DEPTH: Final = 8

_ESCAPES: Final = frozenset("dDwWsSbB")
_PUNCTUATION: Final = frozenset("\\.^$*+?{}[]()|/-_:;,'\"#@!%&=<>~` ")
_CONTROL: Final = frozenset("tnrfv")


class Detector(NamedTuple):
    """A validated detector, ready to search."""

    name: str
    pattern: re.Pattern[str] | None
    literals: tuple[str, ...] = ()

    def spans(self, text: str) -> Iterator[Span]:
        """What it finds in a text, left to right for each thing that it looks for."""
        if self.pattern is not None:
            yield from (Span(m.start(), m.end(), self.name) for m in self.pattern.finditer(text) if MASK not in m.group())
        if not self.literals or len(text) < len(self.literals[-1]):
            return
        for literal in self.literals:
            at = text.find(literal)
            while at >= 0:
                yield Span(at, at + len(literal), self.name)
                at = text.find(literal, at + len(literal))


class _Bad(Exception):
    """Why a pattern is outside of the subset."""


class _Parser:
    """One pass over a pattern: emits the same pattern with possessive repetitions and atomic groups."""

    def __init__(self, pattern: str) -> None:
        self.text = pattern
        self.at = 0

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def alternatives(self, depth: int) -> tuple[str, int, int]:
        """``(emitted, least width, greatest width)`` up to a closing parenthesis or the end."""
        if depth > MAX_DEPTH:
            raise _Bad(f"groups nest deeper than {MAX_DEPTH}")
        parts: list[str] = []
        least, most = MAX_WIDTH, 0
        while True:
            emitted, low, high = self.sequence(depth)
            parts.append(emitted)
            least, most = min(least, low), max(most, high)
            if self.peek() != "|":
                return "|".join(parts), least, most
            self.at += 1

    def sequence(self, depth: int) -> tuple[str, int, int]:
        out: list[str] = []
        least = most = 0
        while (char := self.peek()) and char not in "|)":
            emitted, low, high, repeatable = self.atom(depth)
            emitted, low, high = self.repetition(emitted, low, high, repeatable)
            out.append(emitted)
            least, most = least + low, most + high
        return "".join(out), least, most

    def atom(self, depth: int) -> tuple[str, int, int, bool]:
        char = self.peek()
        self.at += 1
        if char == "(":
            if self.peek() == "?":
                if not self.text.startswith("?:", self.at):
                    raise _Bad("look-around, flags and named groups are not in the subset")
                self.at += 2
            emitted, low, high = self.alternatives(depth + 1)
            if self.peek() != ")":
                raise _Bad("a group is not closed")
            self.at += 1
            return f"(?>{emitted})", low, high, False
        if char == "[":
            return self.character_class(), 1, 1, True
        if char == "\\":
            escaped = self.peek()
            self.at += 1
            if escaped in _ESCAPES and escaped:
                width = 0 if escaped in "bB" else 1
                return f"\\{escaped}", width, width, bool(width)
            if escaped and (escaped in _PUNCTUATION or escaped in _CONTROL):
                return f"\\{escaped}" if escaped in _CONTROL else re.escape(escaped), 1, 1, True
            raise _Bad(f"the escape \\{escaped} is not in the subset")
        if char in "*+?{}":
            raise _Bad(f"'{char}' stands where a character should; write \\{char} for the character, {{m,n}} to repeat")
        if char in "^$":
            return char, 0, 0, False
        if char == ".":
            return ".", 1, 1, True
        return re.escape(char), 1, 1, True

    def character_class(self) -> str:
        start = self.at - 1
        if self.peek() == "^":
            self.at += 1
        if self.peek() == "]":
            raise _Bad("an empty character class")
        while (char := self.peek()) != "]":
            if not char:
                raise _Bad("a character class is not closed")
            if char == "[":
                raise _Bad("write \\[ inside a character class")
            if char == "\\":
                self.at += 1
                escaped = self.peek()
                if not escaped or (escaped not in _PUNCTUATION and escaped not in _CONTROL and escaped not in "dDwWsS"):
                    raise _Bad(f"the escape \\{escaped} is not in the subset")
            self.at += 1
        self.at += 1
        return self.text[start : self.at]

    def repetition(self, emitted: str, low: int, high: int, repeatable: bool) -> tuple[str, int, int]:
        char = self.peek()
        if char == "?":
            self.at += 1
            emitted, low = f"{emitted}?+", 0
        elif char == "{":
            found = re.compile(r"\{(\d{1,4})(?:(,)(\d{0,4}))?\}").match(self.text, self.at)
            if found is None or (found[2] and not found[3]):
                raise _Bad("repetition is written {n} or {m,n}")
            if not repeatable:
                raise _Bad("only one character can be repeated, not a group")
            least, most = int(found[1]), int(found[3] or found[1])
            if least > most or most > MAX_REPEAT or most == 0:
                raise _Bad(f"repetition is {{m,n}} with m <= n <= {MAX_REPEAT}")
            self.at = found.end()
            emitted, low, high = f"{emitted}{{{least},{most}}}+", low * least, high * most
        if self.peek() and self.peek() in "*+?{":
            raise _Bad("unbounded, lazy and nested repetition are not in the subset; write {m,n}")
        return emitted, low, high


def validate_detector(detector: ExtraDetector) -> Detector:
    """Check a contributed detector and compile it.

    Raises ``PluginError`` with code ``contribution-invalid`` when its pattern is outside of the linear-time subset, can match
    fewer than 4 or more than 1,024 characters, or does not compile.
    """
    if isinstance(detector, LiveValues):
        return Detector(detector.name, None, detector.literals)
    try:
        return Detector(detector.name, _compile(detector.pattern))
    except (_Bad, re.error) as problem:
        raise PluginError(
            f"The extra detector '{detector.name}' was refused: {problem}.",
            code=Code.CONTRIBUTION_INVALID,
            next_step="Write it in the linear-time subset: literals, classes, groups, ? and {m,n}.",
            details={"detector": detector.name},
        ) from None


@lru_cache(maxsize=256)  # a pure function of its argument, like the standard library's own cache of patterns
def _compile(pattern: str) -> re.Pattern[str]:
    parser = _Parser(pattern)
    emitted, least, most = parser.alternatives(0)
    if parser.at != len(pattern):
        raise _Bad("a group is closed that was not opened")
    if least < MIN_WIDTH:
        raise _Bad(f"it can match fewer than {MIN_WIDTH} characters")
    if most > MAX_WIDTH:
        raise _Bad(f"it can match more than {MAX_WIDTH} characters")
    return re.compile(emitted)
