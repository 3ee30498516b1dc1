"""Finding a browser: places, order, override; on made-up file systems, so that no browser is needed."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ues_core.contract import ConfigError, Fault
from ues_core.contract.codes import Code
from ues_core.contract.words import BrowserChannel, BrowserSource
from ues_core.web import browsers
from ues_core.web.browsers import OVERRIDE, choose_browser, find_browsers

Make = Callable[..., Path]


@pytest.fixture
def make(tmp_path: Path) -> Make:
    """Puts a program that states a version at a path below the made-up root."""

    def make_browser(where: str, says: str = "Chromium 150.0.1.2", *, status: int = 0, mode: int = 0o755) -> Path:
        path = tmp_path / where
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
        path.chmod(mode)
        return path

    return make_browser


def test_chrome_comes_before_edge_before_chromium_before_playwright_before_snap(make: Make, tmp_path: Path) -> None:
    snap = make("snap/bin/chromium", "Chromium 149.0.0.1 snap")
    own = make("cache/chromium-1200/chrome-linux64/chrome", "Google Chrome for Testing 151.0.0.1")
    chromium = make("usr/bin/chromium", "Chromium 150.0.0.1")
    edge = make("usr/bin/microsoft-edge-stable", "Microsoft Edge 148.0.0.1")
    chrome = make("usr/bin/google-chrome-stable", "Google Chrome 147.0.0.1")
    environ = {"PLAYWRIGHT_BROWSERS_PATH": str(tmp_path / "cache")}
    found = find_browsers(environ, platform="linux", root=tmp_path)
    assert [item.path for item in found] == [str(path) for path in (chrome, edge, chromium, own, snap)]
    assert [item.channel.value for item in found] == ["chrome", "edge", "chromium", "chromium", "chromium"]
    assert [item.version for item in found] == ["147.0.0.1", "148.0.0.1", "150.0.0.1", "151.0.0.1", "149.0.0.1"]
    assert found[-1].source is BrowserSource.SNAP
    assert choose_browser(environ, platform="linux", root=tmp_path) == found[0]


def test_the_newest_build_of_playwright_comes_first(make: Make, tmp_path: Path) -> None:
    make("home/.cache/ms-playwright/chromium-999/chrome-linux/chrome", "Chromium 140.0.0.1")
    newer = make("home/.cache/ms-playwright/chromium-1000/chrome-linux/chrome", "Chromium 141.0.0.1")
    found = find_browsers({"HOME": str(tmp_path / "home")}, platform="linux", root=tmp_path)
    assert found[0].path == str(newer)
    assert len(found) == 2


def test_one_installation_that_is_reachable_twice_is_listed_once(make: Make, tmp_path: Path) -> None:
    program = make("opt/google/chrome/chrome", "Google Chrome 150.0.1.2")
    (tmp_path / "usr/bin").mkdir(parents=True)
    (tmp_path / "usr/bin/google-chrome").symlink_to(program)
    make("usr/bin/chromium", "Chromium 150.0.9.9")
    make("usr/lib/chromium/chromium", "Chromium 150.0.9.9")
    found = find_browsers({}, platform="linux", root=tmp_path)
    assert [item.path for item in found] == [str(tmp_path / "usr/bin/google-chrome"), str(tmp_path / "usr/bin/chromium")]


def test_a_stub_that_states_no_version_is_no_browser(make: Make, tmp_path: Path) -> None:
    make("usr/bin/chromium-browser", "Command requires the chromium snap to be installed.", status=1)
    make("usr/bin/google-chrome", mode=0o644)
    (tmp_path / "usr/bin/microsoft-edge").mkdir()
    assert find_browsers({}, platform="linux", root=tmp_path) == []


def test_a_program_that_hangs_when_asked_is_passed_over(make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browsers, "VERSION_SECONDS", 0.2)
    hanging = make("usr/bin/google-chrome")
    hanging.write_text("#!/bin/sh\nsleep 600\n")
    good = make("usr/bin/chromium")
    assert choose_browser({}, platform="linux", root=tmp_path).path == str(good)


def test_the_search_path_is_looked_at_but_never_a_relative_entry(
    make: Make, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make("repository/bin/chromium", "Chromium 100.0.0.1")
    listed = make("nix/bin/chromium", "Chromium 101.0.0.1")
    monkeypatch.chdir(tmp_path / "repository")
    environ = {"PATH": f"bin::{listed.parent}"}
    found = find_browsers(environ, platform="linux", root=tmp_path / "empty")
    assert [item.path for item in found] == [str(listed)]
    assert found[0].source is BrowserSource.PATH


def test_none_found_is_an_error_that_names_three_things_to_do(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        choose_browser({}, platform="linux", root=tmp_path)
    assert caught.value.code is Code.BROWSER_NOT_FOUND
    for thing in ("operating system", "playwright install chromium", OVERRIDE):
        assert thing in caught.value.next_step


# -- the operator's override -----------------------------------------------------------------------------------------


def test_the_override_comes_first_and_the_rest_is_still_listed(make: Make, tmp_path: Path) -> None:
    mine = make("elsewhere/my-browser", "Chromium 160.0.0.1")
    other = make("usr/bin/chromium")
    found = find_browsers({OVERRIDE: f" {mine} "}, platform="linux", root=tmp_path)
    assert [(item.path, item.channel) for item in found] == [
        (str(mine), BrowserChannel.CUSTOM),
        (str(other), BrowserChannel.CHROMIUM),
    ]
    assert found[0].source is BrowserSource.OVERRIDE


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_a_blank_override_is_none(make: Make, tmp_path: Path, blank: str) -> None:
    make("usr/bin/chromium")
    assert choose_browser({OVERRIDE: blank}, platform="linux", root=tmp_path).source is BrowserSource.SYSTEM


@pytest.mark.parametrize("kind", ["missing", "relative", "folder", "not executable", "no browser", "hangs up"])
def test_a_bad_override_is_an_error_that_names_it_and_never_falls_through(make: Make, tmp_path: Path, kind: str) -> None:
    make("usr/bin/chromium")
    override = {
        "missing": str(tmp_path / "nowhere"),
        "relative": "usr/bin/chromium",
        "folder": str(tmp_path),
        "not executable": str(make("plain", mode=0o644)),
        "no browser": str(make("ls", "ls (GNU coreutils) 9.1")),
        "hangs up": str(make("broken", status=3)),
    }[kind]
    for search in (find_browsers, choose_browser):
        with pytest.raises(ConfigError) as caught:
            search({OVERRIDE: override}, platform="linux", root=tmp_path)
        assert caught.value.code is Code.BROWSER_OVERRIDE_INVALID
        assert caught.value.fault is Fault.OPERATOR
        assert OVERRIDE in caught.value.sentence
        assert override in caught.value.sentence


# -- the other systems -----------------------------------------------------------------------------------------------


def test_macs_applications_of_the_machine_and_of_the_person(make: Make, tmp_path: Path) -> None:
    edge = make("Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge", "Microsoft Edge 150.0.0.1")
    chrome = make("me/Applications/Google Chrome.app/Contents/MacOS/Google Chrome", "Google Chrome 150.0.0.2")
    found = find_browsers({"HOME": str(tmp_path / "me")}, platform="darwin", root=tmp_path)
    assert [item.path for item in found] == [str(chrome), str(edge)]


def test_on_windows_the_version_is_read_beside_the_program_which_is_not_started(tmp_path: Path) -> None:
    folder = tmp_path / "Google/Chrome/Application"
    for version in ("99.0.1.1", "156.0.8078.114", "156.0.8078.20"):
        (folder / version).mkdir(parents=True)
    (folder / "chrome.exe").write_bytes(b"MZ")
    (found,) = find_browsers({"ProgramFiles": str(tmp_path)}, platform="win32", root=tmp_path)
    assert (found.version, found.channel) == ("156.0.8078.114", BrowserChannel.CHROME)
