"""Finding a Chromium of any channel on this machine. Fetching one is in ``browser_install``.

The order is the order of preference: the operator's override, then Chrome, Edge and Chromium in the usual places, then on the
search path, then the builds that Playwright fetched, then snaps (whose confinement keeps them out of many folders).
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import ConfigError, Model
from ues_core.contract.codes import Code
from ues_core.contract.words import BrowserChannel, BrowserSource

OVERRIDE: Final = "UES_BROWSER_EXECUTABLE"

VERSION_SECONDS: Final = 10.0
"""How long a browser may take to say its version; a cold disk needs seconds."""

WHAT_TO_DO: Final = (
    "Install Chrome, Edge or Chromium by the means of your operating system; or run 'playwright install chromium' where its "
    f"download is allowed; or set {OVERRIDE} to the executable of one that you have."
)

_VERSION: Final = re.compile(r"\b(\d{1,4}(?:\.\d{1,6}){3})\b")
"""Every Chromium has four numbers; hardly any other program's --version does."""

_VERSION_FOLDER: Final = re.compile(r"^\d{1,4}(?:\.\d{1,6}){3}$")

_SHARED: Final = (BrowserSource.SYSTEM, BrowserSource.PATH)

_LINUX_NAMES: Final = (
    ("google-chrome-stable", BrowserChannel.CHROME),
    ("google-chrome", BrowserChannel.CHROME),
    ("microsoft-edge-stable", BrowserChannel.EDGE),
    ("microsoft-edge", BrowserChannel.EDGE),
    ("chromium", BrowserChannel.CHROMIUM),
    ("chromium-browser", BrowserChannel.CHROMIUM),
)
_LINUX_PLACES: Final = (
    ("opt/google/chrome/chrome", BrowserChannel.CHROME),
    ("opt/microsoft/msedge/msedge", BrowserChannel.EDGE),
    ("opt/chromium/chrome", BrowserChannel.CHROMIUM),
    ("usr/lib/chromium/chromium", BrowserChannel.CHROMIUM),
    ("usr/lib64/chromium-browser/chromium-browser", BrowserChannel.CHROMIUM),
)
_MAC_NAMES: Final = (
    ("Google Chrome", BrowserChannel.CHROME),
    ("Microsoft Edge", BrowserChannel.EDGE),
    ("Chromium", BrowserChannel.CHROMIUM),
)
_WINDOWS_PLACES: Final = (
    ("Google/Chrome/Application/chrome.exe", BrowserChannel.CHROME),
    ("Microsoft/Edge/Application/msedge.exe", BrowserChannel.EDGE),
    ("Chromium/Application/chrome.exe", BrowserChannel.CHROMIUM),
)
_PLAYWRIGHT_PLACES: Final = (
    "chrome-linux64/chrome",
    "chrome-linux/chrome",
    "chrome-mac-arm64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-mac-x64/Google Chrome for Testing.app/Contents/MacOS/Google Chrome for Testing",
    "chrome-mac/Chromium.app/Contents/MacOS/Chromium",
    "chrome-win64/chrome.exe",
    "chrome-win/chrome.exe",
)


class FoundBrowser(Model):
    """A browser that can be started."""

    path: str
    channel: BrowserChannel
    version: str
    """As the browser says it; empty only where it cannot be asked (an override on Windows)."""
    source: BrowserSource


class Candidate(NamedTuple):
    """A place where a browser may be."""

    path: Path
    channel: BrowserChannel
    source: BrowserSource


def find_browsers(environ: Mapping[str, str], *, platform: str = sys.platform, root: str | Path = "/") -> list[FoundBrowser]:
    """Every browser of this machine, the preferred one first; an installation that is reachable twice is listed once.

    ``environ``  where ``UES_BROWSER_EXECUTABLE``, the home and the search path are read from.
    ``root``     the root of the file system, so that another one can be looked through.

    Raises ``ConfigError`` with code ``browser-override-invalid`` when the override names nothing that can be started; a
    blank override is none.
    """
    return list(_found(environ, platform, Path(root)))


