"""Exact lines with their numbers: around what the log names, what the task names, what the task's words hit most densely."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from ues_core.contract import SnippetRow
from ues_core.reasoning.packet._symbols import Symbol
from ues_core.reasoning.packet._words import words_of
from ues_core.redact import cut_text

WINDOW: Final = 28
"""Lines of a snippet: about one function."""
SCANNED_LINES: Final = 20_000


def snippet_of(
    path: str, shown: str, digest: str, *, query: Sequence[str], lines: tuple[int, ...], symbols: Sequence[Symbol], chars: int
) -> SnippetRow | None:
    """The best window of a file, at most ``chars`` characters. ``shown`` is its text *after* redaction, which keeps line breaks."""
    rows = shown.split("\n")
    if not shown.strip():
        return None
    centre = _named(lines, rows) or _densest(rows[:SCANNED_LINES], frozenset(query))
    inner = [s for s in symbols if s.start <= centre <= s.end and s.end - s.start < WINDOW]
    if inner:
        widest = min(inner, key=lambda s: s.start - s.end)
        start = max(1, min(widest.start, centre - 2))
    else:
        start = max(1, centre - WINDOW // 3)
    end = min(len(rows), start + WINDOW - 1)
    while end > start and not rows[end - 1].strip():
        end -= 1
    while end > start and sum(len(r) + 1 for r in rows[start - 1 : end]) > chars:
        if end > centre:
            end -= 1
        else:
            start += 1
    text = "\n".join(rows[start - 1 : end])
    return SnippetRow(path=path, start=start, end=end, text=cut_text(text, chars), digest=digest)


def _named(lines: tuple[int, ...], rows: list[str]) -> int:
    return next((line for line in lines if 1 <= line <= len(rows)), 0)


def _densest(rows: list[str], query: frozenset[str]) -> int:
    """The line around which most different words of the task stand; definitions count double."""
    hits = [query.intersection(words_of(row)) if row else frozenset[str]() for row in rows]
    best, best_score = 1, -1.0
    for n, here in enumerate(hits):
        if not here:
            continue
        near = frozenset[str]().union(*hits[n : n + WINDOW // 2])
        stripped = rows[n].lstrip()
        definition = stripped.startswith(("def ", "class ", "async def ", "function ", "export ", "fn ", "func ", "pub "))
        score = len(near) + len(here) * (2.0 if definition else 1.0)
        if score > best_score:
            best, best_score = n + 1, score
    return best
