"""Fetching a browser for a machine that has none. Only ever run because a person asked for it."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import queue
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Final, NamedTuple, Protocol

from ues_core.contract import Fault, UesError
from ues_core.contract.codes import Code
from ues_core.contract.words import BrowserSource
from ues_core.web.browsers import WHAT_TO_DO, FoundBrowser, find_browsers, running_as_root
from ues_core.web.playwright_program import Lack, lack

DOWNLOAD_SECONDS: Final = 900.0
"""For about 200 MB over a slow line."""

SILENCE_SECONDS: Final = 120.0
"""A step that prints nothing for so long is not getting anywhere."""

_CONNECT_MILLISECONDS: Final = "15000"
"""Playwright waits 30 s per attempt by itself; a blocked download should be known sooner."""

_TAIL_LINES: Final = 60
_TERMINAL_CODE: Final = re.compile(r"\x1b\[[0-9;?]*[A-Za-z]")


class Ended(NamedTuple):
    """How a command ended."""

    status: int
    """0 when it did what it should; -1 when it was stopped for taking too long."""
    tail: str
    """Its last lines."""


class Runner(Protocol):
    """Runs one command, giving its lines to ``progress``."""

    def __call__(self, command: Sequence[str], env: Mapping[str, str], progress: Callable[[str], None]) -> Ended:
        """Run it to its end, bounded."""
        ...


def install_browser(
    progress: Callable[[str], None],
    *,
    environ: Mapping[str, str],
    platform: str = sys.platform,
    run: Runner | None = None,
    root: str | Path = "/",
    program_lack: Callable[[Mapping[str, str]], Lack | None] = lack,
    if_missing: bool = False,
) -> FoundBrowser:
    """Fetch a browser and return it; ``progress`` gets one line at a time. ``if_missing``: only when none is found.

    Before, the system library that Playwright's own program lacks, as a package of Debian: without it neither its download nor
    its driver works. Then Playwright's own build, when the package is here and its download works; then the distribution's
    package, on Debian as root. Each step is bounded and believed only when the browser states its version afterwards. Raises
    ``UesError`` with code ``browser-install-failed`` naming what was tried and the three things a person can do.
    """
    runner = run or run_bounded
    tried: list[str] = []
    lacking = program_lack(environ)
    if lacking is not None:
        _mend(lacking, progress, environ, platform, runner, Path(root))
    if if_missing:
        for browser in find_browsers(environ, platform=platform, root=root):
            return browser
    steps = (
        ("Playwright's download", _by_playwright, BrowserSource.PLAYWRIGHT),
        ("The package's installation", _by_apt, BrowserSource.SYSTEM),
    )
    for name, step, source in steps:
        refusal = step(progress, environ, platform, runner, Path(root))
        if refusal:
            tried.append(refusal)
            progress(refusal)
            continue
        for browser in find_browsers(environ, platform=platform, root=root):
            if browser.source is source:
                return browser
        tried.append(f"{name} reported success, but its browser does not start here; a system library may be missing.")
        progress(tried[-1])
    raise UesError(
        "No browser could be fetched. " + " ".join(tried),
        code=Code.BROWSER_INSTALL_FAILED,
        fault=Fault.OPERATOR,
        next_step=WHAT_TO_DO,
        details={f"tried_{number}": sentence for number, sentence in enumerate(tried, 1)},
    )


def run_bounded(command: Sequence[str], env: Mapping[str, str], progress: Callable[[str], None]) -> Ended:
    """Run a command in a group of its own; stop the group after ``DOWNLOAD_SECONDS``, or ``SILENCE_SECONDS`` of silence."""
    lines: list[str] = []
    try:
        process = subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=dict(env),
            start_new_session=True,
        )
    except OSError as error:
        return Ended(-1, str(error))
    finished = False
    try:
        for line in _lines(process):
            lines.append(line)
            progress(line)
        process.wait(timeout=SILENCE_SECONDS)
        finished = True
    except (TimeoutError, subprocess.TimeoutExpired) as error:
        lines.append(str(error))
    finally:
        if not finished:
            _stop(process)
        process.wait()
    return Ended(process.returncode if finished else -1, "\n".join(lines[-_TAIL_LINES:]))


# -- inside ----------------------------------------------------------------------------------------------------------


def _by_playwright(progress: Callable[[str], None], environ: Mapping[str, str], platform: str, run: Runner, root: Path) -> str:
    if importlib.util.find_spec("playwright") is None:
        return "Playwright is not installed, so its build cannot be fetched."
    progress("Fetching Playwright's build of Chromium ...")
    env = {"PLAYWRIGHT_DOWNLOAD_CONNECTION_TIMEOUT": _CONNECT_MILLISECONDS, **environ}
    ended = run([sys.executable, "-m", "playwright", "install", "--no-shell", "chromium"], env, progress)
    return "" if ended.status == 0 else f"Playwright's download failed ({_telling_line(ended)})."


def _by_apt(progress: Callable[[str], None], environ: Mapping[str, str], platform: str, run: Runner, root: Path) -> str:
    if "ubuntu" in _distribution(root):
        return "Ubuntu's chromium package only points to a snap, so it is not installed from here."
    return _apt("chromium", progress, environ, platform, run, root)


def _mend(
    lacking: Lack, progress: Callable[[str], None], environ: Mapping[str, str], platform: str, run: Runner, root: Path
) -> None:
    """Bring what Playwright's program lacks, or say who can."""
    progress(lacking.sentence)
    if lacking.package:
        refusal = _apt(lacking.package, progress, environ, platform, run, root)
        if refusal:
            progress(f"{refusal} The driver playwright needs it; the driver cdp-raw does not.")


