"""The switches and the environment of a browser are plain data, and say what the project promises."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract import Launch, Viewport
from ues_core.web.launch import SOCKET_PATH_BYTES, browser_env, chromium_args, prepare_profile, temporary_dir
from ues_core.web.processes import ProfileHome

PROMISED = (
    "--no-first-run",
    "--no-default-browser-check",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-default-apps",
    "--disable-extensions",
    "--disable-quic",
    "--password-store=basic",
    "--use-mock-keychain",
    "--headless=new",
)


@pytest.mark.parametrize("switch", PROMISED)
def test_a_quiet_headless_browser_is_the_default(switch: str) -> None:
    assert switch in chromium_args(Launch(), Viewport(), pipe=True)


def test_the_sandbox_goes_only_when_it_was_said() -> None:
    assert "--no-sandbox" not in chromium_args(Launch(), Viewport(), pipe=True)
    assert "--no-sandbox" in chromium_args(Launch(no_sandbox=True), Viewport(), pipe=True)


def test_a_window_is_shown_when_headless_is_off() -> None:
    assert not [arg for arg in chromium_args(Launch(headless=False), Viewport(), pipe=True) if "headless" in arg]


def test_features_that_talk_by_themselves_are_off() -> None:
    (features,) = (arg for arg in chromium_args(Launch(), Viewport(), pipe=True) if arg.startswith("--disable-features="))
    assert {"OptimizationHints", "MediaRouter", "Translate"} <= set(features.partition("=")[2].split(","))


def test_the_pipe_is_asked_for_only_by_who_brings_one_and_no_port_ever() -> None:
    assert "--remote-debugging-pipe" in chromium_args(Launch(), Viewport(), pipe=True)
    without = chromium_args(Launch(), Viewport(), pipe=False)
    assert not [arg for arg in without if "remote-debugging" in arg]


def test_profile_size_and_operators_switches_are_in() -> None:
    target = Launch(profile_dir="/p/with space", args=("--lang=de",))
    args = chromium_args(target, Viewport(width=800, height=600, scale=2.0), pipe=True)
    assert "--user-data-dir=/p/with space" in args
    assert "--window-size=800,600" in args
    assert "--force-device-scale-factor=2" in args
    assert args[-1] == "--lang=de"


def test_nothing_of_the_hosts_environment_is_inherited(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "s3cret")
    env = browser_env(tmp_path, environ=os.environ)
    assert "SECRET_TOKEN" not in env
    assert "PATH" not in env
    assert all(Path(value).is_relative_to(tmp_path) for name, value in env.items() if name != "TMPDIR")


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no display variables")
def test_a_window_gets_its_display_and_nothing_else(tmp_path: Path) -> None:
    around = {"DISPLAY": ":1", "XAUTHORITY": "/a", "SECRET_TOKEN": "x"}
    assert "DISPLAY" not in browser_env(tmp_path, environ=around)
    shown = browser_env(tmp_path, environ=around, headless=False)
    assert shown["DISPLAY"] == ":1"
    assert "SECRET_TOKEN" not in shown


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such sockets")
@given(st.text(alphabet="abcdé", min_size=1, max_size=200))
def test_the_profile_socket_always_fits(name: str) -> None:
    folder = temporary_dir(Path("/p") / name)
    socket = f"{folder}/org.chromium.Chromium.XXXXXX/SingletonSocket"
    assert len(socket.encode()) <= SOCKET_PATH_BYTES
    assert folder == temporary_dir(f"/p/{name}")


def test_two_long_profiles_share_no_temporary_folder() -> None:
    assert temporary_dir("/p/" + "x" * 200) != temporary_dir("/p/" + "x" * 201)


def test_a_long_profile_goes_with_its_temporary_folder(tmp_path: Path) -> None:
    home = ProfileHome(tmp_path / ("d" * 120))
    folder = home.make()
    prepare_profile(folder)
    temporary = temporary_dir(folder)
    assert temporary.is_dir()
    assert not temporary.is_relative_to(folder)
    assert home.remove(folder) is True
    assert not temporary.exists()


def test_a_temporary_folder_that_is_a_link_is_refused(tmp_path: Path) -> None:
    profile = tmp_path / ("d" * 120)
    temporary = temporary_dir(profile)
    temporary.symlink_to(tmp_path)
    try:
        with pytest.raises(PermissionError):
            prepare_profile(profile)
    finally:
        temporary.unlink()


def test_a_prepared_profile_is_this_users_alone(tmp_path: Path) -> None:
    profile = tmp_path / "profile"
    prepare_profile(profile)
    prepare_profile(profile)
    modes = {path.stat().st_mode & 0o777 for path in (*profile.iterdir(), temporary_dir(profile))}
    temporary_dir(profile).rmdir()  # with a long path it lies beside, in the system's folder
    assert modes == {0o700} or sys.platform == "win32"
