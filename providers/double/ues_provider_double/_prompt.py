"""What the double reads out of a prompt: the places of the repository that it may truthfully point at."""

from __future__ import annotations

import re
from typing import Final, NamedTuple

_SNIPPET: Final = re.compile(r"^### (?P<path>\S.*?) lines (?P<start>\d{1,7})-(?P<end>\d{1,7})$")
_NUMBERED: Final = re.compile(r"^ *(?P<line>\d{1,7})\| (?P<text>.*)$")
_FILE: Final = re.compile(r"^- (?P<path>\S.*?) \(\d{1,12} bytes; ")
_ASKED: Final = re.compile(r"\bdouble-mood:[ ]?(?P<mood>[a-z][a-z-]{1,30})")
QUOTE_LEAST: Final = 12


class Place(NamedTuple):
    """A line of a file, as the prompt shows it; without a line when only the file is known."""

    path: str
    line: int = 0
    text: str = ""


def places_in(prompt: str) -> list[Place]:
    """One quotable line out of each snippet, then the relevant files without a snippet."""
    found: dict[str, Place] = {}
    path, best = "", Place("")
    for row in prompt.split("\n"):
        heading = _SNIPPET.match(row)
        if heading is not None:
            path, best = heading["path"], Place("")
            continue
        numbered = _NUMBERED.match(row) if path else None
        if numbered is None:
            path = ""
            listed = _FILE.match(row)
            if listed is not None:
                found.setdefault(listed["path"], Place(listed["path"]))
            continue
        text = numbered["text"].strip()
        if len(text) >= QUOTE_LEAST and "[REDACTED]" not in text and len(text) > len(best.text):
            best = Place(path, int(numbered["line"]), text[:200])
            found[path] = best
    quoted = [place for place in found.values() if place.text]
    return quoted + [place for place in found.values() if not place.text]


def mood_in(prompt: str) -> str:
    """The mood that the prompt itself asks for (``double-mood: badly``), or an empty text."""
    asked = _ASKED.search(prompt)
    return asked["mood"] if asked is not None else ""
