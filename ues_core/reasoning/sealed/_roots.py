"""Which files a provider may read: exactly the package roots of its distribution and of what that depends on.

All of it comes out of installed metadata; nothing is imported. Of the core a provider sees the contract, so of the core's own
dependencies only what the contract needs is counted.

The metadata is the provider's own, and an installer keeps what a wheel says about itself. So it is not believed where that would
open more: a listed file must lie in the folder that it was installed to, a package that another distribution lists too is not
opened, and an editable installation must point at a checkout of that very distribution.
"""

from __future__ import annotations

import ast
import importlib.machinery
import json
import os
import re
import sys
import tomllib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from importlib import metadata
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit
from urllib.request import url2pathname

from ues_core.contract import Code, PluginError

CORE: Final = "ues-core"
CONTRACT_NEEDS: Final = ("pydantic", "pluggy")
"""Distributions that ``ues_core.contract`` and ``ues_core.hooks`` import."""

_REQUIREMENT: Final = re.compile(r"\s*([A-Za-z0-9][A-Za-z0-9._-]*)\s*(?:\[([^\]]*)\])?")
_EXTRA: Final = re.compile(r"""extra\s*==\s*['"]([^'"]+)['"]""")
_SUFFIXES: Final = tuple(sorted(importlib.machinery.all_suffixes(), key=len, reverse=True))
_DISTRIBUTIONS_MOST: Final = 400
_NOT_A_MODULE: Final = frozenset({"setup.py", "conftest.py", "noxfile.py"})


@dataclass(slots=True)
class Roots:
    """What the child may import and read."""

    places: dict[str, str | None] = field(default_factory=dict)
    """Importable dotted names and their file or folder; ``None`` for a namespace that several distributions share."""
    readable: list[str] = field(default_factory=list)
    metadata: list[str] = field(default_factory=list)
    """``*.dist-info`` folders."""
    distributions: list[str] = field(default_factory=list)


def roots_of(distribution: str, module: str, path: Sequence[str] | None = None) -> Roots:
    """The roots of ``distribution`` and its dependencies as they are installed on ``path`` (default ``sys.path``).

    ``module`` is what the entry point names; it has to be among what was found. Raises ``PluginError``.
    """
    search = list(sys.path if path is None else path)
    roots = Roots()
    _add_core(roots)
    seen: set[tuple[str, str]] = set()
    waiting = [(distribution, ""), *((name, "") for name in CONTRACT_NEEDS)]
    found: list[metadata.Distribution] = []
    while waiting:
        name, extras = waiting.pop()
        key = (_canonical(name), extras)
        if key in seen or key[0] == CORE or len(seen) > _DISTRIBUTIONS_MOST:
            continue
        seen.add(key)
        dist = _find(name, search)
        if dist is None:
            continue  # a dependency for another platform, or one that is missing: then the import says so
        if key[0] not in roots.distributions:
            roots.distributions.append(key[0])
            found.append(dist)
        waiting += _requirements(dist, extras)
    others = _Others(search, roots.distributions)
    for dist in found:
        _add(roots, dist, module if _canonical(dist.name) == _canonical(distribution) else "", others)
    top = module.partition(".")[0]
    if top not in roots.places:
        raise PluginError(
            f"The files of the module {top} are not listed by the distribution {distribution}, so it cannot be sealed.",
            code=Code.PLUGIN_FAILED,
            next_step=f"Install {distribution} from a wheel.",
            details={"distribution": distribution, "module": top},
        )
    return roots


def _add_core(roots: Roots) -> None:
    core = Path(__file__).resolve().parents[2]
    roots.places |= {
        "ues_core": str(core),
        "ues_core.contract": str(core / "contract"),
        "ues_core.hooks": str(core / "hooks.py"),
    }
    for part in ("__init__.py", "__pycache__", "hooks.py", "py.typed", "contract", "reasoning/sealed/child"):
        roots.readable.append(str(core / part))


class _Others:
    """What the distributions beside the provider and its dependencies say is theirs."""

    def __init__(self, search: list[str], own: Sequence[str]) -> None:
        self._lists: list[str] = []
        for dist in metadata.distributions(path=search):
            try:
                if _canonical(dist.name) not in own:
                    self._lists.append("\n" + (dist.read_text("RECORD") or dist.read_text("installed-files.txt") or ""))
            except Exception:  # noqa: BLE001 - a damaged installation of something unrelated says nothing about what is its own
                continue

    def list_too(self, inside: str) -> bool:
        """Whether one of them lists this file, or a file in this folder (relative to where packages are installed)."""
        return any(f"\n{inside}," in one or f"\n{inside}/" in one for one in self._lists)


def _add(roots: Roots, dist: metadata.Distribution, module: str, others: _Others) -> None:
    folder = _metadata_folder(dist)
    if folder is not None:
        roots.metadata.append(folder)
        roots.readable.append(folder)
    for name, place in {**dict(_installed(dist, others)), **dict(_editable(dist, module))}.items():
        if name.lstrip("/").partition(".")[0] == "ues_core" and _canonical(dist.name) != CORE:
            continue  # the core's rooms are the core's, whoever lists them
        if place is None:
            roots.places.setdefault(name, None)
        elif name.startswith("/"):
            roots.readable.append(place)
        else:
            roots.places[name] = place
            roots.readable.append(place)


