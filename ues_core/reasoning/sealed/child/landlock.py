"""Landlock through ``ctypes``: of the file system, only what a rule names can be read, and nothing can be written or run.

Each version of the kernel's interface handles more; what this kernel does not handle is left out and shows up in what is
measured afterwards. Handled and never granted: writing, creating, removing, moving, truncating, device controls, running
programs, TCP in both directions, signals and abstract sockets beyond this process.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import struct
from collections.abc import Iterable
from typing import Final

_CREATE_RULESET: Final = 444
_ADD_RULE: Final = 445
_RESTRICT_SELF: Final = 446
_ASK_VERSION: Final = 1
_RULE_PATH: Final = 1

_READ_FILE: Final = 1 << 2
_READ_DIR: Final = 1 << 3
_FS_BITS: Final = {1: 13, 2: 14, 3: 15, 4: 15}
"""How many rights of files each version handles; from version 5 on: 16."""
_NET_BOTH: Final = 0b11
_SCOPE_BOTH: Final = 0b11
_NET_SINCE: Final = 4
_SCOPE_SINCE: Final = 6


def version(libc: ctypes.CDLL) -> int:
    """The version of the kernel's Landlock; 0 when there is none."""
    return max(0, int(libc.syscall(_CREATE_RULESET, None, ctypes.c_size_t(0), ctypes.c_uint(_ASK_VERSION))))


def restrict(libc: ctypes.CDLL, readable: Iterable[str], abi: int) -> int:
    """Let this process read what is at or below ``readable``, and nothing else. Needs no-new-privileges set before.

    Returns the number of rules. A path that does not exist gives no rule. Raises ``OSError`` when the kernel refuses.
    """
    attributes = struct.pack("<Q", (1 << _FS_BITS.get(abi, 16)) - 1)
    if abi >= _NET_SINCE:
        attributes += struct.pack("<Q", _NET_BOTH)
    if abi >= _SCOPE_SINCE:
        attributes += struct.pack("<Q", _SCOPE_BOTH)
    ruleset = _checked(libc.syscall(_CREATE_RULESET, attributes, ctypes.c_size_t(len(attributes)), ctypes.c_uint(0)))
    try:
        count = 0
        for path in readable:
            with contextlib.suppress(FileNotFoundError, NotADirectoryError, PermissionError):
                _allow_reading(libc, ruleset, path)
                count += 1
        _checked(libc.syscall(_RESTRICT_SELF, ruleset, ctypes.c_uint(0)))
    finally:
        os.close(ruleset)
    return count


def _allow_reading(libc: ctypes.CDLL, ruleset: int, path: str) -> None:
    place = os.open(path, os.O_PATH | os.O_CLOEXEC)
    try:
        rights = _READ_FILE | (_READ_DIR if os.path.isdir(path) else 0)
        rule = struct.pack("<Qi", rights, place)
        _checked(libc.syscall(_ADD_RULE, ruleset, _RULE_PATH, rule, ctypes.c_uint(0)))
    finally:
        os.close(place)


def _checked(result: int) -> int:
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
    return result
