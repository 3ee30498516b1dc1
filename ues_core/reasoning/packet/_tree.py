"""The files of a repository: listed from git or walked without one, and judged by name before any is read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import LeftOut
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._tally import Tally
from ues_core.redact import is_secret_path

LISTED_FILES: Final = 100_000
LISTING_BYTES: Final = 32_000_000
LARGEST_SOURCE: Final = 512_000
"""Bytes. Whatever is larger is data or generated; it is named in the map's counts, never read."""
SNIFF_BYTES: Final = 8_192
"""git's own measure: a NUL in the first 8,000 bytes makes a file binary."""

_SYMLINK, _SUBMODULE = b"120000", b"160000"
_GENERATED_ANYWHERE_TEXT: Final = """
    .git .hg .svn node_modules bower_components __pycache__ .next .nuxt .venv site-packages .tox .nox .mypy_cache
    .ruff_cache .pytest_cache .gradle .idea .terraform .eggs vendor coverage htmlcov .ues
"""
_GENERATED_ANYWHERE: Final = frozenset(_GENERATED_ANYWHERE_TEXT.split())
_GENERATED_ROOTS: Final = frozenset(["build", "dist", "out", "target", "venv", "env"])
"""Generated when they stand at the top *and* git does not track them; ``src/build/graph.ts`` is source."""
_DATA_SUFFIXES_TEXT: Final = """
    .log .lock .map .min.js .min.css .tgz .tar.gz .zip .gz .xz .bz2 .7z .jar .whl .pyc .png .jpg .jpeg .gif .webp .ico
    .pdf .mp4 .mp3 .woff .woff2 .ttf .eot .so .dylib .dll .exe .bin .class .o .a .sqlite .db .parquet .npy .onnx .pt
    .safetensors
"""
_DATA_SUFFIXES: Final = tuple(_DATA_SUFFIXES_TEXT.split())
_DATA_NAMES: Final = frozenset(
    ["package-lock.json", "yarn.lock", "pnpm-lock.yaml", "npm-shrinkwrap.json", "composer.lock", ".ds_store"]
)
_ODD: Final = re.compile(r"[\x00-\x1f\x7f\u2028\u2029\ufffd\ud800-\udfff]")


class SourceFile(NamedTuple):
    """A file that may be read: its path relative to the root with forward slashes, and its size in bytes."""

    path: str
    size: int
    tracked: bool = True


def name_reason(path: str, *, tracked: bool = True) -> LeftOut | None:
    """Why a path must not be in a packet, judged by its name alone; ``None`` when it may."""
    if _ODD.search(path):
        return LeftOut.ODD_NAME
    if is_secret_path(path):
        return LeftOut.SECRET_PATH
    lowered = path.lower()
    *folders, name = lowered.split("/")
    if any(f in _GENERATED_ANYWHERE for f in folders) or (not tracked and folders and folders[0] in _GENERATED_ROOTS):
        return LeftOut.EXCLUDED_PATH
    if name in _DATA_NAMES or name.endswith(_DATA_SUFFIXES):
        return LeftOut.EXCLUDED_PATH
    return None


def list_files(root: Path, git: Git, tally: Tally, remaining: Callable[[], float]) -> list[SourceFile]:
    """Every readable source file under ``root``, in path order; everything else is counted."""
    listed = _from_git(git, tally) if git.available else _walk(root, tally, remaining)
    files: list[SourceFile] = []
    inside: dict[str, bool] = {}
    for seen, (path, tracked) in enumerate(listed):
        if len(files) >= LISTED_FILES:
            tally.add(LeftOut.OVER_BUDGET, path)
            continue
        if seen % 512 == 0 and remaining() <= 0:
            tally.add(LeftOut.TIME_BUDGET)
            break
        reason = name_reason(path, tracked=tracked)
        if reason is None:
            size, reason = _measure(root, path, inside)
        if reason is not None:
            tally.add(reason, path)
        else:
            files.append(SourceFile(path, size, tracked))
    files.sort()
    return files