def choose_browser(environ: Mapping[str, str], *, platform: str = sys.platform, root: str | Path = "/") -> FoundBrowser:
    """The first of ``find_browsers``. Raises ``ConfigError`` with code ``browser-not-found`` when there is none."""
    for browser in _found(environ, platform, Path(root)):
        return browser
    raise ConfigError(
        "No Chrome, Edge or Chromium was found on this machine.",
        code=Code.BROWSER_NOT_FOUND,
        next_step=f"Run 'ues browser install'. {WHAT_TO_DO}",
    )


def running_as_root() -> bool:
    """Whether Chromium's own sandbox refuses to work because of who we are."""
    return hasattr(os, "geteuid") and os.geteuid() == 0


def candidates(environ: Mapping[str, str], platform: str, root: Path) -> Iterator[Candidate]:
    """The places to look at, in order of preference. Pure but for listing Playwright's folder."""
    if platform == "win32":
        yield from _windows(environ)
    elif platform == "darwin":
        yield from _mac(environ, root)
    else:
        yield from _linux(environ, root)
    yield from _playwright(environ, platform)
    if platform not in ("win32", "darwin"):
        yield Candidate(root / "snap/bin/chromium", BrowserChannel.CHROMIUM, BrowserSource.SNAP)


def version_of(path: Path, platform: str) -> str:
    """The version that a browser states, or ``""`` when it states none in time (it is then no browser, or a broken one)."""
    if platform == "win32":
        # chrome.exe --version opens a window there; the version is the name of the folder beside it.
        with contextlib.suppress(OSError):
            folders = [entry.name for entry in path.parent.iterdir() if _VERSION_FOLDER.match(entry.name)]
            return max(folders, key=_as_numbers, default="")
        return ""
    said = _VERSION.search(_ask_version(path))
    return said.group(1) if said else ""


# -- inside ----------------------------------------------------------------------------------------------------------


def _found(environ: Mapping[str, str], platform: str, root: Path) -> Iterator[FoundBrowser]:
    seen: set[tuple[str, BrowserChannel]] = set()
    builds: set[tuple[BrowserChannel, str]] = set()
    override = environ.get(OVERRIDE, "").strip()
    if override:
        yield _overridden(override, platform)
    for candidate in candidates(environ, platform, root):
        if not _is_executable(candidate.path, platform) or (override and candidate.path == Path(override)):
            continue
        key = _installation(candidate.path, candidate.channel)
        if key in seen:
            continue
        version = version_of(candidate.path, platform)
        # A launcher script in /usr/bin and the program in /usr/lib are one installation in two folders.
        if not version or (candidate.source in _SHARED and (candidate.channel, version) in builds):
            continue
        seen.add(key)
        builds.add((candidate.channel, version))
        yield FoundBrowser(path=str(candidate.path), channel=candidate.channel, version=version, source=candidate.source)


def _installation(path: Path, channel: BrowserChannel) -> tuple[str, BrowserChannel]:
    # A launcher script, its link and the program that it starts share a folder; two channels may share one too.
    return os.path.dirname(os.path.realpath(path)), channel


def _overridden(override: str, platform: str) -> FoundBrowser:
    path = Path(override)
    if not path.is_absolute():
        raise _bad_override(override, "is not an absolute path")
    if not path.exists():
        raise _bad_override(override, "does not exist")
    if not path.is_file():
        raise _bad_override(override, "is not a file")
    if not _is_executable(path, platform):
        raise _bad_override(override, "is not executable")
    version = version_of(path, platform)
    if not version and platform != "win32":
        raise _bad_override(override, "does not state a browser version when asked with --version")
    return FoundBrowser(path=override, channel=BrowserChannel.CUSTOM, version=version, source=BrowserSource.OVERRIDE)


