"""The folder of one sealed process, and in it what the child tries its seal on: a canary, a program that is none, listeners."""

from __future__ import annotations

import contextlib
import os
import secrets
import shutil
import socket
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Final

import psutil

_CANARY: Final = b"not for the provider "
_SOCKETS: Final = ("socket", "datagrams")
_MIB: Final = 1024 * 1024
_PREFIX: Final = "ues-sealed-"
_OLD_SECONDS: Final = 3600.0
"""A folder matters while its process starts, which takes a minute at most. So a dead owner's is removed when it is this old, and
not sooner: where containers share a folder of temporary files, the number of a process means another one in each."""


class Targets:
    """Owns a temporary folder ``work`` (empty, the child's) beside ``outside`` (the canary's), and the listeners.

    ``seen`` after the probes says what arrived here; ``stop`` closes the listeners; ``remove`` takes the folder away.
    """

    def __init__(self) -> None:
        _sweep()
        self.root = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
        self.work = self.root / "work"
        self._outside = self.root / "outside"
        self._content = _CANARY + secrets.token_hex(16).encode()
        self._canary = self._outside / "canary"
        self._program = self._outside / "program"
        self._abstract = f"ues-sealed-{secrets.token_hex(8)}"
        self._listeners: dict[str, socket.socket] = {}
        try:
            self.work.mkdir(mode=0o700)
            self._outside.mkdir(mode=0o700)
            self._canary.write_bytes(self._content)
            self._program.write_bytes(b"this is no program\n")
            self._program.chmod(0o700)
            self._listen()
        except BaseException:
            self.stop()
            self.remove()
            raise

    def describe(self, memory_bytes: int) -> dict[str, Any]:
        """The targets as the child needs them."""
        return {
            "parent": os.getpid(),
            "canary": str(self._canary),
            "program": str(self._program),
            "tcp": self._port("tcp"),
            "udp": self._port("udp"),
            "unix": str(self._outside / "socket"),
            "datagram": str(self._outside / "datagrams"),
            "abstract": self._abstract if "unix-abstract" in self._listeners else "",
            "variables": ["SYSTEMROOT"] if sys.platform == "win32" else [],
            "memory": memory_bytes + _MIB,
        }

    def seen(self) -> dict[str, str]:
        """What arrived, as ``{"area/probe": "allowed"}``: evidence that does not rest on the child's word."""
        found = {}
        for name, listener in self._listeners.items():
            with contextlib.suppress(OSError):
                if listener.type == socket.SOCK_DGRAM:
                    listener.recv(16)
                else:
                    listener.accept()[0].close()
                found[f"network/{name}"] = "allowed"
        if self._canary_changed():
            found["filesystem/host-sees-change"] = "allowed"
        return found

    def stop(self) -> None:
        """Close the listeners."""
        for listener in self._listeners.values():
            listener.close()
        self._listeners.clear()

    def remove(self) -> None:
        """Remove the folder and everything in it."""
        shutil.rmtree(self.root, ignore_errors=True)

    def _canary_changed(self) -> bool:
        try:
            names = sorted(entry.name for entry in os.scandir(self._outside) if entry.name not in _SOCKETS)
            return self._canary.read_bytes() != self._content or names != ["canary", "program"] or any(self.work.iterdir())
        except OSError:
            return True

    def _listen(self) -> None:
        self._add("tcp", socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", 0))
        self._add("udp", socket.AF_INET, socket.SOCK_DGRAM, ("127.0.0.1", 0))
        if hasattr(socket, "AF_UNIX"):
            self._add("unix", socket.AF_UNIX, socket.SOCK_STREAM, str(self._outside / "socket"))
            self._add("unix-datagram", socket.AF_UNIX, socket.SOCK_DGRAM, str(self._outside / "datagrams"))
            if sys.platform == "linux":
                self._add("unix-abstract", socket.AF_UNIX, socket.SOCK_STREAM, "\0" + self._abstract)

    def _add(self, name: str, family: int, kind: int, address: Any) -> None:
        listener = socket.socket(family, kind)
        try:
            listener.bind(address)
            listener.setblocking(False)
            if kind == socket.SOCK_STREAM:
                listener.listen(1)
        except OSError:  # a machine without loopback: the probe then shows what the seal says, not what the network lacks
            listener.close()
            return
        self._listeners[name] = listener

    def _port(self, name: str) -> int:
        listener = self._listeners.get(name)
        return int(listener.getsockname()[1]) if listener is not None else 9


def _sweep() -> None:
    """Remove the folders of hosts that were killed."""
    with contextlib.suppress(OSError):
        for entry in os.scandir(tempfile.gettempdir()):
            owner = entry.name.removeprefix(_PREFIX).partition("-")[0]
            if not entry.name.startswith(_PREFIX) or not owner.isdigit() or not entry.is_dir(follow_symlinks=False):
                continue
            if not psutil.pid_exists(int(owner)) and time.time() - entry.stat(follow_symlinks=False).st_mtime > _OLD_SECONDS:
                shutil.rmtree(entry.path, ignore_errors=True)
