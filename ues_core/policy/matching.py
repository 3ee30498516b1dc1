"""Finding terms in a folded text, in any script: whole words where words are separated, anywhere where they are not.

In a term, ``*`` stands for up to two words (or four characters). ``accents`` says whether a spaced term is recognised without its
accents: ``ignored`` always, ``phrases`` only when it has two words or more. ``except`` lists harmless phrases that contain a term.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal, Protocol

from pydantic import Field

from ues_core.contract import Model
from ues_core.policy.folding import Folded, fold

_UNSPACED_LETTER = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


class Terms(Model):
    """The terms of one category in one language."""

    terms: tuple[str, ...]
    excluded: tuple[str, ...] = Field(default=(), alias="except")


class Script(Protocol):
    """How a language is written, as its table says it."""

    @property
    def script(self) -> Literal["spaced", "unspaced"]:
        """Whether words are separated by blanks."""
        ...

    @property
    def accents(self) -> Literal["ignored", "phrases"]:
        """When a term is recognised without its accents."""
        ...


class _Form:
    """The terms of one category that are sought in one of the three forms of a text."""

    def __init__(self, *, spaced: bool) -> None:
        self._spaced = spaced
        self._terms: list[tuple[str, str]] = []
        self._excluded: list[str] = []
        self._any: re.Pattern[str] | None = None
        self._except: re.Pattern[str] | None = None

    def add(self, term: str, pattern: str) -> None:
        self._terms.append((term, pattern))

    def exclude(self, pattern: str) -> None:
        self._excluded.append(pattern)

    def freeze(self) -> None:
        self._any = self._compile(pattern for _, pattern in self._terms)
        self._except = self._compile(self._excluded)

    def find(self, subject: str) -> str | None:
        if self._any is None:
            return None
        match = self._any.search(self._except.sub("\n", subject) if self._except is not None else subject)
        if match is None:
            return None
        return next(term for term, pattern in self._terms if re.fullmatch(pattern, match[0]))

    def covers(self, subject: str) -> str | None:
        whole = subject.strip()
        if self._any is None or not whole:
            return None
        return next((term for term, pattern in self._terms if re.fullmatch(pattern, whole)), None)

    def _compile(self, patterns: Iterable[str]) -> re.Pattern[str] | None:
        joined = "|".join(patterns)
        if not joined:
            return None
        return re.compile(f"(?<= )(?:{joined})(?= )" if self._spaced else joined)


class Matcher:
    """The compiled terms of one category."""

    def __init__(self) -> None:
        self._bare = _Form(spaced=True)
        self._accented = _Form(spaced=True)
        self._tight = _Form(spaced=False)

    @classmethod
    def of(cls, entries: Iterable[tuple[Terms, Script]]) -> Matcher:
        """The terms of several languages, each with its script."""
        matcher = cls()
        for terms, script in entries:
            matcher._add_table(terms, script)
        return matcher._frozen()

    @classmethod
    def of_plain(cls, terms: Iterable[str]) -> Matcher:
        """Plain words and phrases of unknown languages."""
        matcher = cls()
        for term in terms:
            matcher._add_plain(term)
        return matcher._frozen()

    def _frozen(self) -> Matcher:
        for form in (self._bare, self._accented, self._tight):
            form.freeze()
        return self

    def find(self, text: Folded) -> str | None:
        """The first term found, as its table spells it."""
        return self._bare.find(text.bare) or self._accented.find(text.accented) or self._tight.find(text.tight)

    def covers(self, text: Folded) -> str | None:
        """The term that the whole text is."""
        return self._bare.covers(text.bare) or self._accented.covers(text.accented) or self._tight.covers(text.tight)

    def _add_table(self, entry: Terms, table: Script) -> None:
        if table.script == "unspaced":
            for term in entry.terms:
                self._tight.add(term, _tight_pattern(term))
            for term in entry.excluded:
                self._tight.exclude(_tight_pattern(term))
            return
        for term in entry.terms:
            if table.accents == "ignored" or " " in term:
                self._bare.add(term, _spaced_pattern(term, accents=False))
            else:
                self._accented.add(term, _spaced_pattern(term, accents=True))
        for term in entry.excluded:
            self._bare.exclude(_spaced_pattern(term, accents=False))
            self._accented.exclude(_spaced_pattern(term, accents=True))

    def _add_plain(self, term: str) -> None:
        folded = fold(term.replace("*", " "))
        if _UNSPACED_LETTER.search(term) or not folded.accented.strip():
            self._tight.add(term, re.escape(folded.tight))
            return
        self._accented.add(term, re.escape(folded.accented.strip()))
        if folded.accented == folded.bare:
            self._bare.add(term, re.escape(folded.bare.strip()))


def _spaced_pattern(term: str, *, accents: bool) -> str:
    parts = [fold(part) for part in term.split("*")]
    words = [(part.accented if accents else part.bare).strip() for part in parts]
    return r" (?:\S+ ){0,2}".join(re.escape(part) for part in words)


def _tight_pattern(term: str) -> str:
    return ".{0,4}".join(re.escape(fold(part).tight) for part in term.split("*"))
