"""What the learned layer sees of a sentence: words and their neighbours, and what the word lists say about them.

A feature is a short string. Words count by their beginnings, which is what inflected languages have in common, characters of
scripts without blanks by themselves. The tags of the word lists say the same in ten languages, so that what is learned from one
language helps in the others.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from itertools import pairwise
from math import sqrt
from typing import Final, NamedTuple

from ues_core.reasoning.authority.words import Sentence

STEM: Final = 5
"""Letters of a word that count."""
WINDOW: Final = 48
"""Words that are weighed together; a longer sentence is read in windows that overlap by half."""
WORDS_LEAST: Final = 3
"""A shorter sentence is left to the rules: one word says too little."""
_LETTERS_WITHOUT_BLANKS: Final = "\u3040"
"""From this character on a word is a single character."""
_LEAST: Final = 10.0


class Piece(NamedTuple):
    """Words that are weighed together, as features, and the phrases of the sentence that they are."""

    features: AbstractSet[str]
    scale: float
    """What the weights of the features are multiplied with: long sentences do not outweigh short ones."""
    start: int
    end: int


def pieces(sentence: Sentence, shapes: AbstractSet[str], *, unseen: bool) -> Iterator[Piece]:
    """The windows of a sentence.

    ``shapes``: features of what the rules found in it; ``unseen``: a reader of the page does not see it.
    """
    last = len(sentence.tags) - 1
    given = set(shapes)
    if unseen:
        given.add("=unseen")
    words = sentence.words
    if len(words) < WORDS_LEAST:
        return
    if len(words) <= WINDOW:
        yield _piece(words, sentence.tags[1:last], given, sentence.asks, 1, last)
        return
    step = WINDOW // 2
    for left in range(1, max(2, last - step), step):
        right = min(last, left + WINDOW)
        within = range(sentence.first[left], sentence.first[right] if right < last else len(words))
        part = words[within.start : min(within.stop, within.start + 2 * WINDOW)]
        if part:
            yield _piece(part, sentence.tags[left:right], given, sentence.asks and right == last, left, right)


def _piece(words: Sequence[str], tags: Sequence[frozenset[str]], given: set[str], asks: bool, start: int, end: int) -> Piece:
    stems = ["<", *[w if w >= _LETTERS_WITHOUT_BLANKS else w[:STEM] for w in words], "?" if asks else ">"]
    labels = ["#<", *[_label(t) for t in tags if t], "#>"]
    found = set(stems)
    found.update(given, [f"<<{stem}" for stem in stems[1:4]], *map(_each, tags))
    found.update(map(" ".join, pairwise(stems)))
    found.update(map("  ".join, zip(stems, stems[2:], strict=False)))
    found.update(map(" ".join, pairwise(labels)))
    found.update(map("  ".join, zip(labels, labels[2:], strict=False)))
    found.add(f"={min(6, len(words) // 6)}")
    return Piece(found, 1 / sqrt(max(_LEAST, len(words) + len(labels))), start, end)


@lru_cache(maxsize=4096)
def _label(tags: frozenset[str]) -> str:
    return "#" + "+".join(sorted(tags))


@lru_cache(maxsize=4096)
def _each(tags: frozenset[str]) -> tuple[str, ...]:
    return tuple(f"##{name}" for name in tags)
