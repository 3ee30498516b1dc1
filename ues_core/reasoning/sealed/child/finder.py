"""Imports from a list of places and nowhere else.

An ordinary path entry is a folder, and looking for a module lists it: with ``site-packages`` on the path, every installed
package would be importable and its name readable. Here each importable name is mapped to its one place before the seal is
closed, so neither ``site-packages`` nor the folder of a source checkout has to be readable at all.
"""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

SUFFIXES = tuple(importlib.machinery.all_suffixes())


class PlacesFinder:
    """A meta path finder over ``{dotted name: file, folder, or None for a namespace without a folder of its own}``."""

    def __init__(self, places: Mapping[str, str | None], metadata: Sequence[str] = ()) -> None:
        self._places = dict(places)
        self._metadata = tuple(metadata)

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The module's specification when its name is one of ours."""
        if fullname not in self._places:
            return None
        place = self._places[fullname]
        if place is None:
            return _namespace(fullname, [])
        if not os.path.isdir(place):
            return importlib.util.spec_from_file_location(fullname, place)
        start = next((f for s in SUFFIXES if os.path.isfile(f := os.path.join(place, "__init__" + s))), None)
        if start is None:
            return _namespace(fullname, [place])
        return importlib.util.spec_from_file_location(fullname, start, submodule_search_locations=[place])

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        """The metadata of the provider, its dependencies and the core, for ``importlib.metadata``."""
        import pathlib
        from importlib.metadata import PathDistribution

        wanted = getattr(context, "name", None)
        for folder in self._metadata:
            found = PathDistribution(pathlib.Path(folder))
            if wanted is None or _same(found.metadata["Name"], wanted):
                yield found

    def invalidate_caches(self) -> None:
        """Nothing is cached."""


def standard_places() -> dict[str, str | None]:
    """Every top-level module of the interpreter's own library, by name. ``site-packages`` is no module and not among them."""
    places: dict[str, str | None] = {}
    for folder in sys.path:
        if not os.path.isdir(folder):
            continue
        for entry in os.scandir(folder):
            name = module_name(entry.name)
            if name is None and entry.is_dir() and os.path.isfile(os.path.join(entry.path, "__init__.py")):
                name = entry.name
            if name is not None:
                places.setdefault(name, entry.path)
    return places


def module_name(file: str) -> str | None:
    """``x`` for ``x.py`` and ``x.cpython-311-x86_64-linux-gnu.so``; ``None`` for what is no module."""
    for suffix in sorted(SUFFIXES, key=len, reverse=True):
        stem = file.removesuffix(suffix)
        if stem != file:
            return stem if "." not in stem else None  # _sysconfigdata__linux_x86_64-linux-gnu is a module too
    return None


def _namespace(fullname: str, folders: list[str]) -> ModuleSpec:
    spec = ModuleSpec(fullname, None, is_package=True)
    spec.submodule_search_locations = folders
    return spec


def _same(one: str | None, other: str) -> bool:
    return (
        one is not None and one.replace("_", "-").replace(".", "-").lower() == other.replace("_", "-").replace(".", "-").lower()
    )
