"""How a browser is started: its switches and its environment, as plain data. Nothing here starts anything."""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from ues_core.contract import Launch, Viewport

DISABLED_FEATURES: Final = (
    "AutofillServerCommunication",
    # A document that comes back from a cache, or is loaded before anybody asked, is met by neither gate nor collector.
    "BackForwardCache",
    "CertificateTransparencyComponentUpdater",
    "DestroyProfileOnBrowserClose",
    "DialMediaRouteProvider",
    "InterestFeedContentSuggestions",
    "MediaRouter",
    "OptimizationGuideModelDownloading",
    "OptimizationHints",
    "OptimizationHintsFetching",
    "OptimizationTargetPrediction",
    # Renderers that wait for pages which nobody may open: a tenth of the work of starting a browser.
    "PreloadTopChromeWebUI",
    "Prerender2",
    "SpareRendererForSitePerProcess",
    "Translate",
    # The list below the address bar, a renderer for each window: half of the work of starting a browser (0.7 of 1.3 seconds of
    # processor time with Chromium 156).
    "WebUIOmniboxAimPopup",
    "WebUIOmniboxFullPopup",
    "WebUIOmniboxPopup",
)
"""Features that talk to a vendor or to the local network by themselves, put their own interface over a page, or load one."""

QUIET_SWITCHES: Final = (
    "--no-first-run",
    "--no-default-browser-check",
    "--no-pings",
    "--no-service-autorun",
    "--disable-background-networking",
    "--disable-breakpad",
    "--disable-client-side-phishing-detection",
    "--disable-component-extensions-with-background-pages",
    "--disable-component-update",
    "--disable-crash-reporter",
    "--disable-default-apps",
    "--disable-domain-reliability",
    "--disable-extensions",
    "--disable-field-trial-config",
    "--disable-quic",
    "--disable-search-engine-choice-screen",
    "--disable-sync",
    "--metrics-recording-only",
    # The answer of a background tab or an occluded window must not be slower than that of a visible one.
    "--disable-background-timer-throttling",
    "--disable-backgrounding-occluded-windows",
    "--disable-renderer-backgrounding",
    "--disable-hang-monitor",
    "--disable-prompt-on-repost",
    # Secrets of the person at this machine stay out of reach: no system key store is asked.
    "--password-store=basic",
    "--use-mock-keychain",
)

SOCKET_PATH_BYTES: Final = 107
"""The longest address of a Unix socket (``sun_path`` of 108 bytes with its end; 104 on macOS, see below)."""

_SINGLETON_BYTES: Final = len("/tmp/org.chromium.Chromium.XXXXXX/SingletonSocket") + 4
"""What Chromium appends to its temporary folder for the socket that guards a profile, and macOS's shorter limit."""

_DISPLAY_NAMES: Final = ("DISPLAY", "WAYLAND_DISPLAY", "XAUTHORITY", "XDG_RUNTIME_DIR")
_WINDOWS_NAMES: Final = ("SYSTEMROOT", "SYSTEMDRIVE", "WINDIR", "PROGRAMFILES", "PROGRAMFILES(X86)", "PROGRAMDATA")


def chromium_args(target: Launch, viewport: Viewport, *, pipe: bool) -> list[str]:
    """The switches for a Chromium of any channel, without the executable and without a first page.

    ``pipe`` adds ``--remote-debugging-pipe``; leave it off for a library that adds its own. ``--no-sandbox`` is there only
    when ``target.no_sandbox`` says so. ``target.args`` come last, so what the operator configured wins.
    """
    args = [*QUIET_SWITCHES, "--disable-features=" + ",".join(DISABLED_FEATURES)]
    if target.headless:
        args += ["--headless=new", "--mute-audio", "--hide-scrollbars"]
    if target.no_sandbox:
        args.append("--no-sandbox")
    if target.profile_dir is not None:
        args.append(f"--user-data-dir={target.profile_dir}")
    args.append(f"--window-size={viewport.width},{viewport.height}")
    if viewport.scale != 1.0:
        args.append(f"--force-device-scale-factor={viewport.scale:g}")
    if pipe:
        args.append("--remote-debugging-pipe")
    args += target.args
    return args


def browser_env(profile_dir: str | Path, *, environ: Mapping[str, str] | None = None, headless: bool = True) -> dict[str, str]:
    """The whole environment of a browser: its home and temporary folders, inside the profile folder.

    Nothing is inherited, except what a window needs to appear when ``headless`` is false, and the system folders that no
    Windows program starts without; both are taken from ``environ`` (default: none).
    """
    home = Path(profile_dir)
    env = {
        "HOME": str(home),
        "XDG_CONFIG_HOME": str(home / ".config"),
        "XDG_CACHE_HOME": str(home / ".cache"),
        "XDG_DATA_HOME": str(home / ".local"),
        "XDG_RUNTIME_DIR": str(home / ".run"),
        "TMPDIR": str(temporary_dir(home)),
    }
    around = environ or {}
    if not headless:
        env |= {name: around[name] for name in _DISPLAY_NAMES if name in around}
    if sys.platform == "win32":
        env |= {name: around[name] for name in _WINDOWS_NAMES if name in around}
        env |= {"USERPROFILE": str(home), "LOCALAPPDATA": str(home / ".local"), "TEMP": env["TMPDIR"], "TMP": env["TMPDIR"]}
    return env


def temporary_dir(profile_dir: str | Path) -> Path:
    """Where the browser may put temporary files: inside the profile folder when its sockets fit there, else a short folder
    of the system's temporary one that belongs to this profile alone.

    Chromium ends itself at start when the path of its profile socket is longer than the system takes.
    """
    inside = Path(profile_dir) / ".tmp"
    if _socket_fits(inside):
        return inside
    name = "ues-" + hashlib.sha256(os.fsencode(os.path.abspath(profile_dir))).hexdigest()[:12]
    beside = Path(tempfile.gettempdir()) / name
    return beside if _socket_fits(beside) else Path("/tmp") / name


def prepare_profile(profile_dir: str | Path) -> None:
    """Make the folders that ``browser_env`` names, for this user only.

    Raises ``PermissionError`` when the short temporary folder is there and is not ours: somebody else could read it.
    """
    home = Path(profile_dir)
    for folder in (home, home / ".config", home / ".cache", home / ".local", home / ".run"):
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    temporary = temporary_dir(home)
    temporary.mkdir(mode=0o700, exist_ok=True)
    if sys.platform != "win32":
        facts = temporary.lstat()
        if not stat.S_ISDIR(facts.st_mode) or facts.st_uid != os.geteuid():
            raise PermissionError(f"the temporary folder {temporary} belongs to somebody else")
        temporary.chmod(0o700)


def _socket_fits(folder: Path) -> bool:
    return sys.platform == "win32" or len(os.fsencode(folder)) + _SINGLETON_BYTES <= SOCKET_PATH_BYTES