def _from_git(git: Git, tally: Tally) -> Iterator[tuple[str, bool]]:
    listing = git.read("ls-files", "-z", "--stage", limit=LISTING_BYTES)
    if listing is None or git.truncated:
        tally.add(LeftOut.TIME_BUDGET if listing is None else LeftOut.OVER_BUDGET)
    seen: set[bytes] = set()
    for entry in (listing or b"").split(b"\0")[: None if not git.truncated else -1]:
        facts, _, raw = entry.partition(b"\t")
        if not raw or raw in seen:
            continue
        seen.add(raw)
        if facts.startswith(_SUBMODULE):
            tally.add(LeftOut.NOT_A_FILE, raw.decode("utf-8", "replace"))
        else:
            yield raw.decode("utf-8", "replace"), True
    others = git.read("ls-files", "-z", "--others", "--exclude-standard", limit=LISTING_BYTES)
    for raw in (others or b"").split(b"\0"):
        if raw and not raw.endswith(b"/"):
            yield raw.decode("utf-8", "replace"), False


def _walk(root: Path, tally: Tally, remaining: Callable[[], float]) -> Iterator[tuple[str, bool]]:
    """Without git: breadth first, symlinked folders never entered, generated folders counted and skipped."""
    queue = [""]
    while queue:
        folder = queue.pop(0)
        if remaining() <= 0:
            tally.add(LeftOut.TIME_BUDGET, folder)
            return
        try:
            entries = sorted(os.scandir(root / folder), key=lambda e: e.name)
        except OSError:
            tally.add(LeftOut.UNREADABLE, folder)
            continue
        for entry in entries:
            path = f"{folder}/{entry.name}" if folder else entry.name
            path = path.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
            if not entry.is_dir(follow_symlinks=False):
                yield path, False
            elif _ODD.search(path):
                tally.add(LeftOut.ODD_NAME)
            elif entry.name.lower() in _GENERATED_ANYWHERE or (not folder and entry.name.lower() in _GENERATED_ROOTS):
                tally.add(LeftOut.EXCLUDED_PATH, path)
            else:
                queue.append(path)


def _measure(root: Path, path: str, inside: dict[str, bool]) -> tuple[int, LeftOut | None]:
    """``(size, reason)`` from the file's own facts; nothing is opened."""
    target = root / path
    try:
        facts = os.lstat(target)
    except (OSError, ValueError):
        return 0, LeftOut.UNREADABLE
    if stat.S_ISLNK(facts.st_mode):
        return 0, LeftOut.NOT_A_FILE if contained(root, path) else LeftOut.OUTSIDE_TREE
    if not stat.S_ISREG(facts.st_mode):
        return 0, LeftOut.NOT_A_FILE
    parent = path.rpartition("/")[0]
    if parent not in inside:
        inside[parent] = contained(root, parent)
    if not inside[parent]:
        return 0, LeftOut.OUTSIDE_TREE
    if facts.st_size > LARGEST_SOURCE:
        return 0, LeftOut.TOO_LARGE
    return facts.st_size, None


def contained(root: Path, path: str) -> bool:
    """Whether ``path`` under ``root``, with every link followed, is still under ``root``."""
    try:
        return Path(os.path.realpath(root / path)).is_relative_to(os.path.realpath(root))
    except (OSError, ValueError):
        return False


def read_source(root: Path, path: str) -> tuple[bytes, LeftOut | None]:
    """The bytes of a regular file, at most ``LARGEST_SOURCE``; never through a link at its end, never a device or a pipe."""
    flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_CLOEXEC", 0)
    try:
        handle = os.open(root / path, flags)
    except (OSError, ValueError):
        return b"", LeftOut.UNREADABLE
    with os.fdopen(handle, "rb") as file:
        facts = os.fstat(file.fileno())
        if not stat.S_ISREG(facts.st_mode):
            return b"", LeftOut.NOT_A_FILE
        if facts.st_size > LARGEST_SOURCE:
            return b"", LeftOut.TOO_LARGE
        try:
            data = file.read(LARGEST_SOURCE + 1)
        except OSError:
            return b"", LeftOut.UNREADABLE
    if len(data) > LARGEST_SOURCE:
        return b"", LeftOut.TOO_LARGE
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data, None
    return (b"", LeftOut.BINARY) if b"\0" in data[:SNIFF_BYTES] else (data, None)


def decode_source(data: bytes) -> str:
    """Text of a source file: UTF-8, or UTF-16 by its mark; what does not decode is replaced. Line ends become ``\\n``."""
    encoding = "utf-16" if data.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    return data.decode(encoding, "replace").replace("\r\n", "\n").replace("\r", "\n")
