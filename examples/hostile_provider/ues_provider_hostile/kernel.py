"""Deeds past the library: system calls by their number, and the places that a seal is known to forget."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import platform
import socket
import struct
from collections.abc import Callable
from typing import Any, Final

_X32: Final = 0x40000000
_FS_IOC_SETFLAGS: Final = 0x40086602
_TABLE: Final = """
    io_uring_setup:425:425 userfaultfd:323:282 keyctl:250:219 memfd_create:319:279 execveat:322:281 ptrace:101:117
    process_vm_readv:310:270 pidfd_open:434:434 tkill:200:130 rt_sigqueueinfo:129:138 unshare:272:97 setns:308:268
    clone:56:220 clone3:435:435 bpf:321:280 perf_event_open:298:241 open_by_handle_at:304:265 inotify_init1:294:26
    inotify_add_watch:254:27 shmget:29:194 mq_open:240:180 getxattr:191:8 listxattr:194:11 prctl:157:167 mount:165:40
    kcmp:312:272 openat2:437:437 open_tree:428:428 capset:126:91
"""
"""``name:x86_64:aarch64``."""


class _Calls:
    """The kernel, without the library between."""

    def __init__(self) -> None:
        self._libc = ctypes.CDLL(None, use_errno=True)
        column = 1 if platform.machine() == "x86_64" else 2
        self._numbers = {row[0]: int(row[column]) for row in (row.split(":") for row in _TABLE.split())}

    def __call__(self, name: str, *arguments: int | bytes | ctypes.Array[Any], add: int = 0) -> int:
        """The result. Raises ``OSError``."""
        plain = [ctypes.c_long(a) if isinstance(a, int) else a for a in arguments]
        got = int(self._libc.syscall(ctypes.c_long(self._numbers[name] + add), *plain))
        if got < 0:
            raise OSError(ctypes.get_errno(), errno.errorcode.get(ctypes.get_errno(), ""))
        return got


def system_calls(path: str) -> list[str]:
    """Each of the calls that have broken out of sandboxes; the ones that the kernel carried out."""
    call, parent = _Calls(), os.getppid()
    name, room = os.fsencode(path), ctypes.create_string_buffer(256)
    ways: dict[str, Callable[[], Any]] = {
        "io_uring": lambda: call("io_uring_setup", 8, room),
        "userfaultfd": lambda: call("userfaultfd", 0),
        "keyring": lambda: call("keyctl", 0, -3, 1),
        "file in memory": lambda: call("memfd_create", b"x", 0),
        "run a descriptor": lambda: call("execveat", -100, b"/bin/true", 0, 0, 0),
        "trace the host": lambda: call("ptrace", 16, parent, 0, 0),
        "read the host's memory": lambda: call("process_vm_readv", parent, room, 1, room, 1, 0),
        "descriptor of the host": lambda: call("pidfd_open", parent, 0),
        "signal by thread": lambda: call("tkill", parent, 0),
        "signal with data": lambda: call("rt_sigqueueinfo", parent, 0, room),
        "new user": lambda: call("unshare", 0x10000000),
        "somebody's namespace": lambda: call("setns", 0, 0),
        "clone": lambda: call("clone", 17, 0, 0, 0, 0) or os._exit(0),
        "clone3": lambda: call("clone3", room, 64) or os._exit(0),
        "program in the kernel": lambda: call("bpf", 0, room, 64),
        "events": lambda: call("perf_event_open", room, 0, -1, -1, 0),
        "handle": lambda: call("open_by_handle_at", -100, room, 0),
        "watch a folder": lambda: call("inotify_add_watch", call("inotify_init1", 0), os.path.dirname(name), 0xFFF),
        "attributes": lambda: call("listxattr", name, room, 256),
        "one attribute": lambda: call("getxattr", name, b"user.x", room, 256),
        "shared memory": lambda: call("shmget", 4711, 100, 0o1600),
        "queue": lambda: call("mq_open", b"hostile", os.O_CREAT | os.O_RDWR, 0o600, 0),
        "outlive the host": lambda: call("prctl", 1, 0, 0, 0, 0),
        "take privileges back": lambda: call("prctl", 38, 0, 0, 0, 0),
        "capabilities": lambda: call("capset", struct.pack("Ii", 0x20080522, 0), struct.pack("6I", *[0xFFFFFFFF] * 6)),
        "mount": lambda: call("mount", b"none", os.path.dirname(name), b"tmpfs", 0, 0),
        "compare with the host": lambda: call("kcmp", parent, os.getpid(), 0, 0, 0),
        "the newest way to open": lambda: call("openat2", -100, name, ctypes.create_string_buffer(24), 24),
        "a tree": lambda: call("open_tree", -100, os.path.dirname(name), 0),
    }
    if platform.machine() == "x86_64":
        ways["another numbering"] = lambda: call("getxattr", name, b"user.x", room, 256, add=_X32)
    return _done(ways)


def forgotten_places(path: str, port: int, datagrams: str) -> list[str]:
    """What is no file and no socket of one's own: links of /proc, shared memory, inherited descriptors, pairs of sockets."""
    parent = os.getppid()
    ways: dict[str, Callable[[], Any]] = {
        "the host's folder": lambda: os.readlink(f"/proc/{parent}/cwd"),
        "the host's descriptors": lambda: [os.readlink(f"/proc/{parent}/fd/{number}") for number in range(3)],
        "through the host's root": lambda: os.open(f"/proc/{parent}/root{path}", os.O_RDONLY),
        "through its own root": lambda: os.open(f"/proc/self/root{path}", os.O_RDONLY),
        "by a place only": lambda: os.open(os.path.basename(path), os.O_RDONLY, dir_fd=_place(os.path.dirname(path))),
        "reopened": lambda: os.open(f"/proc/self/fd/{_place(path)}", os.O_RDONLY),
        "from within": lambda: os.open(_entered(path), os.O_RDONLY),
        "a nameless file": lambda: os.open("/tmp", os.O_TMPFILE | os.O_RDWR, 0o600),
        "shared memory": lambda: os.open("/dev/shm/hostile", os.O_CREAT | os.O_RDWR, 0o600),
        "a terminal": lambda: os.open("/dev/tty", os.O_RDWR),
        "a datagram past connect": lambda: _pair(socket.SOCK_DGRAM).sendto(b"hostile was here", datagrams),
        "a datagram by name": lambda: _pair(socket.SOCK_DGRAM).sendto(b"hostile was here", "\0hostile"),
        "an inherited socket": lambda: [s for s in _sockets() if s.getpeername()],
        "a lease": lambda: fcntl.fcntl(os.open(__file__, os.O_RDONLY), fcntl.F_SETLEASE, fcntl.F_RDLCK),
        "a lock": lambda: fcntl.flock(os.open(__file__, os.O_RDONLY), fcntl.LOCK_EX),
        "attributes by a call": lambda: fcntl.ioctl(os.open(__file__, os.O_RDONLY), _FS_IOC_SETFLAGS, struct.pack("L", 0x40)),
        "signals of a descriptor": lambda: fcntl.fcntl(0, fcntl.F_SETOWN, parent),
        "the way out itself": lambda: socket.socket(fileno=os.dup(0)).connect(("127.0.0.1", port)),
    }
    return _done(ways)


def _entered(path: str) -> str:
    os.chdir(os.path.dirname(path))
    return os.path.basename(path)


def _place(path: str) -> int:
    return os.open(path, os.O_PATH)


def _pair(kind: int) -> socket.socket:
    one, _ = socket.socketpair(socket.AF_UNIX, kind)
    return one


def _sockets() -> list[socket.socket]:
    """Sockets among the descriptors that the process was born with; an event loop's own pair is connected to itself."""
    found = []
    for number in range(64):
        try:
            one = socket.socket(fileno=os.dup(number))
            if one.getpeername() or one.getsockname():
                found.append(one)
        except OSError:
            continue
    return found


def _done(ways: dict[str, Callable[[], Any]]) -> list[str]:
    done = []
    for name, way in ways.items():
        try:
            got = way()
        except OSError:
            continue
        if got is not False and got != []:
            done.append(name)
    return done


DEEDS: Final[dict[str, Callable[..., Any]]] = {"system_calls": system_calls, "forgotten_places": forgotten_places}
