"""Which files matter for a task: BM25 over contents and over names, what the task and the log name, what commits like it touched,
what changes with the best of them and what imports them.
"""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ues_core.contract import LeftOut
from ues_core.reasoning.packet._corpus import Document, Lexicon
from ues_core.reasoning.packet._past import PastCommit, alike, together
from ues_core.reasoning.packet._symbols import imports_of, python_modules
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._words import query_of, words_of

_CONTENT, _NAMES, _PAST, _TOGETHER, _LINKED = 1.0, 0.5, 0.8, 0.6, 0.4
_MENTION, _CHANGED, _PINNED = 2.0, 0.5, 10.0
"""Weights of the signals, each normalised to 0..1 first. The first five were chosen on every other commit of this project and
looked at on the rest (``make retrieval`` measures); a file that the task names outranks any that only resembles it."""
_TEST_SHARE: Final = 0.85
"""Tests talk about everything that they test; they count a little less than the code itself."""
_PROSE_SHARE: Final = 0.6
"""So do texts and data, which are long and hold every word."""
SEEDS: Final = 8
"""The best files by their own words, from which commits and imports lead to others."""
LINKED_FILES: Final = 300
"""Files whose imports are read to see whether they lead to a seed."""

_PROSE: Final = re.compile(r"\.(?:md|rst|txt|adoc|json|jsonl|ya?ml|csv|tsv|xml|svg|po|ini|cfg|toml)$", re.IGNORECASE)
_TEST_WORDS: Final = frozenset(["test", "tests", "spec", "specs", "fixtures"])


class Ranked(NamedTuple):
    """A relevant file, its score, and why."""

    document: Document
    score: float
    why: str


class Hints(NamedTuple):
    """What is known beside the task's words."""

    named: Mapping[str, tuple[int, ...]] = {}
    """Paths that the task or the log names, with lines."""
    changed: frozenset[str] = frozenset()
    pinned: frozenset[str] = frozenset()
    past: Sequence[PastCommit] = ()


def rank(
    task: str,
    documents: Sequence[Document],
    hints: Hints,
    lexicon: Lexicon,
    *,
    tally: Tally,
    remaining: Callable[[], float],
) -> list[Ranked]:
    """Every document with a score above zero, best first; equal scores in path order."""
    query = query_of(task)
    reached = lexicon.read(documents, query, remaining)
    if reached < len(documents):
        tally.add(LeftOut.TIME_BUDGET, documents[reached].file.path, len(documents) - reached)
    place = {document.file.path: n for n, document in enumerate(documents)}
    content = _normal(dict(enumerate(lexicon.contents(query))))
    names = _normal(dict(enumerate(lexicon.names(query))))
    past = _normal(alike(hints.past, lexicon.subjects(hints.past, query), place))
    tests = "test" in query or "tests" in query
    own = {
        n: (_CONTENT * content.get(n, 0.0) + _NAMES * names.get(n, 0.0) + _PAST * past.get(n, 0.0)) * _share(path, tests)
        for path, n in place.items()
        if n in content or n in names or n in past
    }
    for path in hints.named:
        if path in place:
            own[place[path]] = own.get(place[path], 0.0) + _MENTION
    seeds = dict(sorted(own.items(), key=lambda item: (-item[1], documents[item[0]].file.path))[:SEEDS])
    beside = _normal(together(hints.past, seeds, place))
    linked = _normal(_linked(documents, seeds, place, remaining))
    ranked: list[Ranked] = []
    for n, document in enumerate(documents):
        path = document.file.path
        score = own.get(n, 0.0) + _TOGETHER * beside.get(n, 0.0) + _LINKED * linked.get(n, 0.0)
        score += _CHANGED * (path in hints.changed) + _PINNED * (path in hints.pinned)
        if score > 0:
            reasons = (
                ("content", content.get(n, 0.0)),
                ("names", names.get(n, 0.0)),
                ("commits like it", past.get(n, 0.0)),
                ("changes with others here", beside.get(n, 0.0)),
                ("imports", linked.get(n, 0.0)),
                ("changed", path in hints.changed),
                ("named", path in hints.named),
                ("asked for", path in hints.pinned),
            )
            ranked.append(Ranked(document, round(score, 4), ", ".join(word for word, holds in reasons if holds)))
    ranked.sort(key=lambda r: (-r.score, r.document.file.path))
    return ranked


def _normal(scores: Mapping[int, float]) -> dict[int, float]:
    """Scores as shares of the best one; those of nothing are left out."""
    top = max(scores.values(), default=0.0)
    return {n: score / top for n, score in scores.items() if score > 0} if top > 0 else {}


def _share(path: str, tests_wanted: bool) -> float:
    share = _PROSE_SHARE if _PROSE.search(path) else 1.0
    return share * _TEST_SHARE if not tests_wanted and not _TEST_WORDS.isdisjoint(words_of(path)) else share


def _linked(
    documents: Sequence[Document], seeds: Mapping[int, float], place: Mapping[str, int], remaining: Callable[[], float]
) -> dict[int, float]:
    """Places of what the seeds import, of what imports them, and of their tests, weighted by the seeds' scores."""
    known = frozenset(place)
    modules = python_modules(known)
    found: dict[int, float] = defaultdict(float)
    stems: dict[str, list[int]] = defaultdict(list)
    for n in seeds:
        stems[_stem(documents[n].file.path)].append(n)
    for n, weight in seeds.items():
        targets = imports_of(documents[n].file.path, documents[n].text, known, modules)
        for target in targets:
            found[place[target]] += weight / (1 + len(targets))
    for n, document in _mentioning(documents, stems, remaining):
        for target in imports_of(document.file.path, document.text, known, modules):
            found[n] += seeds.get(place[target], 0.0) / 6
    for path, n in place.items():
        for seed in stems.get(_stem(path), ()):
            if seed != n:
                found[n] += seeds[seed] / 3
    return found


def _mentioning(
    documents: Sequence[Document], stems: Mapping[str, Any], remaining: Callable[[], float]
) -> Iterator[tuple[int, Document]]:
    """Documents whose text holds the name of a seed, at most ``LINKED_FILES``."""
    left = LINKED_FILES
    for n, document in enumerate(documents):
        if n % 256 == 0 and remaining() <= 0:
            return
        if any(stem in document.text for stem in stems if len(stem) > 2):
            left -= 1
            if left < 0:
                return
            yield n, document


def _stem(path: str) -> str:
    """A file's name without its ending and without what makes it the test of another: ``test_cache.py`` is ``cache``."""
    stem = posixpath.basename(path).split(".", 1)[0].lower()
    return stem.removeprefix("test_").removesuffix("_test").removesuffix("spec").strip("_") or stem
