"""The architecture map: what kind of repository this is, its folders, packages and entry points, in a few lines."""

from __future__ import annotations

import json
import posixpath
import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from ues_core.contract import FileRow, TextRow
from ues_core.reasoning.packet._tree import SourceFile, decode_source, read_source

_MANIFESTS_TEXT: Final = """
    pyproject.toml package.json Cargo.toml go.mod pom.xml build.gradle Gemfile composer.json
"""
MANIFESTS: Final = tuple(_MANIFESTS_TEXT.split())
MANIFESTS_READ: Final = 40
FOLDERS_SHOWN: Final = 24
_ENTRY_NAMES_TEXT: Final = """
    main.py __main__.py cli.py app.py manage.py wsgi.py asgi.py main.go main.rs lib.rs main.ts index.ts index.js main.js
    server.js server.ts app.ts app.js Main.java Program.cs Makefile Dockerfile
"""
ENTRY_NAMES: Final = frozenset(_ENTRY_NAMES_TEXT.split())
ENTRIES_SHOWN: Final = 16


def map_rows(root: Path, files: Sequence[SourceFile], *, head: str, branch: str) -> list[TextRow]:
    """The lines of the map, most telling first."""
    total = sum(f.size for f in files)
    endings = Counter(posixpath.splitext(f.path)[1] or "(none)" for f in files)
    kinds = ", ".join(f"{ending} {count}" for ending, count in endings.most_common(8))
    place = f", at {branch + ' ' if branch else ''}{head[:12]}" if head else ""
    rows = [f"{len(files)} source files, {_size(total)}{place}"]
    if kinds:
        rows.append(f"kinds: {kinds}")
    rows += _packages(root, files)
    entries = [f.path for f in files if posixpath.basename(f.path) in ENTRY_NAMES]
    entries.sort(key=lambda p: (p.count("/"), p))
    if entries:
        rows.append("entry points: " + ", ".join(entries[:ENTRIES_SHOWN]))
    rows += _folders(files)
    return [TextRow(text=row) for row in rows]


def subsystem_rows(relevant: Sequence[FileRow]) -> list[TextRow]:
    """The folders that the relevant files live in, with how many there are and which matter most."""
    groups: dict[str, list[FileRow]] = {}
    for row in relevant:
        groups.setdefault("/".join(row.path.split("/")[:-1][:3]) or ".", []).append(row)
    ordered = sorted(groups.items(), key=lambda item: (-sum(r.score for r in item[1]), item[0]))
    return [
        TextRow(text=f"{folder}: {len(rows)} relevant ({', '.join(posixpath.basename(r.path) for r in rows[:4])})")
        for folder, rows in ordered
    ]


def _folders(files: Sequence[SourceFile]) -> Iterator[str]:
    counts: Counter[str] = Counter()
    sizes: Counter[str] = Counter()
    for file in files:
        parts = file.path.split("/")[:-1]
        for depth in (1, 2):
            if len(parts) >= depth:
                folder = "/".join(parts[:depth])
                counts[folder] += 1
                sizes[folder] += file.size
    shown = sorted(folder for folder, _ in counts.most_common(FOLDERS_SHOWN))
    for folder in shown:
        yield f"{folder}/: {counts[folder]} files, {_size(sizes[folder])}"


def _packages(root: Path, files: Sequence[SourceFile]) -> Iterator[str]:
    manifests = sorted((f for f in files if posixpath.basename(f.path) in MANIFESTS), key=lambda f: (f.path.count("/"), f.path))
    for file in manifests[:MANIFESTS_READ]:
        data, reason = read_source(root, file.path)
        if reason is None:
            yield f"package {_describe(file.path, decode_source(data))} ({file.path})"


def _describe(path: str, text: str) -> str:
    """The name and the entry points that a manifest declares; its folder's name when it cannot be read."""
    name = posixpath.basename(path)
    fallback = posixpath.basename(posixpath.dirname(path)) or "(root)"
    try:
        if name in ("pyproject.toml", "Cargo.toml"):
            table = tomllib.loads(text)
            project = table.get("project") or table.get("package") or {}
            scripts = project.get("scripts") or {}
            points = list(project.get("entry-points") or {})
            said = [f"commands {', '.join(map(str, scripts))}"] if scripts else []
            said += [f"entry-point groups {', '.join(points)}"] if points else []
            return str(project.get("name") or fallback) + (f": {'; '.join(said)}" if said else "")
        if name in ("package.json", "composer.json"):
            manifest = json.loads(text)
            scripts = manifest.get("scripts") or {}
            tail = f": main {manifest['main']}" if manifest.get("main") else ""
            return (
                str(manifest.get("name") or fallback) + tail + (f"; scripts {', '.join(list(scripts)[:8])}" if scripts else "")
            )
        if name == "go.mod":
            found = re.search(r"^module[ \t]+(\S{1,200})", text, re.MULTILINE)
            return found[1] if found else fallback
    except (ValueError, TypeError, AttributeError, RecursionError):
        return fallback
    return fallback


def _size(count: int) -> str:
    return f"{count} bytes" if count < 10_000 else f"{count // 1_000} kB" if count < 10_000_000 else f"{count // 1_000_000} MB"
