"""Closing the seal, in this order: limits, descriptors, a network of its own, no new privileges, Landlock, capabilities, filter.

Every step is tried, none is trusted: what could not be done is written down, and what holds is measured afterwards.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

_LIBRARY_FOLDERS: Final = ("/lib", "/usr/lib", "/lib64", "/usr/lib64", "/usr/local/lib")
_LIBRARIES_MOST: Final = 3000
"""Rules for single shared libraries; a folder with more than that is not one of libraries."""

_NOT_LIBRARY: Final = frozenset({"site-packages", "dist-packages", "sitecustomize.py", "usercustomize.py"})
"""What lies beside or below the interpreter's own library without belonging to it."""

_DESCRIPTORS: Final = 65_536
"""No descriptor of a process that was just started lies above."""

_CLONE_NEWIPC: Final = 0x08000000
_CLONE_NEWUSER: Final = 0x10000000
_CLONE_NEWNET: Final = 0x40000000
_PR_SET_PDEATHSIG: Final = 1
_PR_CAPBSET_DROP: Final = 24
_PR_SET_NO_NEW_PRIVS: Final = 38
_PR_CAP_AMBIENT: Final = 47
_PR_CAP_AMBIENT_CLEAR_ALL: Final = 4
_CAPABILITIES: Final = 64
_CAPABILITY_VERSION: Final = 0x20080522


def interpreter_places() -> list[str]:
    """What the interpreter itself has to read: its library entry by entry, and single shared libraries, no folders of them."""
    places = ["/etc/ld.so.cache"]
    for folder in sys.path:
        if os.path.isfile(folder):
            places.append(folder)
        elif os.path.isdir(folder):
            places += [entry.path for entry in os.scandir(folder) if entry.name not in _NOT_LIBRARY]
    multiarch = getattr(sys.implementation, "_multiarch", "")
    folders = [*_LIBRARY_FOLDERS, os.path.join(sys.base_prefix, "lib")]
    if multiarch:
        folders += [f"{root}/{multiarch}{below}" for root in ("/lib", "/usr/lib") for below in ("", "/ossl-modules")]
    libraries: set[str] = set()
    for folder in {os.path.realpath(f) for f in folders}:
        with contextlib.suppress(OSError):
            # a rule is for what a name leads to, so several names of one library are one
            libraries.update(os.path.realpath(e.path) for e in os.scandir(folder) if ".so" in e.name and e.is_file())
    return places + sorted(libraries)[:_LIBRARIES_MOST]


def close(limits: Mapping[str, int], readable: Iterable[str], parent: int, keep: Collection[int] = ()) -> dict[str, Any]:
    """Close the seal as far as this platform can. ``{"layers": [...], "missing": [...], "abi": n}``; never raises ``OSError``.

    ``keep``: descriptors that stay open beside the three standard ones.
    """
    done: list[str] = []
    missing: list[str] = []

    def step(name: str, call: Callable[[], str | None]) -> None:
        try:
            said = call()
        except (OSError, ValueError, AttributeError, ImportError) as error:
            missing.append(f"{name}: {type(error).__name__} {getattr(error, 'errno', None) or ''}".strip())
        else:
            done.append(said or name)

    os.environ.clear()
    step("limits", lambda: _limit(limits))
    step("descriptors", lambda: _close_descriptors(keep))
    abi = 0
    if sys.platform == "linux":
        from ues_core.reasoning.sealed.child import landlock, seccomp

        libc = ctypes.CDLL(None, use_errno=True)
        abi = landlock.version(libc)
        step("parent-death", lambda: _die_with(libc, parent))
        step("namespace", lambda: _own_namespaces(libc))
        step("no-new-privileges", lambda: _prctl(libc, _PR_SET_NO_NEW_PRIVS, 1))
        if abi:
            step("landlock", lambda: f"landlock-{abi}" if landlock.restrict(libc, readable, abi) else None)
        else:
            missing.append("landlock: not in this kernel")
        step("capabilities", lambda: _drop_capabilities(libc))
        if seccomp.supported():
            step("seccomp", lambda: seccomp.install(libc))
        else:
            missing.append("seccomp: this machine's system calls are not known here")
    else:
        missing.append(f"landlock, seccomp, namespace: {sys.platform} has none")
    return {"layers": done, "missing": missing, "abi": abi}


def _limit(limits: Mapping[str, int]) -> None:
    import resource

    for name in ("CORE", "FSIZE", "NOFILE", "CPU", "AS"):
        kind = getattr(resource, f"RLIMIT_{name}", None)
        if kind is None:
            continue
        hard = resource.getrlimit(kind)[1]
        value = limits[name] if hard == resource.RLIM_INFINITY else min(limits[name], hard)
        try:
            resource.setrlimit(kind, (value, value))
        except ValueError:
            if sys.platform != "darwin":  # which takes no limit of address space; the host watches from outside
                raise
    # Writing beyond the limit is an error of the call, not the end of the process: nothing may be written at all.
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)


def _close_descriptors(keep: Collection[int]) -> None:
    start = 3
    for descriptor in (*sorted(keep), _DESCRIPTORS):
        os.closerange(start, descriptor)
        start = descriptor + 1


def _die_with(libc: ctypes.CDLL, parent: int) -> None:
    _prctl(libc, _PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(3)


def _own_namespaces(libc: ctypes.CDLL) -> str:
    """A network and a shared-memory namespace with nothing in them; an ordinary user gets them through a user namespace."""
    if libc.unshare(_CLONE_NEWNET | _CLONE_NEWIPC) == 0:
        return "namespace"
    if libc.unshare(_CLONE_NEWUSER | _CLONE_NEWNET | _CLONE_NEWIPC) == 0:
        return "namespace-of-user"
    number = ctypes.get_errno()
    raise OSError(number, os.strerror(number))


def _drop_capabilities(libc: ctypes.CDLL) -> None:
    for number in range(_CAPABILITIES):
        libc.prctl(_PR_CAPBSET_DROP, number, 0, 0, 0)
    libc.prctl(_PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION, 0)
    if libc.capset(header, (ctypes.c_uint32 * 6)()) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))


def _prctl(libc: ctypes.CDLL, option: int, value: int) -> None:
    if libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0) != 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number))