def _apt(
    package: str, progress: Callable[[str], None], environ: Mapping[str, str], platform: str, run: Runner, root: Path
) -> str:
    if platform != "linux":
        return "This system has no distribution package that could be installed from here."
    if "debian" not in _distribution(root) or not (root / "usr/bin/apt-get").exists():
        return "This is not Debian, so its package cannot be installed from here."
    if not running_as_root():
        return f"Installing Debian's package {package} needs root, which this is not."
    progress(f"Installing Debian's package '{package}' ...")
    env = {**environ, "DEBIAN_FRONTEND": "noninteractive"}
    apt = str(root / "usr/bin/apt-get")
    # A failed update is no reason to stop: the lists that are there may be good enough.
    run([apt, "update"], env, progress)
    ended = run([apt, "install", "-y", "--no-install-recommends", package], env, progress)
    return "" if ended.status == 0 else f"apt-get install {package} failed ({_telling_line(ended)})."


def _distribution(root: Path) -> set[str]:
    names: set[str] = set()
    with contextlib.suppress(OSError):
        for line in (root / "etc/os-release").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition("=")
            if key in ("ID", "ID_LIKE"):
                names |= set(value.strip().strip("\"'").lower().split())
    return names


def _telling_line(ended: Ended) -> str:
    telling = [line.strip() for line in ended.tail.splitlines() if line.strip()]
    errors = [line for line in telling if line.lower().startswith(("error", "e:"))]
    return (errors[:1] or telling or [f"status {ended.status}"])[-1][:200]


def _lines(process: subprocess.Popen[bytes]) -> Iterator[str]:
    """The lines of a process as they come; ``TimeoutError`` when it is silent or runs for too long."""
    arrived: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()

    def pump() -> None:
        if process.stdout is not None:
            with process.stdout as output:
                for line in output:
                    arrived.put(line)
        arrived.put(None)

    threading.Thread(target=pump, name="install-output", daemon=True).start()
    end = time.monotonic() + DOWNLOAD_SECONDS
    while True:
        left = min(SILENCE_SECONDS, end - time.monotonic())
        try:
            line = arrived.get(timeout=max(0.0, left))
        except queue.Empty:
            raise TimeoutError("stopped: it took too long or said nothing for too long") from None
        if line is None:
            return
        text = _TERMINAL_CODE.sub("", line.decode("utf-8", "replace")).rstrip()
        if text:
            yield text


def _stop(process: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(OSError):
        if sys.platform == "win32":
            process.kill()
        else:
            os.killpg(process.pid, signal.SIGKILL)
