"""The words of a corpus: each text is taken apart once, and two indexes score it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

from ues_core.reasoning.packet._past import PastCommit
from ues_core.reasoning.packet._symbols import defined_names
from ues_core.reasoning.packet._tree import SourceFile
from ues_core.reasoning.packet._words import words_of

TOKENS_KEPT: Final = 8_000_000
"""Words that are remembered between corpora, at most: about 64 MB of references, the words themselves being shared."""
VOCABULARY: Final = 500_000
"""Different words that are told apart; a repository with more holds data, and what comes later is known by its other words."""
PATH_WEIGHT: Final = 3
"""A word of the path counts as often as this many definitions in the file."""

Words = tuple[str, ...]
"""Not a list: the interpreter's collector need not look into a tuple of texts, and there are millions of them."""


class Document(NamedTuple):
    """A file that was read for ranking."""

    file: SourceFile
    text: str
    digest: str
    """SHA-256 of its bytes, 64 hex."""


class Lexicon:
    """The words of a corpus, in two indexes: what files say, and what they and their definitions are called.

    What was taken apart once is kept by the digest of its content, so that the next corpus of the same repository costs only
    what changed. Not for two threads at once.
    """

    def __init__(self) -> None:
        self._kept: dict[str, tuple[Words, Words]] = {}
        self._tokens = 0
        self._shared: dict[str, str] = {}
        """Every word once, so that each text holds references alone."""
        self._corpus = ""
        self._contents: _Index = _Index([])
        self._names: _Index = _Index([])

    def read(self, documents: Sequence[Document], identity: str, query: Sequence[str], remaining: Callable[[], float]) -> int:
        """Take ``documents`` apart, those first whose path shares words with the query; how many time allowed.

        ``identity`` is a digest over their paths and contents: equal means that there is nothing to do. The others score nothing.
        """
        if not query or (identity and identity == self._corpus):
            return len(documents)
        self._shared.update((word, word) for word in query if word not in self._shared)
        paths = [words_of(document.file.path) for document in documents]
        wanted = set(query)
        order = sorted(range(len(documents)), key=lambda n: -len(wanted.intersection(paths[n])))
        contents: list[Words] = [()] * len(documents)
        names: list[Words] = [()] * len(documents)
        reached = 0
        for n in order:
            if reached % 32 == 0 and remaining() <= 0:
                break
            said, defined = self._words(documents[n])
            contents[n] = (*paths[n], *said)
            names[n] = (*paths[n] * PATH_WEIGHT, *defined)
            reached += 1
        self._corpus = identity if reached == len(documents) else ""
        self._contents, self._names = _Index(contents), _Index(names)
        return reached

    def _words(self, document: Document) -> tuple[Words, Words]:
        kept = self._kept.get(document.digest)
        if kept is None:
            if self._tokens > TOKENS_KEPT:
                self._kept.clear()
                self._tokens = 0
            kept = self._share(words_of(document.text)), self._share(words_of(" ".join(defined_names(document.text))))
            self._tokens += len(kept[0]) + len(kept[1])
            self._kept[document.digest] = kept
        return kept

    def _share(self, words: list[str]) -> Words:
        shared = self._shared
        if len(shared) + len(words) <= VOCABULARY:
            return tuple([shared.setdefault(word, word) for word in words])
        known = (shared.setdefault(word, word) if len(shared) < VOCABULARY else shared.get(word) for word in words)
        return tuple([word for word in known if word is not None])

    def contents(self, query: Sequence[str]) -> Any:
        """A score for each document, by what it says: an array."""
        return self._contents.scores(query)

    def names(self, query: Sequence[str]) -> Any:
        """A score for each document, by what it and its definitions are called: an array."""
        return self._names.scores(query)

    def subjects(self, commits: Sequence[PastCommit], query: Sequence[str]) -> list[float]:
        """A score for each commit, by its subject."""
        return [float(score) for score in _Index([tuple(words_of(commit.subject)) for commit in commits]).scores(query)]


class _Index:
    """BM25 over lists of words. They are let go once the index is made."""

    def __init__(self, corpus: Sequence[Words]) -> None:
        self._corpus: Sequence[Words] = corpus
        self._size = len(corpus)
        self._made: Any = None
        self._vocabulary: frozenset[str] = frozenset()

    def scores(self, query: Sequence[str]) -> Any:
        """A score for each list, as an array."""
        import numpy

        if not self._size or not query:
            return numpy.zeros(self._size)
        if self._made is None:
            import bm25s  # type: ignore[import-untyped]  # here, not above: it loads numpy, which only a packet needs

            self._vocabulary = frozenset().union(*self._corpus)
            self._made = bm25s.BM25(method="lucene")
            self._made.index([list(words) or ["\0"] for words in self._corpus], show_progress=False)
            self._corpus = ()
        known = [word for word in query if word in self._vocabulary]
        return self._made.get_scores(known) if known else numpy.zeros(self._size)
