"""What one host remembers between builds: files that git vouches are unchanged, their words, and packets made of the same content.

Nothing is remembered by name and time alone. A tracked file is taken from memory when git's own index says that the working tree
still holds exactly that object; a packet when the digest of *everything* that it was made from, and its bounds, are the same.
Whatever is in doubt - flagged index entries, attributes that convert content, another build at the same time - is read again.
"""

from __future__ import annotations

import contextlib
import threading
from collections import OrderedDict
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import LeftOut, Packet, TextRow
from ues_core.reasoning.packet._changes import Change
from ues_core.reasoning.packet._graph import ImportGraph
from ues_core.reasoning.packet._lexicon import Document, Lexicon
from ues_core.reasoning.packet._past import PastCommit
from ues_core.reasoning.packet._symbols import Symbol, symbols_of
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import SourceFile, TreeMemory

REPOSITORIES: Final = 2
"""Repositories that are remembered; the one unused longest goes first."""
TEXT_KEPT: Final = 40_000_000
"""Characters of files of one repository; beyond it everything is forgotten and read again."""
PACKETS: Final = 64
"""Packets of one repository (the packet cache of the reasoning reference)."""
SYMBOLS: Final = 2_000
"""Files whose definitions are remembered."""


class Known(NamedTuple):
    """A file's content as it was read, or why it is none."""

    text: str = ""
    digest: str = ""
    size: int = 0
    reason: LeftOut | None = None


class Shelf:
    """What is remembered of one repository."""

    def __init__(self) -> None:
        self.lexicon = Lexicon()
        self.graph = ImportGraph()
        self.tree = TreeMemory(self._size_of)
        self.past: tuple[str, list[PastCommit]] = ("", [])
        """The commit that it was read at, and the commits up to it."""
        self.changes: tuple[tuple[str, bytes] | None, list[Change]] = (None, [])
        """The uncommitted changes, and the commit and index that they lie between."""
        self.corpus: tuple[list[SourceFile], list[Document], str, Tally] | None = None
        """The files of the last build, what was read of them, its digest, and what was left out."""
        self.map: tuple[object, list[TextRow]] = (None, [])
        """The architecture map, and what it was made from."""
        self._files: dict[tuple[str, str], Known] = {}
        self._chars = 0
        self._symbols: dict[tuple[str, str], list[Symbol]] = {}
        self._packets: OrderedDict[str, Packet] = OrderedDict()

    def symbols(self, document: Document) -> list[Symbol]:
        """What a file defines; taken apart once for each content."""
        key = (document.file.path, document.digest)
        found = self._symbols.get(key)
        if found is None:
            found = symbols_of(document.file.path, document.text)
            if len(self._symbols) >= SYMBOLS:
                self._symbols.clear()
            self._symbols[key] = found
        return found

    def file(self, path: str, blob: str) -> Known | None:
        """The content of ``path`` while it is git's object ``blob``."""
        return self._files.get((path, blob)) if blob else None

    def _size_of(self, path: str, blob: str) -> int | None:
        known = self._files.get((path, blob))
        return known.size if known is not None and known.reason is None else None

    def keep_file(self, path: str, blob: str, known: Known) -> None:
        """Remember it, if git vouches for it."""
        if not blob:
            return
        self._chars += len(known.text) + 200
        if self._chars > TEXT_KEPT:
            self._files.clear()
            self._chars = len(known.text)
        self._files[path, blob] = known

    def packet(self, key: str) -> Packet | None:
        """The packet that was made from exactly this."""
        found = self._packets.get(key)
        if found is not None:
            self._packets.move_to_end(key)
        return found

    def keep_packet(self, key: str, packet: Packet) -> None:
        """Remember it."""
        self._packets[key] = packet
        while len(self._packets) > PACKETS:
            self._packets.popitem(last=False)


class PacketCache:
    """The shelves of one host. For any thread: a shelf is lent to one build at a time, a second build goes without."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._shelves: OrderedDict[str, Shelf] = OrderedDict()
        self._lent: set[str] = set()

    @contextlib.contextmanager
    def lend(self, root: Path) -> Iterator[Shelf]:
        """The shelf of a repository, or an empty one when it is lent already. A build that fails leaves nothing behind."""
        name = str(root)
        with self._lock:
            mine = name not in self._lent
            if mine:
                self._lent.add(name)
            shelf = self._shelves.pop(name, None) if mine else None
        shelf = shelf if shelf is not None else Shelf()
        try:
            yield shelf
        except BaseException:
            with self._lock:
                self._lent.discard(name) if mine else None
            raise
        if mine:
            with self._lock:
                self._lent.discard(name)
                self._shelves[name] = shelf
                while len(self._shelves) > REPOSITORIES:
                    self._shelves.popitem(last=False)
