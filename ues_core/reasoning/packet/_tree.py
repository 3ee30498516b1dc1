"""The files of a repository: listed from git or walked without one, and judged by name before any is read."""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterable, Iterator
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

_REGULAR, _SUBMODULE = b"100", b"160000"
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
    blob: str = ""
    """Git's object that the file certainly holds now; empty when that is not known."""


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


class Entry(NamedTuple):
    """A path that git or the folder lists, judged by its name."""

    path: str
    tracked: bool
    blob: str = ""
    reason: LeftOut | None = None


class TreeMemory:
    """The last listing of one repository; what git lists alike is not judged by name again."""

    def __init__(self, size_of: Callable[[str, str], int | None]) -> None:
        self.size_of = size_of
        """The size of a path while it is a git object, when its content is remembered."""
        self.listing: tuple[bytes, ...] = ()
        self.entries: list[Entry] = []
        self.files: tuple[list[SourceFile], Tally] | None = None
        """What came of the last listing, when git vouched for every file of it and each is remembered."""

    def state(self, head: str) -> tuple[str, bytes] | None:
        """The commit and the index of the last listing, when no tracked file was other than its index says; else ``None``."""
        vouched = len(self.listing) == 4 and self.listing[3] == b"vouched" and self.listing[2] == b""
        return (head, self.listing[0]) if vouched else None


def list_files(
    root: Path, git: Git, tally: Tally, remaining: Callable[[], float], memory: TreeMemory | None = None
) -> list[SourceFile]:
    """Every readable source file under ``root``, in path order; everything else is counted.

    With a ``memory``, files carry the git object that they certainly hold, and one that is remembered is not looked at again.
    """
    counts = Tally()
    listed = _from_git(git, counts, memory) if git.available else _walk(root, counts, remaining)
    if memory is not None and memory.files is not None:
        files, counts = memory.files
    else:
        certain = _looked_at(root, listed, counts, remaining, memory, files := [])
        if memory is not None and certain:
            memory.files = (files, counts)
    tally.merge(counts)
    return files


def _looked_at(
    root: Path,
    listed: Iterable[Entry],
    tally: Tally,
    remaining: Callable[[], float],
    memory: TreeMemory | None,
    files: list[SourceFile],
) -> bool:
    """Fill ``files`` with what is a readable file; whether all of them were remembered, so that nothing had to be looked at."""
    inside: dict[str, bool] = {}
    certain = True
    for seen, (path, tracked, blob, reason) in enumerate(listed):
        if len(files) >= LISTED_FILES:
            tally.add(LeftOut.OVER_BUDGET, path)
            continue
        if seen % 512 == 0 and remaining() <= 0:
            tally.add(LeftOut.TIME_BUDGET)
            certain = False
            break
        size, why = None, reason
        if reason is None:
            size = memory.size_of(path, blob) if memory is not None and blob else None
            if size is None:
                certain = False
                size, why = _measure(root, path, inside)
        if why is not None:
            tally.add(why, path)
        else:
            files.append(SourceFile(path, size or 0, tracked, blob))
    files.sort()
    return certain


def _from_git(git: Git, tally: Tally, memory: TreeMemory | None) -> list[Entry]:
    calls = [["ls-files", "-z", "-v", "--stage"], ["ls-files", "-z", "--others", "--exclude-standard"]]
    if memory is not None:
        calls.append(["ls-files", "-z", "--modified"])
    (listing, cut), (others, _), *more = git.read_all(*calls, limit=LISTING_BYTES)
    if listing is None or cut:
        tally.add(LeftOut.TIME_BUDGET if listing is None else LeftOut.OVER_BUDGET)
    raw = (listing or b"", others or b"")
    changed = None if cut or not more else _changed(git, raw, *more[0])
    parts = (*raw, b"" if changed is None else b"\0".join(sorted(changed)), b"" if changed is None else b"vouched")
    if memory is not None and memory.listing == parts:
        entries = memory.entries
    else:
        entries = list(_entries(raw, changed, cut=cut))
        if memory is not None:
            memory.listing, memory.entries, memory.files = parts, entries, None
    return entries


def _entries(raw: tuple[bytes, bytes], changed: frozenset[bytes] | None, *, cut: bool) -> Iterator[Entry]:
    seen: set[bytes] = set()
    for entry in raw[0].split(b"\0")[: None if not cut else -1]:
        facts, _, name = entry.partition(b"\t")
        if not name or name in seen:
            continue
        seen.add(name)
        path = name.decode("utf-8", "replace")
        tag, _, facts = facts.partition(b" ")
        if facts.startswith(_SUBMODULE):
            yield Entry(path, True, "", LeftOut.NOT_A_FILE)
            continue
        # "H" is an entry that git compares with the working tree; every other one it takes on trust, or is in conflict about
        certain = changed is not None and tag == b"H" and name not in changed and facts.startswith(_REGULAR)
        yield Entry(path, True, facts.split(b" ")[1].decode() if certain else "", name_reason(path))
    for name in raw[1].split(b"\0"):
        if name and not name.endswith(b"/"):
            path = name.decode("utf-8", "replace")
            yield Entry(path, False, "", name_reason(path, tracked=False))


def _changed(git: Git, raw: tuple[bytes, bytes], modified: bytes | None, cut: bool) -> frozenset[bytes] | None:
    """Tracked files that are not what the index says; ``None`` when git converts contents, so that equal says too little."""
    if modified is None or cut or any(b".gitattributes" in listing for listing in raw) or git.attributes.exists():
        return None
    if git.read("config", "--get-regexp", r"^core\.(autocrlf|eol)$", limit=4_096):
        return None
    return frozenset(modified.split(b"\0"))


def _walk(root: Path, tally: Tally, remaining: Callable[[], float]) -> Iterator[Entry]:
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
                yield Entry(path, False, "", name_reason(path, tracked=False))
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
