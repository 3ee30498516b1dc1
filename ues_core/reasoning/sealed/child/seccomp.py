"""The system call filter: a program of the kernel's packet filter machine, built here and installed through ``prctl``.

The second line behind Landlock, and the first for what Landlock does not know: sockets of every family, new processes,
modes and owners of files, signals to others on older kernels.
"""

from __future__ import annotations

import ctypes
import errno
import os
import platform
import struct
import sys
from typing import Final

from ues_core.reasoning.sealed.child.syscalls import EXAMINED, HIGHEST, MACHINES, REFUSED, X32_BIT, numbers

_LOAD: Final = 0x20
_AND: Final = 0x54
_EQUAL: Final = 0x15
_GREATER_OR_EQUAL: Final = 0x35
_RETURN: Final = 0x06

_ALLOW: Final = 0x7FFF0000
_ERROR: Final = 0x00050000
_KILL: Final = 0x80000000

_NUMBER_AT: Final = 0
_ARCH_AT: Final = 4
_ARGS_AT: Final = 16

_CLONE_THREAD: Final = 0x10000
_WRITES: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND | 0o20000000
"""Ways of opening that could change something; the last is the kernel's bit for a nameless temporary file."""
_AF_UNIX: Final = 1
_PRCTL_REFUSED: Final = (1, 35, 0x59616D61)
"""The signal at the parent's death, the memory map, the permitted tracer."""
_FCNTL_ALLOWED: Final = (0, 1, 2, 3, 4, 5, 1030, 1032)
"""Duplicating a descriptor, its flags, looking at a lock, a pipe's size. Not: locks and leases, which hold others up, seals,
watches, and whom a signal goes to."""
_IOCTL_ALLOWED: Final = (0x5401, 0x5413, 0x541B, 0x5421, 0x5450, 0x5451)
"""Whether it is a terminal and how large, how much waits, blocking or not, inherited or not. Not: typing into a terminal, and the
calls of file systems, which change attributes through a descriptor that was opened for reading."""
_NEW_NAMESPACES: Final = 0x7E020080
"""Every bit of ``clone`` that would make a namespace."""
_STREAMS: Final = tuple(1 | flags for flags in (0, os.O_CLOEXEC, os.O_NONBLOCK, os.O_CLOEXEC | os.O_NONBLOCK))
"""A pair of datagram sockets could send to the path of somebody else's socket, which neither Landlock nor a namespace sees."""

_PR_SET_SECCOMP: Final = 22
_SECCOMP_MODE_FILTER: Final = 2

Instruction = tuple[int, int, int, int]
"""Operation, jump when true, jump when false, operand."""


class _Program(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_void_p)]


def supported() -> bool:
    """Whether the numbers of this machine are known and the process is a native one."""
    return platform.machine() in MACHINES and sys.maxsize > 2**32 and sys.byteorder == "little"


def build(machine: str, pid: int) -> list[Instruction]:
    """The filter for ``machine`` (a key of ``MACHINES``) in the process ``pid``, which may signal itself only."""
    audit, column = MACHINES[machine]
    out: list[Instruction] = [
        (_LOAD, 0, 0, _ARCH_AT),
        (_EQUAL, 1, 0, audit),
        (_RETURN, 0, 0, _KILL),
        (_LOAD, 0, 0, _NUMBER_AT),
    ]
    if machine == "x86_64":
        out += _refuse_from(X32_BIT, errno.EPERM)
    out += _refuse_from(HIGHEST + 1, errno.ENOSYS)
    for number in numbers(REFUSED, column).values():
        out += [(_EQUAL, 0, 1, number), _error(errno.EPERM)]
    for name, number in numbers(EXAMINED, column).items():
        body = _body(name, pid)
        out += [(_EQUAL, 0, len(body), number), *body]
    out.append((_RETURN, 0, 0, _ALLOW))
    return out


def install(libc: ctypes.CDLL) -> None:
    """Install the filter for the whole life of this process, which must be single-threaded. Raises ``OSError``."""
    program = build(platform.machine(), os.getpid())
    packed = b"".join(struct.pack("<HBBI", *instruction) for instruction in program)
    buffer = ctypes.create_string_buffer(packed, len(packed))
    header = _Program(len(program), ctypes.cast(buffer, ctypes.c_void_p))
    if libc.prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.byref(header), 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _body(name: str, pid: int) -> list[Instruction]:
    match name:
        case "clone":
            return [*_unless(_when_bit(0, _NEW_NAMESPACES, errno.EPERM)), *_when_no_bit(0, _CLONE_THREAD, errno.EPERM)]
        case "clone3" | "openat2":
            # their arguments lie in memory, where a filter cannot look; the C library falls back to the older call
            return [_error(errno.ENOSYS)]
        case "open":
            return _when_bit(1, _WRITES, errno.EACCES)
        case "openat":
            return _when_bit(2, _WRITES, errno.EACCES)
        case "kill" | "tgkill":
            return _only((pid,), 0)
        case "prlimit64":
            return _only((0, pid), 0)
        case "socketpair":
            return [_argument(0), (_EQUAL, 1, 0, _AF_UNIX), _error(errno.EPERM), *_only(_STREAMS, 1)]
        case "prctl":
            return _never(_PRCTL_REFUSED, 0)
        case "fcntl":
            return _only(_FCNTL_ALLOWED, 1)
        case _:
            return _only(_IOCTL_ALLOWED, 1, errno.ENOTTY)


def _argument(index: int) -> Instruction:
    # the low half; every argument looked at here is an int for the kernel
    return (_LOAD, 0, 0, _ARGS_AT + 8 * index)


def _when_bit(index: int, bits: int, number: int) -> list[Instruction]:
    return [_argument(index), (_AND, 0, 0, bits), (_EQUAL, 1, 0, 0), _error(number), (_RETURN, 0, 0, _ALLOW)]


def _when_no_bit(index: int, bits: int, number: int) -> list[Instruction]:
    return [_argument(index), (_AND, 0, 0, bits), (_EQUAL, 0, 1, 0), _error(number), (_RETURN, 0, 0, _ALLOW)]


def _unless(body: list[Instruction]) -> list[Instruction]:
    """The refusal of ``body``, without the permission at its end: what follows goes on to judge."""
    return body[:-1]


def _only(values: tuple[int, ...], index: int, number: int = errno.EPERM) -> list[Instruction]:
    tests = [step for value in values for step in ((_EQUAL, 0, 1, value), (_RETURN, 0, 0, _ALLOW))]
    return [_argument(index), *tests, _error(number)]


def _never(values: tuple[int, ...], index: int) -> list[Instruction]:
    tests = [step for value in values for step in ((_EQUAL, 0, 1, value), _error(errno.EPERM))]
    return [_argument(index), *tests, (_RETURN, 0, 0, _ALLOW)]


def _refuse_from(number: int, code: int) -> list[Instruction]:
    return [(_GREATER_OR_EQUAL, 0, 1, number), _error(code)]


def _error(number: int) -> Instruction:
    return (_RETURN, 0, 0, _ERROR | number)
