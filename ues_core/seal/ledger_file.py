"""An append-only file that holds whole lines only: a line that could not be written completely is cut off again."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from ues_core.seal.keys import sync_directory


class AppendOnlyFile:
    """Created anew, mode 0600, never opened over an existing file. Not thread-safe, except :meth:`sync`."""

    def __init__(self, path: Path) -> None:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_APPEND
        flags |= getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
        self.path = path
        self.size = 0
        self.damaged = False
        """A partial line could not be cut off: nothing more may be appended."""
        self._descriptor = os.open(path, flags, 0o600)
        try:
            sync_directory(path.parent)
        except OSError:
            os.close(self._descriptor)
            with suppress(OSError):
                path.unlink()
            raise

    def append(self, line: bytes) -> None:
        """Write ``line`` and a line end, wholly or not at all. Raises ``OSError``; afterwards see ``damaged``."""
        data = memoryview(line + b"\n")
        try:
            while data:
                data = data[os.write(self._descriptor, data) :]
        except BaseException:
            try:
                os.ftruncate(self._descriptor, self.size)
            except OSError:
                self.damaged = True
            raise
        self.size += len(line) + 1

    def sync(self) -> None:
        """Return when everything appended before the call is on disk."""
        os.fsync(self._descriptor)

    def close(self) -> None:
        """Close the file without flushing it to disk."""
        os.close(self._descriptor)