def _bad_override(override: str, why: str) -> ConfigError:
    return ConfigError(
        f"{OVERRIDE} names {override!r}, which {why}.",
        code=Code.BROWSER_OVERRIDE_INVALID,
        next_step=f"Correct {OVERRIDE}, or unset it to use a browser that is installed.",
        details={"variable": OVERRIDE, "value": override, "why": why},
    )


def _is_executable(path: Path, platform: str) -> bool:
    try:
        return path.is_file() and (platform == "win32" or os.access(path, os.X_OK))
    except OSError:
        return False


def _ask_version(path: Path) -> str:
    # A group of its own, so that a launcher script that hangs is ended together with what it started. Where it runs and
    # what it sees of the environment is fixed: asking must not depend on who asks.
    env = {"HOME": tempfile.gettempdir(), "PATH": os.defpath}
    try:
        process = subprocess.Popen(
            [str(path), "--version"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            env=env,
            start_new_session=True,
        )
    except OSError:
        return ""
    with process:
        try:
            said, _ = process.communicate(timeout=VERSION_SECONDS)
        except subprocess.TimeoutExpired:
            said = b""
        finally:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL)
    return said.decode("utf-8", "replace") if process.returncode == 0 else ""


def _linux(environ: Mapping[str, str], root: Path) -> Iterator[Candidate]:
    for folder in ("usr/bin", "usr/local/bin"):
        for name, channel in _LINUX_NAMES:
            yield Candidate(root / folder / name, channel, BrowserSource.SYSTEM)
    for place, channel in _LINUX_PLACES:
        yield Candidate(root / place, channel, BrowserSource.SYSTEM)
    for entry in environ.get("PATH", "").split(os.pathsep):
        # A relative entry would let the current folder, perhaps somebody's repository, choose the browser.
        if os.path.isabs(entry) and Path(entry) != root / "snap/bin":
            for name, channel in _LINUX_NAMES:
                yield Candidate(Path(entry) / name, channel, BrowserSource.PATH)


def _mac(environ: Mapping[str, str], root: Path) -> Iterator[Candidate]:
    folders = [root / "Applications"]
    if environ.get("HOME"):
        folders.append(Path(environ["HOME"]) / "Applications")
    for name, channel in _MAC_NAMES:
        for folder in folders:
            yield Candidate(folder / f"{name}.app/Contents/MacOS/{name}", channel, BrowserSource.SYSTEM)


def _windows(environ: Mapping[str, str]) -> Iterator[Candidate]:
    names = {name.upper(): value for name, value in environ.items()}
    bases = [names[name] for name in ("PROGRAMFILES", "PROGRAMFILES(X86)", "LOCALAPPDATA") if names.get(name)]
    for place, channel in _WINDOWS_PLACES:
        for base in bases:
            yield Candidate(Path(base) / place, channel, BrowserSource.SYSTEM)


def _playwright(environ: Mapping[str, str], platform: str) -> Iterator[Candidate]:
    cache = _playwright_cache(environ, platform)
    if cache is None:
        return
    builds = sorted(cache.glob("chromium-*"), key=lambda build: _as_numbers(build.name.partition("-")[2]), reverse=True)
    for build in builds:
        for place in _PLAYWRIGHT_PLACES:
            yield Candidate(build / place, BrowserChannel.CHROMIUM, BrowserSource.PLAYWRIGHT)


def _playwright_cache(environ: Mapping[str, str], platform: str) -> Path | None:
    chosen = environ.get("PLAYWRIGHT_BROWSERS_PATH", "").strip()
    if chosen and os.path.isabs(chosen):
        return Path(chosen)
    if platform == "win32":
        base = environ.get("LOCALAPPDATA")
        return Path(base) / "ms-playwright" if base else None
    home = environ.get("HOME")
    if platform == "darwin":
        return Path(home) / "Library/Caches/ms-playwright" if home else None
    base = environ.get("XDG_CACHE_HOME") or (f"{home}/.cache" if home else None)
    return Path(base) / "ms-playwright" if base else None


def _as_numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
