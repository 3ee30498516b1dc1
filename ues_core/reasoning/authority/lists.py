"""Makes ``terms/lists.bin`` of the word lists and the shapes of claims: ``python -m ues_core.reasoning.authority.lists``.

Reading a few thousand lines of TOML and unfolding them takes longer than scanning an answer, so it is done once, by whoever
changes a list. A test compares the file with the lists.

The file is JSON, packed by zlib (whose checksum guards it): ``sets`` are the sets of tags that some spelling has; ``tree`` has a
step for every word of a phrase and, under the empty string, the number of the set that a phrase has which ends there;
``vocabulary`` are all words of phrases; ``claims`` the shapes, see ``claims``.
"""

from __future__ import annotations

import json
import sys
import zlib
from collections.abc import Iterator, Sequence
from importlib.resources import files
from pathlib import Path
from typing import Any, Final

from ues_core.reasoning.authority.fold import bare, fold
from ues_core.reasoning.authority.tables import CLAIM_TABLES, LANGUAGES, LISTS, expanded, table, units

_FORMS: Final = ("base", "imp", "inf")
"""Forms of a verb that may ask for something; ``fin`` and ``part`` tell."""
_PARTICLES: Final = ("to", "for", "para", "a", "à", "pour")
"""A phrase that ends in one of these is still the phrase without it."""
_MARKS: Final = ("COMMA", "COLON", "EQ", "PIPE", "QUOTE", "EDGE")
"""Tags of what is no word."""


class _Node:
    """A place in the tree of phrases."""

    __slots__ = ("following", "tags")

    def __init__(self) -> None:
        self.following: dict[str, _Node] = {}
        self.tags: frozenset[str] = frozenset()


def packed() -> bytes:
    """The file's content. The same lists give the same bytes."""
    root = _Node()
    vocabulary: set[str] = set()
    for phrase, tags in _entries():
        node = root
        for unit in phrase:
            vocabulary.add(unit)
            node = node.following.setdefault(unit, _Node())
        node.tags |= tags
    for word in _PARTICLES:
        _inherit(root, word)
    _share(root)
    sets: dict[frozenset[str], int] = {frozenset(): 0}
    tree = _plain(root, sets)
    for mark in _MARKS:
        sets.setdefault(frozenset([mark]), len(sets))
    whole = {
        "sets": [sorted(tags) for tags in sets],
        "tree": tree,
        "vocabulary": sorted(vocabulary),
        "claims": [
            [
                claims["category"],
                row["pattern"],
                row.get("with", ""),
                row.get("without", ""),
                bool(row.get("asks", False)),
                bool(row.get("weak", False)),
            ]
            for claims in map(table, CLAIM_TABLES)
            for row in claims["claim"]
        ],
    }
    return zlib.compress(json.dumps(whole, ensure_ascii=False, separators=(",", ":")).encode("utf-8"), 9)


def _plain(node: _Node, sets: dict[frozenset[str], int]) -> dict[str, Any]:
    out: dict[str, Any] = {}
    if node.tags:
        out[""] = sets.setdefault(node.tags, len(sets))
    for unit, child in node.following.items():
        out[unit] = _plain(child, sets)
    return out


def _share(node: _Node) -> None:
    """A word that is listed itself and by its stem has the tags of both."""
    stems = [unit for unit in node.following if unit.endswith("*")]
    for unit, child in node.following.items():
        for stem in stems:
            if child.tags and unit != stem and unit.startswith(stem[:-1]):
                child.tags |= node.following[stem].tags
        _share(child)


def _inherit(node: _Node, particle: str) -> None:
    for unit, child in node.following.items():
        _inherit(child, particle)
        if unit == particle and node.tags:
            child.tags |= node.tags


def _entries() -> Iterator[tuple[Sequence[str], frozenset[str]]]:
    for language in LANGUAGES:
        for tag, forms in table(f"words_{language}").items():
            for form, entries in forms.items():
                tags = _tags(tag, form)
                for entry in entries:
                    for phrase in expanded(entry):
                        spelled = fold(phrase).text
                        yield units(spelled), tags
                        plain = bare(spelled)
                        if plain != spelled and (" " in plain if language == "vi" else tag != "WH"):
                            yield units(plain), tags


def _tags(tag: str, form: str) -> frozenset[str]:
    names = tag.split("+")
    if form == "words":
        return frozenset(names)
    if form in _FORMS:
        return frozenset([*names, f".{form}"])
    return frozenset(f"{name}.{form}" for name in names)


def main() -> int:
    """Write the file beside the lists."""
    Path(str(files(__package__) / "terms" / LISTS)).write_bytes(packed())
    return 0


if __name__ == "__main__":
    sys.exit(main())
