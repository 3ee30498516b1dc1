"""The words that claims are made of: every spelling with its tags, in one tree.

The tree's steps are words, or single characters of scripts without blanks. It comes ready from ``terms/lists.bin``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from ues_core.reasoning.authority.fold import bare
from ues_core.reasoning.authority.tables import CJK, lists

STEM_LEAST: Final = 3
PHRASE_LONGEST: Final = 14
WORD_KEPT: Final = 40
"""Characters of a word up to which what is known about it is kept: no text can fill the memory with its words."""
NOTHING: Final[tuple[int, frozenset[str]]] = (1, frozenset())
OPENING: Final = 6
_STATES: Final = 8

Node = Mapping[str, Any]
"""A place in the tree: the next words, and under the empty string the number of the phrase's set of tags."""

__all__ = ["CJK", "NOTHING", "OPENING", "Lexicon", "lexicon", "match"]


class Lexicon(NamedTuple):
    """All word lists, ready to be looked up."""

    root: Node
    sets: Sequence[frozenset[str]]
    """Every set of tags that a spelling has, and those of marks. The first is empty."""
    vocabulary: frozenset[str]
    stems: frozenset[str]
    openings: frozenset[str]
    """With what words begin: their first ``OPENING`` letters, and every shorter beginning."""

    def known(self, word: str) -> bool:
        """Whether some phrase contains this word."""
        return (_known if len(word) <= WORD_KEPT else _known.__wrapped__)(word)

    def keys(self, word: str) -> Sequence[str]:
        """The labels under which a word may continue a phrase, the most exact first."""
        return (_keys if len(word) <= WORD_KEPT else _keys.__wrapped__)(word)


@lru_cache(maxsize=1)
def lexicon() -> Lexicon:
    """The word lists of every language in one tree; a spelling in several lists has the tags of all."""
    data = lists()
    vocabulary = frozenset(data["vocabulary"])
    stems = frozenset(v for v in vocabulary if v.endswith("*"))
    words = vocabulary - stems
    openings = frozenset(word[:n] for word in words for n in range(1, OPENING + 1))
    return Lexicon(data["tree"], tuple(map(frozenset, data["sets"])), words, stems, openings)


@lru_cache(maxsize=16_384)
def _known(word: str) -> bool:
    _, _, vocabulary, stems, _ = lexicon()
    return word in vocabulary or any(word[:n] + "*" in stems for n in range(min(len(word), 24), STEM_LEAST - 1, -1))


@lru_cache(maxsize=16_384)
def _keys(word: str) -> Sequence[str]:
    _, _, vocabulary, stems, _ = lexicon()
    found = [word] if word in vocabulary else []
    if len(word) >= STEM_LEAST:
        found += [s for n in range(min(len(word), 24), STEM_LEAST - 1, -1) if (s := word[:n] + "*") in stems]
    if not found and not word.isascii() and (plain := bare(word)) != word:
        return _keys.__wrapped__(plain)
    return found


@lru_cache(maxsize=16_384)
def _beginnings(word: str) -> Sequence[Node]:
    root = lexicon().root
    return [root[key] for key in _keys.__wrapped__(word) if key in root]


def match(lex: Lexicon, words: Sequence[str], at: int) -> tuple[int, frozenset[str]]:
    """The longest phrase that begins at a word: how many words it takes and its tags; one word without tags if there is none."""
    first = words[at]
    states = (_beginnings if len(first) <= WORD_KEPT else _beginnings.__wrapped__)(first)
    best = NOTHING
    length = 1
    if not states:
        return best
    last = min(PHRASE_LONGEST, len(words) - at)
    while True:
        for node in states:
            if "" in node:
                best = (length, lex.sets[node[""]])
                break
        if length >= last:
            return best
        following = lex.keys(words[at + length])
        states = [node[key] for node in states for key in following if key in node][:_STATES]
        if not states:
            return best
        length += 1
