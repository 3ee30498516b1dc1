"""Paths and lines that a task or a failing log names outright: the strongest hint there is."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Final

_PATH: Final = re.compile(
    r"(?<![\w/.-])(?P<path>[\w.@+-]{1,100}(?:[/\\][\w.@+-]{1,100}){0,20})(?:(?::|\", line |\((?=\d))(?P<line>\d{1,7}))?"
)
SCANNED_CHARS: Final = 200_000


def mentioned(text: str, paths: Iterable[str]) -> dict[str, tuple[int, ...]]:
    """Known paths that ``text`` names (whole, as the tail of an absolute path, or by a unique file name), with their lines."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rpartition("/")[2].lower(), []).append(path)
    found: dict[str, list[int]] = {}
    for match in _PATH.finditer(text[:SCANNED_CHARS]):
        said = match["path"].replace("\\", "/").strip("./").lower()
        name = said.rpartition("/")[2]
        if "." not in name and "/" not in said:
            continue
        candidates = by_name.get(name, ())
        hits = [p for p in candidates if said.endswith(p.lower()) or p.lower().endswith("/" + said) or p.lower() == said]
        if not hits and len(candidates) == 1 and "/" not in said:
            hits = list(candidates)
        for path in hits[:3]:
            lines = found.setdefault(path, [])
            if match["line"] and len(lines) < 8:
                lines.append(int(match["line"]))
    return {path: tuple(lines) for path, lines in found.items()}
