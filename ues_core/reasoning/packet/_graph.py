"""Edges of the import graph that touch the relevant files."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Sequence
from typing import Final

from ues_core.contract import EdgeRow
from ues_core.reasoning.packet._corpus import Document
from ues_core.reasoning.packet._symbols import imports_of, python_modules

EDGES_KEPT: Final = 60
PARSED_FILES: Final = 600
"""Files whose imports are read: the relevant ones first, then others that may import them."""


def edge_rows(relevant: Sequence[str], documents: Sequence[Document], remaining: Callable[[], float]) -> list[EdgeRow]:
    """Import edges with at least one relevant end; those between two relevant files come first."""
    known = frozenset(d.file.path for d in documents)
    modules = python_modules(known)
    place = {path: n for n, path in enumerate(relevant)}
    order = sorted(documents, key=lambda d: (place.get(d.file.path, len(place)), d.file.path))
    edges: list[tuple[int, int, str, str]] = []
    names = frozenset(posixpath.splitext(posixpath.basename(path))[0] for path in relevant)
    for n, document in enumerate(order[:PARSED_FILES]):
        source = document.file.path
        if n % 32 == 0 and remaining() <= 0:
            break
        if source not in place and not any(name in document.text for name in names):
            continue
        for target in imports_of(source, document.text, known, modules):
            ends = [place[p] for p in (source, target) if p in place]
            if ends:
                edges.append((-len(ends), min(ends), source, target))
    edges.sort()
    return [EdgeRow(source=source, target=target) for _, _, source, target in edges[:EDGES_KEPT]]
