"""Which files matter for a task: BM25 over contents, words of the path, what the task and the log name, what has changed."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import LeftOut
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import LISTING_BYTES, SourceFile, decode_source, read_source
from ues_core.reasoning.packet._words import query_of, words_of

CORPUS_FILES: Final = 20_000
CORPUS_BYTES: Final = 20_000_000
"""What is read for ranking, at most; larger repositories are narrowed by path first."""

SEARCHED_WORDS: Final = 8
"""Words that a large repository is searched for; each is one call of git."""

_CONTENT, _PATH, _MENTION, _CHANGED, _PINNED = 1.0, 0.6, 2.0, 0.5, 10.0
"""Weights of the signals. Each is normalised to 0..1 first; a file that the task names outranks any that only resembles it."""
_TEST_SHARE: Final = 0.75
"""Tests talk about everything that they test; they count a little less than the code itself."""


class Document(NamedTuple):
    """A file that was read for ranking."""

    file: SourceFile
    text: str
    digest: str


class Ranked(NamedTuple):
    """A relevant file, its score, and why."""

    document: Document
    score: float
    why: str


def search_hits(git: Git, query: Sequence[str]) -> Counter[str]:
    """In a repository too large to be read: how many of the task's most telling words each tracked file holds, by git's search."""
    hits: Counter[str] = Counter()
    for word in sorted(query, key=len, reverse=True)[:SEARCHED_WORDS]:
        listed = git.read("grep", "-l", "-z", "-I", "-i", "-F", "--no-textconv", "-e", word, "--", ".", limit=LISTING_BYTES)
        hits.update(path.decode("utf-8", "replace") for path in (listed or b"").split(b"\0") if path)
    return hits


def read_corpus(
    root: Path,
    files: Sequence[SourceFile],
    query: Sequence[str],
    first: Sequence[str],
    tally: Tally,
    remaining: Callable[[], float],
    git: Git,
) -> list[Document]:
    """Read what is worth ranking: files named first, then those whose path shares words with the task, then the rest."""
    wanted, head = set(query), {p: n for n, p in enumerate(first)}
    large = len(files) > CORPUS_FILES or sum(f.size for f in files) > CORPUS_BYTES
    hits = search_hits(git, query) if large and git.available else Counter[str]()
    order = sorted(
        files,
        key=lambda f: (head.get(f.path, len(head)), -len(wanted.intersection(words_of(f.path))) - hits[f.path], f.path),
    )
    documents: list[Document] = []
    spent = 0
    for n, file in enumerate(order):
        if len(documents) >= CORPUS_FILES or spent + file.size > CORPUS_BYTES:
            tally.add(LeftOut.OVER_BUDGET, file.path)
            continue
        if n % 64 == 0 and remaining() <= 0:
            tally.add(LeftOut.TIME_BUDGET, file.path, len(order) - n)
            break
        data, reason = read_source(root, file.path)
        if reason is not None:
            tally.add(reason, file.path)
            continue
        spent += len(data)
        documents.append(Document(file, decode_source(data), hashlib.sha256(data).hexdigest()))
    return documents


def rank(
    task: str,
    documents: Sequence[Document],
    *,
    named: Mapping[str, tuple[int, ...]],
    changed: frozenset[str],
    pinned: frozenset[str],
    tally: Tally,
    remaining: Callable[[], float],
) -> list[Ranked]:
    """Every document with a score above zero, best first; equal scores in path order."""
    query = query_of(task)
    content = _bm25(documents, query, tally, remaining)
    top = max(content, default=0.0) or 1.0
    wanted = set(query)
    ranked: list[Ranked] = []
    for document, raw in zip(documents, content, strict=True):
        path = document.file.path
        path_words = words_of(path)
        shared = wanted.intersection(path_words)
        score = _CONTENT * raw / top + _PATH * (len(shared) / (len(set(path_words)) or 1))
        reasons = ["content"] if raw > 0 else []
        if shared:
            reasons.append("path: " + " ".join(sorted(shared)[:4]))
        if any(w in ("test", "tests", "spec", "fixtures") for w in path_words) and not wanted & {"test", "tests"}:
            score *= _TEST_SHARE
        if path in changed:
            score += _CHANGED
            reasons.append("changed")
        if path in named:
            score += _MENTION
            reasons.append("named")
        if path in pinned:
            score += _PINNED
            reasons.append("asked for")
        if score > 0:
            ranked.append(Ranked(document, round(score, 4), ", ".join(reasons)))
    ranked.sort(key=lambda r: (-r.score, r.document.file.path))
    return ranked


def _bm25(documents: Sequence[Document], query: Sequence[str], tally: Tally, remaining: Callable[[], float]) -> list[float]:
    """A score for each document; those that time did not reach score nothing and are counted."""
    corpus: list[list[str]] = []
    if query:
        for n, document in enumerate(documents):
            if n % 32 == 0 and remaining() <= 0:
                tally.add(LeftOut.TIME_BUDGET, document.file.path, len(documents) - n)
                break
            corpus.append(words_of(document.file.path) + words_of(document.text) or ["\0"])
    vocabulary = frozenset[str]().union(*corpus)
    known = [word for word in query if word in vocabulary]
    if not known:
        return [0.0] * len(documents)
    import bm25s  # type: ignore[import-untyped]  # here, not above: it loads numpy, which only a packet needs

    index = bm25s.BM25(method="lucene")
    index.index(corpus, show_progress=False)
    scores = [float(score) for score in index.get_scores(known)]
    return scores + [0.0] * (len(documents) - len(scores))
