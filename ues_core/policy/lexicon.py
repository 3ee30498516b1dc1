"""The risk terms, one data file per language in ``terms/``, and how they are found in a folded text.

A file says which ``script`` its language has: ``spaced`` terms match whole words, ``unspaced`` ones match anywhere. In a term,
``*`` stands for up to two words (or four characters). ``accents`` says whether a spaced term is recognised without its accents:
``ignored`` always, ``phrases`` only when it has two words or more. ``except`` lists harmless phrases that contain a term.

Terms of contributors can only add to these tables; nothing takes a term away.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Literal

from pydantic import ConfigDict, Field

from ues_core.contract import Model, PluginError, RiskTerms
from ues_core.contract.codes import Code
from ues_core.policy.folding import Folded, fold
from ues_core.policy.matching import Matcher, Terms

RISK_CATEGORIES: Final = (
    Code.DESTRUCTIVE_TARGET,
    Code.FINANCIAL_TARGET,
    Code.EXTERNAL_COMMIT_TARGET,
    Code.SECURITY_TARGET,
)
"""In the order in which they are judged; the code of a category is its name in the data files."""


class TermTable(Model):
    """One language's terms, as its file says them."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    language: str
    script: Literal["spaced", "unspaced"]
    accents: Literal["ignored", "phrases"]
    destructive: Terms = Field(alias="destructive-target")
    financial: Terms = Field(alias="financial-target")
    external_commit: Terms = Field(alias="external-commit-target")
    security: Terms = Field(alias="security-target")
    human_verification: Terms = Field(alias="human-verification")
    confirmation: Terms
    harmless_submit: Terms = Field(alias="harmless-submit")

    def of(self, category: str) -> Terms:
        """The terms of one category, by the name that the file uses."""
        by_alias = {field.alias or name: name for name, field in type(self).model_fields.items()}
        value = getattr(self, by_alias[category])
        if not isinstance(value, Terms):
            raise KeyError(category)
        return value


class Lexicon:
    """The built-in terms, and contributed ones beside them: what is contributed cannot change what is built in. Immutable."""

    def __init__(self, extra: tuple[RiskTerms, ...] = ()) -> None:
        self._built_in = _built_in()
        self._extra = {
            c: Matcher.of_plain(t for e in extra if e.category is c for t in e.terms) for c in {e.category for e in extra}
        }

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

    def _matchers(self, category: Code) -> Iterator[Matcher]:
        yield self._built_in[str(category)]
        if category in self._extra:
            yield self._extra[category]


@lru_cache(maxsize=1)
def _built_in() -> Mapping[str, Matcher]:
    names = (*map(str, RISK_CATEGORIES), "human-verification", "confirmation", "harmless-submit")
    return MappingProxyType({name: Matcher.of((table.of(name), table) for table in builtin_tables()) for name in names})


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
