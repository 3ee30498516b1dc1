"""The places of a repository that advice and its evidence may touch: judged by name and by link before anything is read.

Whoever reads a file because an answer named it goes through here: secret and ignored paths, links out of the tree and absolute
paths are refused, and a file is read at most once.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import EvidenceDenial, LeftOut
from ues_core.reasoning.packet import contained, decode_source, name_reason, read_source

_LINES: Final = re.compile(
    r"^(?P<path>.*?)(?::(?P<start>\d{1,7})(?:[-:](?P<end>\d{1,7}))?|#L(?P<s2>\d{1,7})(?:-L?(?P<e2>\d{1,7}))?)$"
)
_SYMBOL: Final = re.compile(r"^(?P<path>[^()]{1,400}?)[ \t]*\((?P<symbol>[^()]{1,200})\)$")
_DRIVE: Final = re.compile(r"^[A-Za-z]:[\\/]")

_BY_NAME: Final = {
    LeftOut.SECRET_PATH: (EvidenceDenial.SECRET_PATH, "the path of a secret"),
    LeftOut.ODD_NAME: (EvidenceDenial.TARGET_INVALID, "a name with control characters"),
    LeftOut.EXCLUDED_PATH: (EvidenceDenial.EXCLUDED_PATH, "an excluded path"),
}


class Refusal(NamedTuple):
    """Why a path is not looked at, as a word and as a phrase."""

    why: EvidenceDenial
    phrase: str


def split_path(text: str) -> tuple[str, str, int | None, int | None]:
    """``path``, ``path:line``, ``path:a-b``, ``path#L1-L2``, ``path (symbol)`` as ``(path, symbol, start, end)``."""
    plain = text.strip().strip("`'\"").strip()
    symbol = ""
    named = _SYMBOL.match(plain)
    if named is not None:
        plain, symbol = named["path"].strip(), named["symbol"].strip().removesuffix("()")
    lines = _LINES.match(plain)
    start = end = None
    if lines is not None and lines["path"] and not _DRIVE.match(plain[:3]):
        plain = lines["path"]
        start = int(lines["start"] or lines["s2"]) or None
        end = int(lines["end"] or lines["e2"] or 0) or None
    plain = plain.replace("\\", "/") if not _DRIVE.match(plain) else plain
    while plain.startswith("./"):
        plain = plain[2:]
    return plain, symbol, start, end


class Places:
    """One repository folder and its known files. Files are read at most once."""

    def __init__(self, root: Path, paths: Iterable[str] = ()) -> None:
        self._root = root
        self.known = frozenset(paths)
        self._folded: dict[str, list[str]] = {}
        self._names: dict[str, list[str]] = {}
        for path in sorted(self.known):
            self._folded.setdefault(path.casefold(), []).append(path)
            self._names.setdefault(path.rpartition("/")[2].casefold(), []).append(path)
        self._read: dict[str, tuple[str, str]] = {}

    def refused(self, path: str) -> Refusal | None:
        """Why ``path`` must not be looked at; ``None`` when it may. Nothing is opened."""
        if path.startswith(("/", "~")) or _DRIVE.match(path) or "\0" in path:
            return Refusal(EvidenceDenial.OUTSIDE_REPOSITORY, "an absolute path")
        if ".." in path.split("/"):
            return Refusal(EvidenceDenial.OUTSIDE_REPOSITORY, "a path that leaves the repository")
        reason = name_reason(path)
        if reason is not None:
            return Refusal(*_BY_NAME[reason])
        if not contained(self._root, path):
            return Refusal(EvidenceDenial.OUTSIDE_REPOSITORY, "a link out of the repository")
        plain = path.rstrip("/")
        if self.known and plain not in self.known and plain.casefold() not in self._folded and self._is_file(plain):
            return Refusal(EvidenceDenial.IGNORED_FILE, "a file that the repository ignores")
        return None

    def resolve(self, path: str) -> str | None:
        """The local spelling of a path, or ``None``. Case may differ when exactly one file matches."""
        if path in self.known:
            return path if self._is_file(path) else None
        same = self._folded.get(path.casefold(), [])
        if len(same) == 1 and self._is_file(same[0]):
            return same[0]
        if not self.known and self._is_file(path):
            return path
        return path if self.is_folder(path) and is_folder_name(path) else None

    def same_name(self, path: str) -> list[str]:
        """Known files with the same file name."""
        return self._names.get(path.rpartition("/")[2].casefold(), [])

    def is_folder(self, path: str) -> bool:
        """Whether it is one, here and now; a name that the system cannot even look up is none."""
        try:
            return (self._root / path).is_dir()
        except (OSError, ValueError):
            return False

    def _is_file(self, path: str) -> bool:
        try:
            return (self._root / path).is_file()
        except (OSError, ValueError):
            return False

    def text(self, path: str) -> str | None:
        """The text of a file; empty for a folder, ``None`` for what may not or cannot be read."""
        if path not in self._read:
            if self.is_folder(path):
                self._read[path] = ("", "")
            elif self.refused(path) is not None:
                return None
            else:
                data, reason = read_source(self._root, path)
                if reason is not None:
                    return None
                self._read[path] = (decode_source(data), hashlib.sha256(data).hexdigest())
        return self._read[path][0]

    def digest(self, path: str) -> str:
        """SHA-256 of the file's bytes, 64 hex; empty for what was not read."""
        return self._read[path][1] if self.text(path) is not None else ""


def is_folder_name(path: str) -> bool:
    """Whether a path is written as a folder, which may be pointed at as a whole."""
    return path.endswith("/") or "." not in path.rpartition("/")[2]
