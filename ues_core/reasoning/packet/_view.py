"""A repository as evidence is taken from it: its map, its current diff, its commits and its tests, within one deadline."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from ues_core.reasoning.packet._changes import current_changes, diff_rows, head_of, recent_commits
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._map import map_rows
from ues_core.reasoning.packet._symbols import symbols_of
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import list_files
from ues_core.reasoning.packet._words import words_of

VIEW_SECONDS: Final = 15.0
TEST_FILES: Final = 200
"""Test files whose names are read, at most."""


class RepositoryView:
    """One look at a repository. Synchronous and bounded: use it in a thread."""

    def __init__(self, root: Path, *, seconds: float = VIEW_SECONDS, clock: Callable[[], float] = time.monotonic) -> None:
        end = clock() + seconds
        self._root = root
        self._remaining: Callable[[], float] = lambda: end - clock()
        self._git = Git(root, remaining=self._remaining)
        self._files = list_files(root, self._git, Tally(), self._remaining)
        self._head, self._branch = head_of(self._git) if self._git.available else ("", "")
        self.paths = frozenset(file.path for file in self._files)
        """The paths that a packet could show."""

    def summary(self) -> list[str]:
        """The lines of the architecture map."""
        return [row.text for row in map_rows(self._root, self._files, head=self._head, branch=self._branch)]

    def diff(self, scope: str = "") -> str:
        """The uncommitted changes of a file, a folder or everything, without what must not be shown."""
        if not self._git.available:
            return ""
        rows = diff_rows(current_changes(self._git, self._head), Tally())
        return "\n".join(row.text for row in rows if _within(row.path, scope))

    def commits(self, scope: str = "") -> str:
        """The last commits that touched it: abbreviated id, day, subject."""
        row = recent_commits(self._git, scope or ".") if self._git.available else None
        return row.text if row is not None else ""

    def test_names(self, scope: str, text_of: Callable[[str], str | None]) -> list[str]:
        """One line for each test file: its path and what it names a test."""
        lines: list[str] = []
        tests = [f.path for f in self._files if _within(f.path, scope) and is_test(f.path)]
        for path in tests[:TEST_FILES]:
            if self._remaining() <= 0:
                break
            names = [s.name for s in symbols_of(path, text_of(path) or "") if "test" in s.name.lower()]
            if names:
                lines.append(f"{path}: {', '.join(names)}")
        return lines


def is_test(path: str) -> bool:
    """Whether a path is that of a test, by its words."""
    return not {"test", "tests", "spec", "specs"}.isdisjoint(words_of(path))


def _within(path: str, scope: str) -> bool:
    return not scope or path == scope or path.startswith(scope + "/")
