"""Reading a git repository without trusting it: bounded, read-only calls that run nothing of the repository's own.

A repository is input. Its configuration may name programs (hooks, a file-system monitor, external diffs, text conversion,
filters); every one of them is switched off for our calls.
"""

from __future__ import annotations

import os
import subprocess
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Final

CALL_SECONDS: Final = 15.0
"""One git call, at most; the builder's own deadline shortens it."""

_SAFE: Final = (
    "core.quotepath=off",
    "core.fsmonitor=false",
    "core.untrackedCache=false",
    "core.attributesFile=/dev/null",
    "core.checkStat=default",
    "core.trustctime=true",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.sshCommand=false",
    "color.ui=never",
    "diff.external=",
    "diff.mnemonicPrefix=false",
    "diff.noprefix=false",
    "diff.submodule=short",
    "log.showSignature=false",
    "protocol.allow=never",
    "gc.auto=0",
    "maintenance.auto=false",
)
_HISTORY: Final = ("HEAD", "index", "logs", "packed-refs", "refs")
"""What says which commits and files are a repository's; a link in its place says it of another one."""
_KEPT_ENVIRONMENT: Final = ("PATH", "HOME", "XDG_CONFIG_HOME", "SYSTEMROOT", "USERPROFILE")
"""What git needs to run and to honour the *user's own* settings (ignored files, trusted folders)."""


class Git:
    """Calls git in one folder. Every call returns bytes, or ``None`` when git failed, was missing or took too long."""

    def __init__(self, root: Path, *, remaining: Callable[[], float]) -> None:
        self._root = root
        self._remaining = remaining
        self._filters: tuple[str, ...] = ()
        self.truncated = False
        """Whether the last call produced more than its limit."""
        said = self.read(
            "rev-parse",
            "--is-inside-work-tree",
            "--git-path",
            "info/attributes",
            "--show-toplevel",
            "--absolute-git-dir",
            limit=32_768,
        )
        lines = (said or b"").split(b"\n")
        inside = len(lines) == 5 and lines[0] == b"true"
        self.attributes = root / os.fsdecode(lines[1]) if inside else root
        """The repository's own attributes that lie beside its files."""
        # a folder that a repository around it ignores is none of that repository's
        self.available = (
            inside
            and self._is_own(*(Path(os.fsdecode(line)) for line in lines[2:4]))
            and self.read("check-ignore", "--quiet", ".", limit=64) is None
        )
        if self.available:
            self._filters = self._local_filters()

    def _is_own(self, top: Path, directory: Path) -> bool:
        """Whether the git directory is this folder's own: inside of it, or one that points back, as worktrees and submodules do.

        A folder from elsewhere may hold a ``.git`` that leads to another repository of the user; its index and its commits are
        none of this folder's, and must not be shown as if they were.
        """
        entry = top / ".git"
        try:
            if entry.is_dir() and not entry.is_symlink():
                return not (entry / "commondir").exists() and not any((entry / name).is_symlink() for name in _HISTORY)
            back = directory / "gitdir"
            if back.is_file():
                return Path(os.path.realpath(directory / back.read_text("utf-8", "surrogateescape").strip())) == entry.resolve()
            named = self.read("config", "--file", str(directory / "config"), "--get", "core.worktree", limit=8_192)
            return named is not None and Path(os.path.realpath(directory / os.fsdecode(named.rstrip(b"\n")))) == top.resolve()
        except (OSError, ValueError):
            return False

    def _local_filters(self) -> tuple[str, ...]:
        """Settings that switch off the filters which the repository's own configuration defines: they are programs."""
        names = (
            self.read("config", "--local", "--includes", "--name-only", "-z", "--get-regexp", r"^filter\.", limit=65_536) or b""
        )
        drivers = {n.split(b".", 1)[1].rsplit(b".", 1)[0] for n in names.split(b"\0") if n.count(b".") >= 2}
        return tuple(
            f"filter.{driver.decode('utf-8', 'replace')}.{key}"
            for driver in sorted(drivers)
            for key in ("clean=", "smudge=", "process=", "required=false")
        )

    def read(self, *arguments: str, limit: int) -> bytes | None:
        """Run ``git <arguments>`` and return at most ``limit`` bytes of its output."""
        output, self.truncated = self._run(arguments, limit)
        return output

    def read_all(self, *calls: Sequence[str], limit: int) -> list[tuple[bytes | None, bool]]:
        """Run several calls at the same time: the output of each, and whether it was cut at ``limit`` bytes."""
        with ThreadPoolExecutor(max_workers=len(calls)) as pool:
            return list(pool.map(lambda arguments: self._run(arguments, limit), calls))

    def _run(self, arguments: Sequence[str], limit: int) -> tuple[bytes | None, bool]:
        seconds = min(CALL_SECONDS, self._remaining())
        if seconds <= 0:
            return None, False
        command = ["git", "--no-pager"]
        for setting in (*_SAFE, *self._filters):
            command += ("-c", setting)
        environment = {name: os.environ[name] for name in _KEPT_ENVIRONMENT if name in os.environ}
        environment |= {
            "GIT_OPTIONAL_LOCKS": "0",
            "GIT_TERMINAL_PROMPT": "0",
            "GIT_ASKPASS": "",
            "GIT_NO_LAZY_FETCH": "1",
            "GIT_NO_REPLACE_OBJECTS": "1",
            "LC_ALL": "C.UTF-8",
        }
        try:
            process = subprocess.Popen(
                [*command, *arguments],
                cwd=self._root,
                env=environment,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.DEVNULL,
            )
        except OSError:
            return None, False
        timer = threading.Timer(seconds, process.kill)
        timer.daemon = True
        timer.start()
        try:
            with process:
                assert process.stdout is not None
                output = process.stdout.read(limit + 1)
                truncated = len(output) > limit
                if truncated:
                    process.kill()
                process.stdout.close()
                code = process.wait()
        finally:
            timer.cancel()
        if code != 0 and not truncated:
            return None, False
        return output[:limit], truncated

    def text(self, *arguments: str, limit: int) -> str:
        """Like ``read``, as text; empty when there is none."""
        return (self.read(*arguments, limit=limit) or b"").decode("utf-8", "replace")
