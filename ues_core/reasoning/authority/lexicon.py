"""The words that claims are made of: every spelling with its tags, in one tree.

The tree's steps are words, or single characters of scripts without blanks.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Final, NamedTuple

from ues_core.reasoning.authority.fold import bare, fold
from ues_core.reasoning.authority.tables import LANGUAGES, expanded, table

CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
_UNIT: Final = re.compile(rf"[{CJK}]|[^\W{CJK}]+(?:'[^\W_]+)*\*?|--?[a-z][a-z-]+|[^\w\s]")
_FORMS: Final = ("base", "imp", "inf")
"""Forms of a verb that may ask for something; ``fin`` and ``part`` tell."""
STEM_LEAST: Final = 3
PHRASE_LONGEST: Final = 14


class Node:
    """A place in the tree of phrases."""

    __slots__ = ("following", "tags")

    def __init__(self) -> None:
        self.following: dict[str, Node] = {}
        self.tags: frozenset[str] = frozenset()


class Lexicon(NamedTuple):
    """All word lists, ready to be looked up."""

    root: Node
    vocabulary: frozenset[str]
    stems: frozenset[str]

    def known(self, word: str) -> bool:
        """Whether some phrase contains this word."""
        return word in self.vocabulary or any(word[:n] + "*" in self.stems for n in range(len(word), STEM_LEAST - 1, -1))

    def keys(self, word: str) -> list[str]:
        """The labels under which a word may continue a phrase, the most exact first."""
        found = [word] if word in self.vocabulary else []
        if len(word) >= STEM_LEAST:
            found += [s for n in range(min(len(word), 24), STEM_LEAST - 1, -1) if (s := word[:n] + "*") in self.stems]
        if not found and not word.isascii() and (plain := bare(word)) != word:
            return self.keys(plain)
        return found


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The word lists of every language in one tree; a spelling in several lists has the tags of all."""
    root = Node()
    vocabulary: set[str] = set()
    for units, tags in _entries():
        node = root
        for unit in units:
            vocabulary.add(unit)
            node = node.following.setdefault(unit, Node())
        node.tags |= tags
    for word in _PARTICLES:
        _inherit(root, word)
    _share(root)
    stems = frozenset(v for v in vocabulary if v.endswith("*"))
    return Lexicon(root, frozenset(vocabulary) - stems, stems)


_PARTICLES: Final = ("to", "for", "para", "a", "à", "pour")
"""A phrase that ends in one of these is still the phrase without it."""


def _share(node: Node) -> None:
    """A word that is listed itself and by its stem has the tags of both."""
    stems = [unit for unit in node.following if unit.endswith("*")]
    for unit, child in node.following.items():
        for stem in stems:
            if child.tags and unit != stem and unit.startswith(stem[:-1]):
                child.tags |= node.following[stem].tags
        _share(child)


def _inherit(node: Node, particle: str) -> None:
    for unit, child in node.following.items():
        _inherit(child, particle)
        if unit == particle and node.tags:
            child.tags |= node.tags


def units(text: str) -> list[str]:
    """The words of a folded phrase, single characters where a script has no blanks."""
    return _UNIT.findall(text)


def _entries() -> Iterator[tuple[Sequence[str], frozenset[str]]]:
    for language in LANGUAGES:
        for tag, forms in table(f"words_{language}").items():
            for form, entries in forms.items():
                tags = _tags(tag, form)
                for entry in entries:
                    for phrase in expanded(entry):
                        spelled = fold(phrase).text
                        yield units(spelled), tags
                        plain = bare(spelled)
                        if plain != spelled and (" " in plain if language == "vi" else tag != "WH"):
                            yield units(plain), tags


def _tags(tag: str, form: str) -> frozenset[str]:
    names = tag.split("+")
    if form == "words":
        return frozenset(names)
    if form in _FORMS:
        return frozenset([*names, f".{form}"])
    return frozenset(f"{name}.{form}" for name in names)


def match(lex: Lexicon, words: Sequence[str], at: int, cache: dict[str, list[str]]) -> tuple[int, frozenset[str]]:
    """The longest phrase that begins at a word: how many words it takes and its tags; one word without tags if there is none."""
    best: tuple[int, frozenset[str]] = (0, frozenset())
    states: list[Node] = [lex.root]
    for length in range(1, min(PHRASE_LONGEST, len(words) - at) + 1):
        word = words[at + length - 1]
        keys = cache.get(word)
        if keys is None:
            keys = cache[word] = lex.keys(word)
        states = [node.following[key] for node in states for key in keys if key in node.following][:8]
        if not states:
            break
        tags = next((node.tags for node in states if node.tags), None)
        if tags is not None:
            best = (length, tags)
    return best if best[0] else (1, frozenset())


def all_tags() -> Mapping[frozenset[str], int]:
    """Every set of tags that some spelling has, numbered."""
    found: dict[frozenset[str], int] = {}
    pending = [lexicon().root]
    while pending:
        node = pending.pop()
        pending.extend(node.following.values())
        if node.tags:
            found.setdefault(node.tags, len(found))
    return found
