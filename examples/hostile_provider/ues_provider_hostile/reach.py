"""Deeds that reach out of the process: files, other processes, the network, programs, the environment."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final


def read(path: str) -> str:
    """A file's content."""
    return Path(path).read_text(encoding="utf-8", errors="replace")[:200]


def read_bytes_of_module(module: str) -> int:
    """How much of an installed module's file can be read, by where this package lies itself."""
    return len((Path(__file__).parents[1] / module).read_bytes())


def names(path: str) -> list[str]:
    """What is in a folder."""
    return sorted(os.listdir(path))[:20]


def walk(path: str) -> list[str]:
    """Every file below a folder that can be found and read."""
    found = []
    for folder, _, files in os.walk(path):
        for file in files:
            try:
                found.append(f"{file}: {Path(folder, file).read_text(errors='replace')[:40]}")
            except OSError:
                continue
    return found


def search_everywhere(name: str) -> list[str]:
    """Every file of that name on the machine."""
    return [os.path.join(folder, file) for folder, _, files in os.walk("/") for file in files if file == name]


def write(path: str) -> str:
    """A file of its own, anywhere."""
    Path(path).write_text("hostile was here")
    return path


def leave_files() -> list[str]:
    """Files wherever one might stay."""
    left = []
    places = [".", "/tmp", "/var/tmp", "/dev/shm", os.path.expanduser("~")]
    places += [os.path.dirname(file) for file in (__file__, os.__file__, sys.executable)]
    for place in places:
        try:
            left.append(write(os.path.join(place, "left-behind-by-hostile")))
        except OSError:
            continue
    return left


def spoil(path: str) -> list[str]:
    """Everything that can be done to a file or folder of somebody else."""
    ways: dict[str, Callable[[], Any]] = {
        "append": lambda: open(path, "a").close(),
        "truncate": lambda: os.truncate(path, 0),
        "remove": lambda: os.remove(path),
        "rename": lambda: os.rename(path, path + ".hostile"),
        "mode": lambda: os.chmod(path, 0o777),
        "owner": lambda: os.chown(path, 12345, 12345),
        "times": lambda: os.utime(path, (0, 0)),
        "attribute": lambda: os.setxattr(path, "user.hostile", b"1"),
        "link": lambda: os.link(path, "mine"),
        "tree": lambda: shutil.rmtree(os.path.dirname(path)),
    }
    done = []
    for name, way in ways.items():
        try:
            way()
        except OSError:
            continue
        done.append(name)
    return done


def environment() -> dict[str, str]:
    """Every variable, of the process and as the kernel knows it."""
    found = dict(os.environ)
    with contextlib.suppress(OSError):
        found["/proc/self/environ"] = Path("/proc/self/environ").read_text()
    return found


def processes() -> list[str]:
    """What can be learnt of other processes, and of the parent above all."""
    found = []
    for name in ("environ", "cmdline", "maps", "status", "fd", "cwd", "root"):
        for pid in (os.getppid(), 1):
            path = f"/proc/{pid}/{name}"
            try:
                if name in ("cwd", "root") or name == "fd":
                    os.listdir(path)
                else:
                    Path(path).read_bytes()
            except OSError:
                continue
            found.append(path)
    return found


def signals() -> list[str]:
    """Signals to the parent, to its group, to everybody."""
    done = []
    for pid in (os.getppid(), -os.getppid(), 0, -1, 1):
        try:
            os.kill(pid, signal.SIGCONT if pid in (0, -1) else 0)
        except OSError:
            continue
        done.append(str(pid))
    return done


def sockets(port: int, unix: str) -> list[str]:
    """Ways out: TCP, UDP, unix sockets by path and by abstract name, raw and netlink, and a server."""
    ways: dict[str, Callable[[], Any]] = {
        "tcp": lambda: socket.create_connection(("127.0.0.1", port), 1),
        "tcp6": lambda: socket.create_connection(("::1", port), 1),
        "udp": lambda: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", port)),
        "unix": lambda: socket.socket(socket.AF_UNIX).connect(unix),
        "abstract": lambda: socket.socket(socket.AF_UNIX).connect("\0hostile"),
        "raw": lambda: socket.socket(socket.AF_INET, socket.SOCK_RAW, 1),
        "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
        "server": lambda: socket.create_server(("127.0.0.1", 0)),
        "name": lambda: socket.getaddrinfo("localhost", 80),
        "fetch": lambda: __import__("urllib.request").request.urlopen(f"http://127.0.0.1:{port}/", timeout=1),
    }
    done = []
    for name, way in ways.items():
        try:
            way()
        except OSError:
            continue
        done.append(name)
    return done


def programs() -> list[str]:
    """Another program, in every way that the library knows."""
    ways: dict[str, Callable[[], Any]] = {
        "run": lambda: subprocess.run(["/bin/true"], check=True),
        "shell": lambda: subprocess.run("true", shell=True, check=True),
        "spawn": lambda: os.posix_spawn("/bin/true", ["true"], {}),
        "interpreter": lambda: subprocess.run([sys.executable, "-c", ""], check=True),
        "fork": lambda: os.fork() or os._exit(0),
        "pool": lambda: __import__("multiprocessing").get_context("spawn").Process(target=print).start(),
        "replace": lambda: os.execv("/bin/true", ["true"]),
    }
    done = []
    for name, way in ways.items():
        try:
            way()
        except (OSError, subprocess.SubprocessError):
            continue
        done.append(name)
    if os.system("exit 0") == 0:
        done.append("system")
    return done


def other_packages() -> list[str]:
    """Packages of the same environment that are none of its dependencies, and rooms of the core that are not the contract."""
    done = []
    strangers = ("psutil", "click", "cryptography", "ues_provider_double", "pip")
    for name in (*strangers, "ues_core.seal", "ues_core.host", "ues_core.redact"):
        try:
            __import__(name)
        except ImportError:
            continue
        done.append(name)
    return done


DEEDS: Final[dict[str, Callable[..., Any]]] = {
    function.__name__: function
    for function in (
        *(read, read_bytes_of_module, names, walk, search_everywhere, write, leave_files, spoil, environment, processes, signals),
        *(sockets, programs, other_packages),
    )
}  # fmt: skip
