"""The risk terms, one data file per language in ``terms/``, and how they are found in a folded text.

A file says which ``script`` its language has: ``spaced`` terms match whole words, ``unspaced`` ones match anywhere. In a term,
``*`` stands for up to two words (or four characters). ``accents`` says whether a spaced term is recognised without its accents:
``ignored`` always, ``phrases`` only when it has two words or more. ``except`` lists harmless phrases that contain a term.

Terms of contributors can only add to these tables; nothing takes a term away.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Literal

from pydantic import ConfigDict, Field

from ues_core.contract import Model, PluginError, RiskTerms
from ues_core.contract.words import Code
from ues_core.policy.folding import Folded, fold

RISK_CATEGORIES: Final = (
    Code.DESTRUCTIVE_TARGET,
    Code.FINANCIAL_TARGET,
    Code.EXTERNAL_COMMIT_TARGET,
    Code.SECURITY_TARGET,
)
"""In the order in which they are judged; the code of a category is its name in the data files."""

_UNSPACED_LETTER = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff]"
)


class _Terms(Model):
    terms: tuple[str, ...]
    excluded: tuple[str, ...] = Field(default=(), alias="except")


class TermTable(Model):
    """One language's terms, as its file says them."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    language: str
    script: Literal["spaced", "unspaced"]
    accents: Literal["ignored", "phrases"]
    destructive: _Terms = Field(alias="destructive-target")
    financial: _Terms = Field(alias="financial-target")
    external_commit: _Terms = Field(alias="external-commit-target")
    security: _Terms = Field(alias="security-target")
    human_verification: _Terms = Field(alias="human-verification")
    confirmation: _Terms
    harmless_submit: _Terms = Field(alias="harmless-submit")

    def of(self, category: str) -> _Terms:
        """The terms of one category, by the name that the file uses."""
        by_alias = {field.alias or name: name for name, field in type(self).model_fields.items()}
        value = getattr(self, by_alias[category])
        if not isinstance(value, _Terms):
            raise KeyError(category)
        return value


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


class _Matcher:
    """The compiled terms of one category."""

    def __init__(self) -> None:
        self._bare = _Form(spaced=True)
        self._accented = _Form(spaced=True)
        self._tight = _Form(spaced=False)

    @classmethod
    def of_tables(cls, category: str, tables: Iterable[TermTable]) -> _Matcher:
        """The terms of all languages."""
        matcher = cls()
        for table in tables:
            matcher._add_table(table.of(category), table)
        return matcher._frozen()

    @classmethod
    def of_contributed(cls, contributions: Iterable[RiskTerms]) -> _Matcher:
        """The terms of contributors."""
        matcher = cls()
        for contributed in contributions:
            for term in contributed.terms:
                matcher._add_contributed(term)
        return matcher._frozen()

    def _frozen(self) -> _Matcher:
        for form in (self._bare, self._accented, self._tight):
            form.freeze()
        return self

    def find(self, text: Folded) -> str | None:
        """The first term found, as its table spells it."""
        return self._bare.find(text.bare) or self._accented.find(text.accented) or self._tight.find(text.tight)

    def covers(self, text: Folded) -> str | None:
        """The term that the whole text is."""
        return self._bare.covers(text.bare) or self._accented.covers(text.accented) or self._tight.covers(text.tight)

    def _add_table(self, entry: _Terms, table: TermTable) -> None:
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

    def _add_contributed(self, term: str) -> None:
        folded = fold(term.replace("*", " "))
        if _UNSPACED_LETTER.search(term) or not folded.accented.strip():
            self._tight.add(term, re.escape(folded.tight))
            return
        self._accented.add(term, re.escape(folded.accented.strip()))
        if folded.accented == folded.bare:
            self._bare.add(term, re.escape(folded.bare.strip()))


class Lexicon:
    """The built-in terms, and contributed ones beside them: what is contributed cannot change what is built in. Immutable."""

    def __init__(self, extra: tuple[RiskTerms, ...] = ()) -> None:
        self._built_in = _built_in()
        self._extra = {c: _Matcher.of_contributed(e for e in extra if e.category is c) for c in {e.category for e in extra}}

    def risk(self, text: Folded, categories: Iterable[Code] = RISK_CATEGORIES) -> tuple[Code, str] | None:
        """The first of ``categories`` that the text has a term of, and the term."""
        for category in categories:
            for matcher in self._matchers(category):
                term = matcher.find(text)
                if term is not None:
                    return category, term
        return None

    def is_risk(self, text: Folded, categories: Iterable[Code]) -> tuple[Code, str] | None:
        """The first of ``categories`` of which the whole text is a term."""
        for category in categories:
            for matcher in self._matchers(category):
                term = matcher.covers(text)
                if term is not None:
                    return category, term
        return None

    def human_verification(self, text: Folded) -> str | None:
        """A term by which a check for humans names itself."""
        return self._built_in["human-verification"].find(text)

    def is_confirmation(self, text: Folded) -> bool:
        """Whether the text only confirms something that is said elsewhere."""
        return self._built_in["confirmation"].covers(text) is not None

    def is_harmless_submit(self, text: Folded) -> bool:
        """Whether the text names a submit without an effect outside, such as a search."""
        return self._built_in["harmless-submit"].covers(text) is not None

    def _matchers(self, category: Code) -> Iterator[_Matcher]:
        yield self._built_in[str(category)]
        if category in self._extra:
            yield self._extra[category]


@lru_cache(maxsize=1)
def _built_in() -> Mapping[str, _Matcher]:
    names = (*map(str, RISK_CATEGORIES), "human-verification", "confirmation", "harmless-submit")
    return MappingProxyType({name: _Matcher.of_tables(name, builtin_tables()) for name in names})


@lru_cache(maxsize=1)
def builtin_tables() -> tuple[TermTable, ...]:
    """The tables of the data files, ordered by language. Cached: the files are part of the package and never change."""
    folder = files("ues_core.policy") / "terms"
    found = [
        TermTable.model_validate(tomllib.loads(f.read_text("utf-8"))) for f in folder.iterdir() if f.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda table: table.language))


@lru_cache(maxsize=8)
def lexicon(extra: tuple[RiskTerms, ...] = ()) -> Lexicon:
    """The lexicon with contributed terms added. Cached: it is a pure function of ``extra``, and compiling takes milliseconds.

    Raises ``PluginError`` (``contribution-invalid``) for a term that has no letter, digit or sign to match.
    """
    for contributed in extra:
        for term in contributed.terms:
            if not fold(term.replace("*", " ")).tight:
                raise PluginError(
                    f"A contributed risk term for {contributed.language} is empty: {term[:40]!r}.",
                    code=Code.CONTRIBUTION_INVALID,
                    next_step="Give words or phrases.",
                )
    return Lexicon(extra)


def _spaced_pattern(term: str, *, accents: bool) -> str:
    parts = [fold(part) for part in term.split("*")]
    words = [(part.accented if accents else part.bare).strip() for part in parts]
    return r" (?:\S+ ){0,2}".join(re.escape(part) for part in words)


def _tight_pattern(term: str) -> str:
    return ".{0,4}".join(re.escape(fold(part).tight) for part in term.split("*"))
