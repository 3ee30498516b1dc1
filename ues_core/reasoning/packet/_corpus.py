"""The texts that are ranked: read within bounds, and taken apart into words once."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

from ues_core.contract import LeftOut
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._past import PastCommit
from ues_core.reasoning.packet._symbols import defined_names
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import LISTING_BYTES, SourceFile, decode_source, read_source
from ues_core.reasoning.packet._words import words_of

CORPUS_FILES: Final = 20_000
CORPUS_BYTES: Final = 20_000_000
"""What is read for ranking, at most; larger repositories are narrowed by path first."""
SEARCHED_WORDS: Final = 8
"""Words that a large repository is searched for; each is one call of git."""
TOKENS_KEPT: Final = 8_000_000
"""Words that are remembered between corpora, at most: about 64 MB of references, the words themselves being shared."""
PATH_WEIGHT: Final = 3
"""A word of the path counts as often as this many definitions in the file."""


class Document(NamedTuple):
    """A file that was read for ranking."""

    file: SourceFile
    text: str
    digest: str
    """SHA-256 of its bytes, 64 hex."""


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


class Lexicon:
    """The words of a corpus, in two indexes: what files say, and what they and their definitions are called.

    What was taken apart once is kept by the digest of its content, so that the next corpus of the same repository costs only
    what changed. Not for two threads at once.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[list[str], list[str]]] = {}
        self._tokens = 0
        self._corpus = ""
        self._contents: _Index = _Index([])
        self._names: _Index = _Index([])

    def read(self, documents: Sequence[Document], query: Sequence[str], remaining: Callable[[], float]) -> int:
        """Take ``documents`` apart; how many of them time allowed. Those after them score nothing."""
        if not query:
            self._corpus, self._contents, self._names = "", _Index([]), _Index([])
            return len(documents)
        identity = hashlib.sha256(
            "\0".join(f"{d.file.path}\0{d.digest}" for d in documents).encode("utf-8", "replace")
        ).hexdigest()
        if identity == self._corpus:
            return len(documents)
        contents: list[list[str]] = []
        names: list[list[str]] = []
        for n, document in enumerate(documents):
            if n % 32 == 0 and remaining() <= 0:
                break
            path = words_of(document.file.path)
            said, defined = self._words(document)
            contents.append(path + said)
            names.append(path * PATH_WEIGHT + defined)
        self._corpus = identity if len(contents) == len(documents) else ""
        self._contents, self._names = _Index(contents), _Index(names)
        return len(contents)

    def _words(self, document: Document) -> tuple[list[str], list[str]]:
        kept = self._kept.get(document.digest)
        if kept is None:
            kept = words_of(document.text), words_of(" ".join(defined_names(document.text)))
            self._tokens += len(kept[0]) + len(kept[1])
            if self._tokens > TOKENS_KEPT:
                self._kept.clear()
                self._tokens = len(kept[0]) + len(kept[1])
            self._kept[document.digest] = kept
        return kept

    def contents(self, query: Sequence[str]) -> list[float]:
        """A score for each document that was read, by what it says."""
        return self._contents.scores(query)

    def names(self, query: Sequence[str]) -> list[float]:
        """A score for each document that was read, by what it and its definitions are called."""
        return self._names.scores(query)

    def subjects(self, commits: Sequence[PastCommit], query: Sequence[str]) -> list[float]:
        """A score for each commit, by its subject."""
        return _Index([words_of(commit.subject) for commit in commits]).scores(query)


class _Index:
    """BM25 over lists of words."""

    def __init__(self, corpus: Sequence[list[str]]) -> None:
        self._corpus = [words or ["\0"] for words in corpus]
        self._made: Any = None
        self._vocabulary: frozenset[str] = frozenset()

    def scores(self, query: Sequence[str]) -> list[float]:
        """A score for each list."""
        if not self._corpus or not query:
            return [0.0] * len(self._corpus)
        if self._made is None:
            import bm25s  # type: ignore[import-untyped]  # here, not above: it loads numpy, which only a packet needs

            self._vocabulary = frozenset().union(*self._corpus)
            self._made = bm25s.BM25(method="lucene")
            self._made.index(self._corpus, show_progress=False)
        known = [word for word in query if word in self._vocabulary]
        return [float(score) for score in self._made.get_scores(known)] if known else [0.0] * len(self._corpus)
