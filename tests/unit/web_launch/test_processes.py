"""Ending process trees and owning profile folders, shown on small processes that stand in for browsers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from ues_core.contract import UsageError
from ues_core.web import processes
from ues_core.web.processes import (
    ProfileHome,
    browser_processes_of,
    kill_tree,
    kill_tree_async,
    process_identity,
    wait_gone,
)

Start = Callable[..., subprocess.Popen[bytes]]


@pytest.fixture
def start() -> Iterator[Start]:
    """Starts a Python program whose command line looks like a browser's; all are ended afterwards."""
    started: list[subprocess.Popen[bytes]] = []

    def run(*arguments: str, code: str = "import time; print(flush=True); time.sleep(600)") -> subprocess.Popen[bytes]:
        process = subprocess.Popen([sys.executable, "-c", code, *arguments], stdout=subprocess.PIPE, start_new_session=True)
        started.append(process)
        assert process.stdout is not None
        process.stdout.readline()
        return process

    yield run
    for process in started:
        process.kill()
        process.wait()
        if process.stdout is not None:
            process.stdout.close()


def pids(profile: str | Path) -> set[int]:
    return {process.pid for process in browser_processes_of(profile)}


def test_processes_are_found_by_their_exact_profile_folder(start: Start, tmp_path: Path) -> None:
    profile = tmp_path / "a.b*c[d]"
    mine = start(f"--user-data-dir={profile}")
    handler = start(f"--database={profile}/Crash Reports")
    start(f"--user-data-dir={profile}x")
    start(f"--user-data-dir={tmp_path}/axbzc[d]")
    start("--user-data-dir", "-x")
    assert pids(profile) == {mine.pid, handler.pid}
    assert pids(f"{profile}/") == {mine.pid, handler.pid}
    assert pids("-x") == set()


def test_a_tree_is_killed_by_group_by_descent_and_by_profile(start: Start, tmp_path: Path) -> None:
    code = (
        "import subprocess, sys, time\n"
        "for apart in (False, True):\n"
        "    subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)', 'child'], start_new_session=apart)\n"
        "print(flush=True); time.sleep(600)\n"
    )
    main = start(f"--user-data-dir={tmp_path}", code=code)
    strayed = start(f"--user-data-dir={tmp_path}")
    children = psutil.Process(main.pid).children(recursive=True)
    assert len(children) == 2
    assert kill_tree(main.pid, tmp_path) is True
    assert pids(tmp_path) == set()
    assert main.wait(5) < 0
    assert strayed.wait(5) < 0
    assert psutil.wait_procs(children, timeout=5)[1] == []


def test_a_process_that_leads_no_group_is_killed_without_its_group(tmp_path: Path) -> None:
    child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])  # in the group of this test
    assert kill_tree(child.pid) is True
    assert child.wait(5) < 0


async def test_killing_what_is_gone_is_done_at_once(start: Start, tmp_path: Path) -> None:
    process = start()
    process.kill()
    process.wait()
    assert await kill_tree_async(process.pid, tmp_path) is True
    assert wait_gone(tmp_path, seconds=0) is True


def test_waiting_for_a_living_browser_ends_with_false(start: Start, tmp_path: Path) -> None:
    start(f"--user-data-dir={tmp_path}")
    assert wait_gone(tmp_path, seconds=0.1) is False


def test_an_identity_is_of_one_process_and_ends_with_it(start: Start) -> None:
    process = start()
    first = process_identity(process.pid)
    assert first is not None
    assert first == process_identity(process.pid)
    assert first != process_identity(os.getpid())
    process.kill()
    assert wait_until(lambda: process_identity(process.pid) is None)  # a zombie until it is waited for


def wait_until(condition: Callable[[], bool]) -> bool:
    for _ in range(200):
        if condition():
            return True
        time.sleep(0.02)
    return False


# -- profile folders -------------------------------------------------------------------------------------------------


@pytest.fixture
def home(tmp_path: Path) -> ProfileHome:
    return ProfileHome(tmp_path / "state" / "profiles")


