"""Which files matter for a task: BM25 over contents and over names, what the task and the log name, what commits like it touched,
what changes with the best of them and what imports them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, NamedTuple

from ues_core.contract import LeftOut
from ues_core.reasoning.packet._graph import ImportGraph
from ues_core.reasoning.packet._lexicon import Document, Lexicon
from ues_core.reasoning.packet._past import PastCommit, alike, together
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._words import query_of

_CONTENT, _NAMES, _PAST, _TOGETHER, _LINKED = 1.0, 0.5, 0.8, 0.6, 0.4
_MENTION, _CHANGED, _PINNED = 2.0, 0.5, 10.0
"""Weights of the signals, each normalised to 0..1 first. The first five were chosen on every other commit of this project and
looked at on the rest (``make retrieval`` measures); a file that the task names outranks any that only resembles it."""
SEEDS: Final = 8
"""The best files by their own words, from which commits and imports lead to others."""
RANKED: Final = 400
"""Files that are ranked by name; a packet shows at most 200 of them."""


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


class Ranking(NamedTuple):
    """The best files, best first, and how many have any score at all."""

    best: list[Ranked]
    relevant: int


def rank(
    task: str,
    documents: Sequence[Document],
    identity: str,
    hints: Hints,
    lexicon: Lexicon,
    graph: ImportGraph,
    *,
    tally: Tally,
    remaining: Callable[[], float],
) -> Ranking:
    """Rank documents, which are in path order; equal scores stay in it. ``identity`` is the digest of what they hold."""
    import numpy

    query = query_of(task)
    reached = lexicon.read(documents, identity, query, remaining)
    if reached < len(documents):
        tally.add(LeftOut.TIME_BUDGET, count=len(documents) - reached)
    graph.read(documents, identity, remaining)
    size = len(documents)
    place = graph.place
    content, names = _normal(lexicon.contents(query), size), _normal(lexicon.names(query), size)
    past = _normal(alike(hints.past, lexicon.subjects(hints.past, query), place), size)
    shares = graph.prose * (1.0 if "test" in query or "tests" in query else graph.tests)
    own = (_CONTENT * content + _NAMES * names + _PAST * past) * shares
    for path in hints.named:
        if path in place:
            own[place[path]] += _MENTION
    seeds = {int(n): float(own[n]) for n in numpy.argsort(-own, kind="stable")[:SEEDS] if own[n] > 0}
    beside = _normal(together(hints.past, seeds, place), size)
    linked = _normal(graph.beside(seeds), size)
    total = own + _TOGETHER * beside + _LINKED * linked
    for paths, weight in ((hints.changed, _CHANGED), (hints.pinned, _PINNED)):
        for path in paths:
            if path in place:
                total[place[path]] += weight
    ranked: list[Ranked] = []
    for n in numpy.argsort(-total, kind="stable")[:RANKED]:
        if total[n] <= 0:
            break
        path = documents[n].file.path
        reasons = (
            ("content", content[n]),
            ("names", names[n]),
            ("commits like it", past[n]),
            ("changes with others here", beside[n]),
            ("imports", linked[n]),
            ("changed", path in hints.changed),
            ("named", path in hints.named),
            ("asked for", path in hints.pinned),
        )
        why = ", ".join(word for word, holds in reasons if holds)
        ranked.append(Ranked(documents[n], round(float(total[n]), 4), why))
    return Ranking(ranked, int((total > 0).sum()))


def _normal(scores: Any, size: int) -> Any:
    """Scores by place, or an array of them, as an array of shares of the best one."""
    import numpy

    array = numpy.zeros(size)
    if isinstance(scores, Mapping):
        for n, score in scores.items():
            array[n] = score
    elif len(scores):
        array += scores
    top = array.max(initial=0.0)
    return array / top if top > 0 else array