def _installed(dist: metadata.Distribution, others: _Others) -> Iterator[tuple[str, str | None]]:
    """``(dotted name, place)`` of what a wheel brought; a name that begins with ``/`` is readable and no module."""
    base = os.path.realpath(str(dist.locate_file("")))
    tree: dict[str, set[str]] = {}
    for file in dist.files or ():
        parts = file.parts
        if not parts or parts[0] == "__pycache__" or ".." in parts or file.is_absolute() or parts[0].endswith(".dist-info"):
            continue
        for depth in range(len(parts)):
            tree.setdefault("/".join(parts[:depth]), set()).add(parts[depth])
    waiting = [""]
    files = {str(Path(*file.parts).as_posix()) for file in dist.files or () if file.parts and ".." not in file.parts}
    while waiting:
        folder = waiting.pop()
        for entry in sorted(tree.get(folder, ())):
            inside = f"{folder}/{entry}" if folder else entry
            place = os.path.realpath(str(dist.locate_file(inside)))
            if os.path.commonpath([base, place]) != base or place == base:
                continue  # a link to somewhere else
            name = _module_name(entry) if inside in files else (entry if entry.isidentifier() else None)
            dotted = inside.replace("/", ".").removesuffix(entry) + name if name else f"/{inside}"
            if inside in files:
                if others.list_too(inside):
                    continue
                if not entry.endswith(".pth") and not entry.startswith("__editable__"):
                    yield dotted, place
            elif name is None or any(f"{inside}/{below}" in files for below in tree[inside]):
                if not others.list_too(inside):
                    yield dotted, place
            else:
                yield dotted, None
                waiting.append(inside)


def _editable(dist: metadata.Distribution, module: str) -> Iterator[tuple[str, str | None]]:
    """What an editable installation points at: the packages of its source folder, not the checkout around them."""
    source = _source(dist)
    if source is None or not _is_checkout_of(source, dist.name):
        return
    source = os.path.realpath(source)
    for name, place in _pointed_at(dist, module):
        if os.path.commonpath([source, place]) == source and place != source:
            yield name, place


def _pointed_at(dist: metadata.Distribution, module: str) -> Iterator[tuple[str, str]]:
    folders = []
    for file in dist.files or ():
        if len(file.parts) != 1:
            continue
        if file.name.endswith(".pth"):
            lines = Path(str(dist.locate_file(file))).read_text(encoding="utf-8").splitlines()
            folders += [line.strip() for line in lines if line.strip() and not line.startswith(("import ", "import\t", "#"))]
        elif file.name.startswith("__editable__") and file.name.endswith("_finder.py"):
            for name, place in _mapping(Path(str(dist.locate_file(file)))).items():
                yield name, os.path.realpath(f"{place}.py" if os.path.isfile(f"{place}.py") else place)
    top = module.partition(".")[0]
    for folder in folders:
        for entry in os.scandir(folder):
            found = _module_name(entry.name) if entry.is_file() else entry.name
            package = entry.is_dir() and (os.path.isfile(os.path.join(entry.path, "__init__.py")) or entry.name == top)
            if found and found.isidentifier() and entry.name not in _NOT_A_MODULE and (package or entry.is_file()):
                yield found, os.path.realpath(entry.path)


def _is_checkout_of(source: str, distribution: str) -> bool:
    """Whether a folder says itself that it is the source of this distribution; a wheel can claim to be installed from anywhere."""
    try:
        text = Path(source, "pyproject.toml").read_text(encoding="utf-8")
        project = tomllib.loads(text)
    except (OSError, ValueError):
        return False
    tables = (project.get("project"), project.get("tool", {}).get("poetry") if isinstance(project.get("tool"), dict) else None)
    return any(
        isinstance(table, dict) and isinstance(name := table.get("name"), str) and _canonical(name) == _canonical(distribution)
        for table in tables
    )


def _source(dist: metadata.Distribution) -> str | None:
    try:
        facts = json.loads(dist.read_text("direct_url.json") or "{}")
        if facts.get("dir_info", {}).get("editable") is not True:
            return None
        return url2pathname(urlsplit(facts["url"]).path)
    except (ValueError, KeyError, AttributeError, TypeError):
        return None


def _mapping(finder: Path) -> dict[str, str]:
    """The table of names in the import hook that setuptools writes; read as a literal, never run."""
    for node in ast.parse(finder.read_text(encoding="utf-8")).body:
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0] if isinstance(node, ast.Assign) else None
        if (
            isinstance(target, ast.Name)
            and target.id == "MAPPING"
            and isinstance(node, ast.Assign | ast.AnnAssign)
            and node.value
        ):
            value = ast.literal_eval(node.value)
            return {str(name): str(place) for name, place in value.items()}
    return {}


def _requirements(dist: metadata.Distribution, extras: str) -> Iterator[tuple[str, str]]:
    wanted = {_canonical(extra) for extra in extras.split(",") if extra.strip()}
    for line in dist.requires or ():
        requirement, _, marker = line.partition(";")
        needed = {_canonical(extra) for extra in _EXTRA.findall(marker)}
        match = _REQUIREMENT.match(requirement)
        if match and (not needed or needed & wanted):
            yield match[1], ",".join(sorted(part.strip() for part in (match[2] or "").split(",")))


def _find(name: str, search: list[str]) -> metadata.Distribution | None:
    try:
        return next(iter(metadata.distributions(name=name, path=search)), None)
    except (OSError, ValueError):
        return None


def _metadata_folder(dist: metadata.Distribution) -> str | None:
    folder = getattr(dist, "_path", None)
    return os.path.realpath(str(folder)) if folder is not None else None


def _module_name(file: str) -> str | None:
    for suffix in _SUFFIXES:
        stem = file.removesuffix(suffix)
        if stem != file:
            return stem if stem.isidentifier() else None
    return None


def _canonical(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name.strip()).lower()
