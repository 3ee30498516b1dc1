"""What the seal holds, measured by trying: each probe does what a hostile provider would, and says whether it was refused.

The host laid out the targets before it started this process: a file with known content, a program that is none (to be
allowed to run it fails with another error than to be refused), listeners that count who comes.
"""

from __future__ import annotations

import contextlib
import ctypes
import mmap
import os
import socket
import sys
import time
from collections.abc import Callable, Mapping
from typing import Any, Final

REFUSED: Final = "refused"
ALLOWED: Final = "allowed"

_SECONDS: Final = 0.5
_FORK_LOOKS: Final = 100
_IN_CREATE: Final = 0x100
Probe = Callable[[], object]
"""Returns a truthy value, or nothing at all, when it got through; raises ``OSError`` or returns false when it was refused."""


def measure(targets: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    """``{area: {probe: refused | allowed}}``."""
    canary, folder, parent = targets["canary"], os.path.dirname(targets["canary"]), int(targets["parent"])
    areas: dict[str, dict[str, Probe]] = {
        "filesystem": {
            "read": lambda: _read(canary),
            "list": lambda: os.listdir(folder),
            "list-root": lambda: os.listdir(os.path.abspath(os.sep)),
            "create-here": lambda: _create("left-behind"),
            "create-outside": lambda: _create(os.path.join(folder, "left-behind")),
            "append": lambda: _got(os.open(canary, os.O_WRONLY | os.O_APPEND)),
            "truncate": lambda: os.truncate(canary, os.path.getsize(canary)),
            "rename": lambda: _rename(canary),
            "link": lambda: _link(canary),
            "mode": lambda: os.chmod(canary, 0o600),
            "times": lambda: os.utime(canary),
        },
        "network": {
            "tcp": lambda: _connect(socket.AF_INET, socket.SOCK_STREAM, ("127.0.0.1", targets["tcp"])),
            "udp": lambda: _send(("127.0.0.1", targets["udp"])),
            "bind": lambda: _bind(),
        },
        "exec": {
            "run-a-file": lambda: _execute(targets["program"]),
        },
        "environment": {
            "variables": lambda: bool(set(os.environ) - set(targets["variables"])),
        },
        "memory": {
            "beyond-the-limit": lambda: bool(mmap.mmap(-1, int(targets["memory"]))),
        },
        "processes": {"fork": _fork},
        "signals": {"parent": lambda: _signal(parent)},
    }
    if sys.platform == "linux":
        areas["filesystem"]["proc-parent-environment"] = lambda: _read(f"/proc/{parent}/environ")
        areas["filesystem"]["proc-parent-command"] = lambda: _read(f"/proc/{parent}/cmdline")
        areas["filesystem"]["proc-list"] = lambda: os.listdir("/proc")
        areas["filesystem"]["attributes"] = lambda: os.listxattr(folder) is not None
        areas["filesystem"]["watch"] = lambda: _watch(folder)
        areas["environment"]["proc-self"] = lambda: _read("/proc/self/environ")
        areas["network"]["netlink"] = lambda: _open(socket.AF_NETLINK, socket.SOCK_RAW)
    if hasattr(socket, "AF_UNIX"):
        areas["network"]["unix"] = lambda: _connect(socket.AF_UNIX, socket.SOCK_STREAM, targets["unix"])
        areas["network"]["unix-datagram"] = lambda: _datagram(targets["datagram"])
        if targets.get("abstract"):
            areas["network"]["unix-abstract"] = lambda: _connect(socket.AF_UNIX, socket.SOCK_STREAM, "\0" + targets["abstract"])
    found = {area: {name: _try(probe) for name, probe in probes.items()} for area, probes in areas.items()}
    if found["exec"]["run-a-file"] == REFUSED and os.path.exists("/bin/true"):
        # Were it not refused, this process would end here, and the host would see that no report came.
        found["exec"]["run-a-program"] = _try(lambda: os.execve("/bin/true", ["true"], {}))
    return found


def _try(probe: Probe) -> str:
    try:
        got = probe()
    except (OSError, ValueError, MemoryError, AttributeError, NotImplementedError):
        return REFUSED
    return REFUSED if got is False else ALLOWED


def _read(path: str) -> bool:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        return bool(os.read(descriptor, 64))
    finally:
        os.close(descriptor)


def _got(descriptor: int) -> bool:
    os.close(descriptor)
    return True


def _create(path: str) -> bool:
    done = _got(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    with contextlib.suppress(OSError):
        os.unlink(path)
    return done


def _rename(path: str) -> bool:
    os.rename(path, f"{path}.moved")
    os.rename(f"{path}.moved", path)
    return True


def _link(path: str) -> bool:
    os.link(path, "linked")
    os.unlink("linked")
    return True


def _connect(family: int, kind: int, address: Any) -> bool:
    with socket.socket(family, kind) as one:
        one.settimeout(_SECONDS)
        one.connect(address)
    return True


def _open(family: int, kind: int) -> bool:
    with socket.socket(family, kind):
        return True


def _send(address: tuple[str, int]) -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as one:
        one.settimeout(_SECONDS)
        one.sendto(b"?", address)
    return True


def _watch(folder: str) -> bool:
    """The names of a folder's files, without opening it."""
    libc = ctypes.CDLL(None, use_errno=True)
    descriptor = libc.inotify_init1(os.O_CLOEXEC)
    if descriptor < 0:
        return False
    got = libc.inotify_add_watch(descriptor, os.fsencode(folder), _IN_CREATE)
    os.close(descriptor)
    return bool(got >= 0)


def _datagram(path: str) -> bool:
    """Past ``socket`` and ``connect``: one of a pair can send to any path."""
    one, other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    with one, other:
        one.sendto(b"?", path)
    return True


def _bind() -> bool:
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as one:
        one.bind(("127.0.0.1", 0))
        one.listen(1)
    return True


def _execute(program: str) -> bool:
    try:
        os.execve(program, [program], {})
    except PermissionError:
        return False
    except OSError:
        return True  # it was opened, and only then found to be no program


def _fork() -> bool:
    if not hasattr(os, "fork"):
        return True  # other ways to start a process are not closed there
    pid = os.fork()
    if pid == 0:
        os._exit(0)
    for _ in range(_FORK_LOOKS):
        if os.waitpid(pid, os.WNOHANG)[0]:
            break
        time.sleep(_SECONDS / _FORK_LOOKS)
    return True


def _signal(pid: int) -> bool:
    if sys.platform == "win32":
        return True  # asking with signal 0 would end the process there
    os.kill(pid, 0)
    return True
