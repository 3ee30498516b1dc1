"""Which files import which, which is the test of which, and what kind of file each is."""

from __future__ import annotations

import posixpath
import re
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from ues_core.contract import EdgeRow
from ues_core.reasoning.packet._lexicon import Document
from ues_core.reasoning.packet._symbols import imports_of, python_modules
from ues_core.reasoning.packet._words import words_of

EDGES_KEPT: Final = 60
TEST_SHARE: Final = 0.85
"""Tests talk about everything that they test; they count a little less than the code itself."""
PROSE_SHARE: Final = 0.6
"""So do texts and data, which are long and hold every word."""

_PROSE: Final = re.compile(r"\.(?:md|rst|txt|adoc|json|jsonl|ya?ml|csv|tsv|xml|svg|po|ini|cfg|toml)$", re.IGNORECASE)
_TEST_WORDS: Final = frozenset(["test", "tests", "spec", "specs", "fixtures"])


class ImportGraph:
    """The graph of one corpus; of the next one only what changed is read. Not for two threads at once."""

    def __init__(self) -> None:
        self._corpus = ""
        self._paths: frozenset[str] = frozenset()
        self._known: dict[tuple[str, str], list[str]] = {}
        self.place: dict[str, int] = {}
        """Path -> its place among the documents."""
        self.prose: Any = 1.0
        """For each document, the share of its score that counts: less for texts and data."""
        self.tests: Any = 1.0
        """The same: less for tests."""
        self._imports: list[list[int]] = []
        self._importers: dict[int, list[int]] = {}
        self._twins: dict[str, list[int]] = {}
        self._stems: list[str] = []

    def read(self, documents: Sequence[Document], identity: str, remaining: Callable[[], float]) -> None:
        """Read the imports of ``documents`` as far as time allows. ``identity`` is a digest over their paths and contents."""
        import numpy

        if identity and identity == self._corpus:
            return
        paths = [document.file.path for document in documents]
        known = frozenset(paths)
        if known != self._paths:
            # what an import means depends on which files there are
            self._paths, self._known = known, {}
        self.place = {path: n for n, path in enumerate(paths)}
        self.prose = numpy.array([PROSE_SHARE if _PROSE.search(path) else 1.0 for path in paths])
        self.tests = numpy.array([1.0 if _TEST_WORDS.isdisjoint(words_of(path)) else TEST_SHARE for path in paths])
        self._stems = [_stem(path) for path in paths]
        self._twins = defaultdict(list)
        for n, stem in enumerate(self._stems):
            self._twins[stem].append(n)
        modules = python_modules(known)
        self._imports = [[] for _ in documents]
        self._importers = defaultdict(list)
        kept: dict[tuple[str, str], list[str]] = {}
        self._corpus = identity
        for n, document in enumerate(documents):
            if n % 64 == 0 and remaining() <= 0:
                self._corpus = ""
                break
            key = (document.file.path, document.digest)
            targets = self._known.get(key)
            if targets is None:
                targets = imports_of(document.file.path, document.text, known, modules)
            kept[key] = targets
            self._imports[n] = [self.place[target] for target in targets]
            for target in self._imports[n]:
                self._importers[target].append(n)
        self._known = kept

    def beside(self, seeds: Mapping[int, float]) -> dict[int, float]:
        """Places of what the seeds import, of what imports them, and of their tests, weighted by the seeds' scores."""
        found: dict[int, float] = defaultdict(float)
        for n, weight in seeds.items():
            for target in self._imports[n]:
                found[target] += weight / (1 + len(self._imports[n]))
            for importer in self._importers.get(n, ()):
                found[importer] += weight / 6
            for twin in self._twins[self._stems[n]]:
                if twin != n:
                    found[twin] += weight / 3
        return found

    def edge_rows(self, relevant: Sequence[str]) -> list[EdgeRow]:
        """Import edges with at least one relevant end; those between two relevant files come first."""
        order = {self.place[path]: n for n, path in enumerate(relevant) if path in self.place}
        names = {n: path for path, n in self.place.items() if n in order or not order.keys().isdisjoint(self._imports[n])}
        edges: set[tuple[int, int, str, str]] = set()
        for n in names:
            for target in self._imports[n]:
                ends = [order[m] for m in (n, target) if m in order]
                if ends:
                    edges.add((-len(ends), min(ends), names[n], names.get(target) or self._name(target)))
        return [EdgeRow(source=source, target=target) for _, _, source, target in sorted(edges)[:EDGES_KEPT]]

    def _name(self, place: int) -> str:
        return next(path for path, n in self.place.items() if n == place)


def _stem(path: str) -> str:
    """A file's name without its ending and without what makes it the test of another: ``test_cache.py`` is ``cache``."""
    stem = posixpath.basename(path).split(".", 1)[0].lower()
    return stem.removeprefix("test_").removesuffix("_test").removesuffix("spec").strip("_") or stem