def owned_by(home: ProfileHome, pid: int, identity: str | None) -> Path:
    folder = home.make()
    (folder / "Cookies").write_text("x")
    folder.with_name(folder.name + ".owner").write_text(json.dumps({"pid": pid, "identity": identity}))
    return folder


def test_a_folder_is_new_empty_and_this_users_alone(home: ProfileHome) -> None:
    first, second = home.make(), home.make()
    assert first != second
    assert list(first.iterdir()) == []
    assert (first.stat().st_mode & 0o777, home.root.stat().st_mode & 0o777) == (0o700, 0o700)


def test_removing_leaves_nothing_and_may_be_repeated(home: ProfileHome) -> None:
    folder = home.make()
    (folder / "Default").mkdir()
    (folder / "Default" / "Cookies").write_text("x")
    assert home.remove(folder) is True
    assert home.remove(folder) is True
    assert list(home.root.iterdir()) == []


def test_a_helper_that_writes_the_folder_again_is_ended_first(home: ProfileHome, start: Start) -> None:
    folder = home.make()
    writer = (
        "import os, sys\nd = sys.argv[1].partition('=')[2]\nprint(flush=True)\n"
        "while True:\n    os.makedirs(d + '/Default', exist_ok=True); open(d + '/Default/x', 'w').close()\n"
    )
    start(f"--user-data-dir={folder}", code=writer)
    assert home.remove(folder) is True
    time.sleep(0.1)
    assert list(home.root.iterdir()) == []


@pytest.mark.parametrize("name", ["..", "session-x/..", "other", "session-x.owner"])
def test_only_a_folder_of_this_home_is_ever_removed(home: ProfileHome, name: str) -> None:
    home.make()
    with pytest.raises(UsageError):
        home.remove(home.root / name)
    with pytest.raises(UsageError):
        home.remove("/")


def test_a_link_is_removed_and_not_what_it_points_to(home: ProfileHome, tmp_path: Path) -> None:
    precious = tmp_path / "precious"
    precious.mkdir()
    (precious / "file").write_text("x")
    folder = home.make()
    folder.rmdir()
    folder.symlink_to(precious)
    assert home.remove(folder) is True
    assert (precious / "file").exists()


def test_a_failed_removal_is_reported_and_can_be_tried_again(home: ProfileHome, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = home.make()
    with monkeypatch.context() as broken:
        broken.setattr(processes, "_remove_once", lambda path: None)
        assert home.remove(folder, seconds=0.1) is False
    assert folder.exists()
    assert home.remove(folder) is True


def test_a_sweep_takes_the_folders_of_the_dead_and_leaves_those_of_the_living(home: ProfileHome, start: Start) -> None:
    other = start()
    mine, living = home.make(), owned_by(home, other.pid, process_identity(other.pid))
    reused = owned_by(home, other.pid, "another-boot:1")
    gone = start()
    gone.kill()
    gone.wait()
    dead = owned_by(home, gone.pid, "whatever:1")
    browser = start(f"--user-data-dir={dead}")
    foreign = home.root / "session-foreign"
    foreign.mkdir()
    swept = home.sweep()
    assert set(swept.removed) == {reused.name, dead.name}
    assert set(swept.kept) == {mine.name, living.name}
    assert swept.stuck == ()
    assert browser.wait(5) < 0
    assert mine.exists()
    assert living.exists()
    assert foreign.exists()
    assert not dead.exists()
    assert not reused.exists()


def test_an_owner_file_that_says_nothing_counts_as_dead(home: ProfileHome) -> None:
    folder = home.make()
    folder.with_name(folder.name + ".owner").write_text("{")
    assert home.sweep().removed == (folder.name,)


async def test_a_home_that_does_not_exist_yet_is_swept_clean(home: ProfileHome) -> None:
    assert (await home.sweep_async()).removed == ()
    folder = await home.make_async()
    assert await home.remove_async(folder) is True
