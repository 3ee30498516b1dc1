"""Fetching a browser: the order of the ways, what is believed, and what is said when none works."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

import pytest

from ues_core.contract import UesError
from ues_core.contract.codes import Code
from ues_core.contract.words import BrowserSource
from ues_core.web import browser_install
from ues_core.web.browser_install import Ended, install_browser, run_bounded
from ues_core.web.browsers import FoundBrowser
from ues_core.web.playwright_program import Lack, lack


class Machine:
    """A made-up root with a distribution, and a runner that records commands and puts a browser where one said."""

    def __init__(self, root: Path, distribution: str) -> None:
        self.root = root
        self.commands: list[list[str]] = []
        self.environments: list[Mapping[str, str]] = []
        self.brings: dict[str, Path] = {}
        self.said: list[str] = []
        self.environ = {"PLAYWRIGHT_BROWSERS_PATH": str(root / "cache")}
        (root / "etc").mkdir(parents=True)
        (root / "etc/os-release").write_text(distribution)
        (root / "usr/bin").mkdir(parents=True)
        (root / "usr/bin/apt-get").touch()

    def __call__(self, command: Sequence[str], env: Mapping[str, str], progress: Callable[[str], None]) -> Ended:
        self.commands.append(list(command))
        self.environments.append(env)
        for word, path in self.brings.items():
            if word in command and "install" in command:
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_text("#!/bin/sh\necho Chromium 150.0.0.1\n")
                path.chmod(0o755)
                return Ended(0, "done")
        return Ended(0 if "update" in command else 1, "Error: getaddrinfo ENOTFOUND\nlast line")

    def install(self, lacking: Lack | None = None, *, if_missing: bool = False) -> FoundBrowser:
        return install_browser(
            self.said.append,
            environ=self.environ,
            platform="linux",
            run=self,
            root=self.root,
            program_lack=lambda _: lacking,
            if_missing=if_missing,
        )


@pytest.fixture
def as_root(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_install, "running_as_root", lambda: True)


def test_playwrights_build_is_fetched_first_and_nothing_else_when_it_works(tmp_path: Path, as_root: None) -> None:
    machine = Machine(tmp_path, "ID=debian")
    machine.brings["playwright"] = tmp_path / "cache/chromium-1/chrome-linux64/chrome"
    found = machine.install()
    assert found.source is BrowserSource.PLAYWRIGHT
    assert len(machine.commands) == 1
    assert machine.commands[0][:4] == [sys.executable, "-m", "playwright", "install"]


def test_debians_package_follows_as_root_without_questions(tmp_path: Path, as_root: None) -> None:
    machine = Machine(tmp_path, 'ID=debian\nVERSION_ID="12"')
    machine.brings["chromium"] = tmp_path / "usr/bin/chromium"
    machine.brings["playwright"] = tmp_path / "elsewhere/never-found"
    found = machine.install()
    assert found.path == str(tmp_path / "usr/bin/chromium")
    assert [command[1] for command in machine.commands[1:]] == ["update", "install"]
    assert "--no-install-recommends" in machine.commands[2]
    assert machine.environments[2]["DEBIAN_FRONTEND"] == "noninteractive"
    assert any("does not start here" in line for line in machine.said)


def test_what_playwrights_program_lacks_is_brought_first_even_when_a_browser_is_there(tmp_path: Path, as_root: None) -> None:
    machine = Machine(tmp_path, "ID=debian")
    machine.brings["chromium"] = tmp_path / "usr/bin/chromium"
    machine(["install", "chromium"], {}, machine.said.append)
    machine.commands.clear()
    found = machine.install(Lack("libatomic.so.1 is missing.", "libatomic1"), if_missing=True)
    assert found.path == str(tmp_path / "usr/bin/chromium")
    assert [command[1:] for command in machine.commands] == [
        ["update"],
        ["install", "-y", "--no-install-recommends", "libatomic1"],
    ]
    assert any("cdp-raw does not" in line for line in machine.said), "this runner knows no libatomic1, and that is said"
    machine.commands.clear()
    assert machine.install(if_missing=True) == found
    assert machine.commands == []


@pytest.mark.skipif(os.name == "nt", reason="a shell script stands for the program")
def test_a_program_without_its_library_is_told_with_the_package(tmp_path: Path) -> None:
    node = tmp_path / "node"
    missing = "node: error while loading shared libraries: libatomic.so.1: cannot open shared object file"
    node.write_text(f"#!/bin/sh\necho '{missing}' >&2\nexit 127\n")
    node.chmod(0o755)
    environ = {**os.environ, "PLAYWRIGHT_NODEJS_PATH": str(node)}
    found = lack(environ)
    assert found is not None
    assert found.package == "libatomic1"
    assert "libatomic.so.1" in found.sentence
    node.write_text("#!/bin/sh\nexit 3\n")
    found = lack(environ)
    assert found is not None
    assert found.package == ""
    assert lack(dict(os.environ)) is None


@pytest.mark.parametrize(
    ("distribution", "root_user", "why"),
    [
        ("ID=ubuntu\nID_LIKE=debian", True, "snap"),
        ("ID=fedora", True, "not Debian"),
        ("ID=debian", False, "needs root"),
    ],
)
def test_a_package_that_cannot_help_is_never_asked_for_and_the_reason_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, distribution: str, root_user: bool, why: str
) -> None:
    monkeypatch.setattr(browser_install, "running_as_root", lambda: root_user)
    machine = Machine(tmp_path, distribution)
    with pytest.raises(UesError) as caught:
        machine.install()
    assert caught.value.code is Code.BROWSER_INSTALL_FAILED
    assert why in caught.value.sentence
    assert "ENOTFOUND" in caught.value.sentence
    assert not any("apt-get" in command[0] for command in machine.commands)
    for thing in ("operating system", "playwright install chromium", "UES_BROWSER_EXECUTABLE"):
        assert thing in caught.value.next_step


def test_a_command_gives_its_lines_as_they_come_without_terminal_codes() -> None:
    lines: list[str] = []
    ended = run_bounded(
        [sys.executable, "-c", "print('\\x1b[2mone\\x1b[22m'); print(); print('two'); raise SystemExit(3)"],
        os.environ,
        lines.append,
    )
    assert lines == ["one", "two"]
    assert ended == Ended(3, "one\ntwo")


def test_a_silent_command_is_stopped_with_its_children(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(browser_install, "SILENCE_SECONDS", 0.3)
    ended = run_bounded(["/bin/sh", "-c", "sleep 600 & echo started; wait"], os.environ, lambda line: None)
    assert ended.status == -1
    assert "stopped" in ended.tail


def test_a_command_that_does_not_exist_is_a_failed_step() -> None:
    assert run_bounded(["/no/such/program"], {}, lambda line: None).status == -1
