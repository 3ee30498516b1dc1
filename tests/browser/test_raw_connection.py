"""The raw connection against a real Chromium: commands, deadlines, ends of every kind."""

from __future__ import annotations

import asyncio
import contextlib
import os
import re
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest
import pytest_asyncio

from ues_core.contract import Code, DeadlineExceeded, DocumentGone, DriverError, Launch, Viewport
from ues_core.web.browsers import choose_browser, running_as_root
from ues_core.web.cdp.connection import CdpConnection
from ues_core.web.launch import browser_env, chromium_args, prepare_profile
from ues_core.web.processes import ProfileHome, browser_processes_of, kill_tree, wait_gone
from ues_driver_cdp_raw.connection import RawConnection
from ues_driver_cdp_raw.launch import LaunchedBrowser, launch_browser
from ues_driver_cdp_raw.websocket import attach_browser

pytestmark = pytest.mark.browser

PARENT_DEATH_SECONDS = 5.0
"""What the project promises: a killed host leaves no browser process after this time."""


@pytest.fixture
def home(tmp_path_factory: pytest.TempPathFactory) -> ProfileHome:
    return ProfileHome(tmp_path_factory.mktemp("profiles"))


@pytest.fixture
def profile(home: ProfileHome) -> Iterator[Path]:
    folder = home.make()
    yield folder
    assert home.remove(folder)


@pytest.fixture
def target(profile: Path) -> Launch:
    executable = choose_browser(os.environ).path
    return Launch(executable=executable, no_sandbox=running_as_root(), profile_dir=str(profile))


@pytest_asyncio.fixture(loop_scope="session")
async def browser(target: Launch) -> AsyncIterator[LaunchedBrowser]:
    launched = await launch_browser(target, viewport=Viewport(), deadline=30)
    yield launched
    await launched.close()


async def attached_page(connection: RawConnection) -> str:
    target = (await connection.send("Target.createTarget", {"url": "about:blank"}, deadline=10))["targetId"]
    return str(
        (await connection.send("Target.attachToTarget", {"targetId": target, "flatten": True}, deadline=10))["sessionId"]
    )


async def evaluate(connection: RawConnection, session: str, expression: str, *, deadline: float = 10) -> Any:
    params = {"expression": expression, "returnByValue": True, "awaitPromise": True}
    return (await connection.send("Runtime.evaluate", params, session=session, deadline=deadline))["result"].get("value")


async def test_commands_go_to_the_browser_and_to_a_page(browser: LaunchedBrowser) -> None:
    connection = browser.connection
    assert isinstance(connection, CdpConnection)
    assert "Chrome/" in (await connection.send("Browser.getVersion", deadline=10))["product"]
    session = await attached_page(connection)
    assert await evaluate(connection, session, "[1, 'ü', '\\ud800'].length") == 3


async def test_many_commands_at_once_each_get_their_own_answer(browser: LaunchedBrowser) -> None:
    session = await attached_page(browser.connection)
    answers = await asyncio.gather(*(evaluate(browser.connection, session, str(n)) for n in range(300)))
    assert answers == list(range(300))
    assert browser.connection.waiting == 0


async def test_a_message_of_many_megabytes_arrives_whole_both_ways(browser: LaunchedBrowser) -> None:
    session = await attached_page(browser.connection)
    received = await evaluate(browser.connection, session, "'x'.repeat(40 * 2 ** 20)", deadline=60)
    assert len(received) == 40 * 2**20
    sent = await evaluate(browser.connection, session, f"'{'y' * (8 * 2**20)}'.length", deadline=60)
    assert sent == 8 * 2**20


async def test_events_come_in_order_and_a_raising_handler_does_not_stop_them(browser: LaunchedBrowser) -> None:
    connection, seen = browser.connection, []

    def broken(session: str, method: str, params: dict[str, Any]) -> None:
        raise ValueError("handler bug")

    def listener(session: str, method: str, params: dict[str, Any]) -> None:
        if method == "Runtime.consoleAPICalled":
            seen.append((session, params["args"][0]["value"]))

    session = await attached_page(connection)
    connection.on_event(broken)
    connection.on_event(listener)
    await connection.send("Runtime.enable", session=session, deadline=10)
    await evaluate(connection, session, "for (let n = 0; n < 50; n++) console.log(n)")
    assert seen == [(session, n) for n in range(50)]
    assert any("handler bug" in fault for fault in connection.faults)


async def test_a_command_without_an_answer_ends_at_its_deadline_and_the_connection_lives_on(
    browser: LaunchedBrowser,
) -> None:
    session = await attached_page(browser.connection)
    with pytest.raises(DeadlineExceeded) as caught:
        await evaluate(browser.connection, session, "new Promise(() => {})", deadline=0.3)
    assert caught.value.details["method"] == "Runtime.evaluate"
    assert browser.connection.waiting == 0
    assert await evaluate(browser.connection, session, "'alive'") == "alive"


async def test_a_refused_command_carries_the_protocols_own_words(browser: LaunchedBrowser) -> None:
    with pytest.raises(DriverError) as caught:
        await browser.connection.send("No.suchMethod", deadline=10)
    assert caught.value.code is Code.DRIVER_FAILED
    assert caught.value.details["cdp_code"] == "-32601"
    assert "No.suchMethod" in caught.value.details["cdp_message"]


async def test_closing_a_page_fails_its_pending_commands_at_once(browser: LaunchedBrowser) -> None:
    connection = browser.connection
    target = (await connection.send("Target.createTarget", {"url": "about:blank"}, deadline=10))["targetId"]
    session = (await connection.send("Target.attachToTarget", {"targetId": target, "flatten": True}, deadline=10))["sessionId"]
    pending = asyncio.create_task(evaluate(connection, session, "new Promise(() => {})", deadline=60))
    await asyncio.sleep(0.1)
    await connection.send("Target.closeTarget", {"targetId": target}, deadline=10)
    with pytest.raises(DriverError) as caught:
        await asyncio.wait_for(pending, 10)
    assert caught.value.code in (Code.PAGE_UNKNOWN, Code.DOCUMENT_GONE)
    with pytest.raises(DriverError) as later:
        await evaluate(connection, session, "1")
    assert later.value.code is Code.PAGE_UNKNOWN


async def test_a_navigation_under_an_evaluation_is_a_document_that_is_gone(browser: LaunchedBrowser) -> None:
    session = await attached_page(browser.connection)
    pending = asyncio.create_task(evaluate(browser.connection, session, "new Promise(() => {})", deadline=60))
    await asyncio.sleep(0.1)
    await browser.connection.send("Page.navigate", {"url": "data:text/html,<p>new"}, session=session, deadline=10)
    with pytest.raises(DocumentGone):
        await asyncio.wait_for(pending, 10)


async def test_a_crashed_page_fails_its_pending_commands_and_spares_the_others(browser: LaunchedBrowser) -> None:
    connection = browser.connection
    doomed, other = await attached_page(connection), await attached_page(connection)
    await connection.send("Inspector.enable", session=doomed, deadline=10)
    pending = asyncio.create_task(evaluate(connection, doomed, "new Promise(() => {})", deadline=60))
    await asyncio.sleep(0.1)
    with contextlib.suppress(DriverError):
        await connection.send("Page.crash", session=doomed, deadline=10)
    with pytest.raises(DriverError) as caught:
        await asyncio.wait_for(pending, 10)
    assert caught.value.code is Code.PAGE_CRASHED
    assert await evaluate(connection, other, "'alive'") == "alive"


async def test_closing_during_a_pending_command_fails_it_and_leaves_no_process(browser: LaunchedBrowser, profile: Path) -> None:
    session = await attached_page(browser.connection)
    pending = asyncio.create_task(evaluate(browser.connection, session, "new Promise(() => {})", deadline=60))
    await asyncio.sleep(0.05)
    forced = await browser.close()
    with pytest.raises(DriverError) as caught:
        await pending
    assert caught.value.code in (Code.SESSION_CLOSED, Code.PAGE_UNKNOWN)
    assert forced is False
    assert browser_processes_of(profile) == []
    assert not psutil.pid_exists(browser.pid)
    with pytest.raises(DriverError) as later:
        await browser.connection.send("Browser.getVersion", deadline=10)
    assert later.value.code is Code.SESSION_CLOSED
    assert await browser.close() is False


async def test_a_page_in_an_endless_loop_does_not_hold_up_the_close(browser: LaunchedBrowser, profile: Path) -> None:
    session = await attached_page(browser.connection)
    pending = asyncio.create_task(evaluate(browser.connection, session, "for (;;);", deadline=60))
    await asyncio.sleep(0.2)
    await asyncio.wait_for(browser.close(), 15)
    with pytest.raises(DriverError):
        await pending
    assert browser_processes_of(profile) == []


async def test_a_stopped_browser_is_killed_by_close(browser: LaunchedBrowser, profile: Path) -> None:
    os.kill(browser.pid, signal.SIGSTOP)
    assert await browser.close(grace=0.5) is True
    assert browser_processes_of(profile) == []


async def test_the_death_of_the_browser_ends_the_connection_with_a_reason(browser: LaunchedBrowser) -> None:
    pending = asyncio.create_task(browser.connection.send("Target.getTargets", deadline=60))
    os.kill(browser.pid, signal.SIGKILL)
    reason = await asyncio.wait_for(asyncio.shield(browser.connection.closed), 10)
    assert "browser" in reason
    with contextlib.suppress(DriverError):
        await pending
    await browser.close()
    assert browser_processes_of(Path(browser.profile_dir)) == []


async def test_cancelling_a_launch_leaves_nothing(target: Launch, profile: Path) -> None:
    launching = asyncio.create_task(launch_browser(target, viewport=Viewport(), deadline=30))
    await asyncio.sleep(0.05)
    launching.cancel()
    with pytest.raises(asyncio.CancelledError):
        await launching
    assert browser_processes_of(profile) == []


async def test_what_is_no_browser_fails_with_its_last_words(profile: Path, tmp_path: Path) -> None:
    script = tmp_path / "broken-browser"
    script.write_text("#!/bin/sh\necho 'error while loading shared libraries: libnss3.so' >&2\nexit 127\n")
    script.chmod(0o755)
    target = Launch(executable=str(script), profile_dir=str(profile))
    with pytest.raises(DriverError) as caught:
        await launch_browser(target, viewport=Viewport(), deadline=20)
    assert caught.value.code is Code.BROWSER_START_FAILED
    assert "library" in caught.value.next_step


async def test_a_browser_that_never_answers_is_killed_at_the_deadline(profile: Path, tmp_path: Path) -> None:
    script = tmp_path / "silent-browser"
    script.write_text("#!/bin/sh\nsleep 600 &\nwait\n")
    script.chmod(0o755)
    target = Launch(executable=str(script), profile_dir=str(profile))
    with pytest.raises(DriverError) as caught:
        await launch_browser(target, viewport=Viewport(), deadline=0.5)
    assert caught.value.code is Code.BROWSER_START_FAILED
    assert browser_processes_of(profile) == []


async def test_a_profile_path_too_long_for_a_socket_still_starts(tmp_path: Path, target: Launch) -> None:
    home = ProfileHome(tmp_path / ("d" * 60) / ("e" * 60))
    deep = target.model_copy(update={"profile_dir": str(home.make())})
    launched = await launch_browser(deep, viewport=Viewport(), deadline=30)
    assert await launched.close() is False
    assert home.remove(launched.profile_dir)


HOST = """
import asyncio, sys
from ues_core.contract import Launch, Viewport
from ues_driver_cdp_raw.launch import launch_browser

async def main():
    target = Launch.model_validate_json(sys.argv[1])
    print("starting", flush=True)
    browser = await launch_browser(target, viewport=Viewport(), deadline=30)
    page = (await browser.connection.send("Target.createTarget", {"url": "about:blank"}, deadline=10))["targetId"]
    session = (await browser.connection.send(
        "Target.attachToTarget", {"targetId": page, "flatten": True}, deadline=10))["sessionId"]
    asyncio.create_task(browser.connection.send(
        "Runtime.evaluate", {"expression": "for (;;);"}, session=session, deadline=600))
    await asyncio.sleep(0.1)
    print("ready", flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


@pytest.mark.parametrize(("said", "later"), [("ready", 0.0), ("starting", 0.0), ("starting", 0.05), ("starting", 0.15)])
def test_a_killed_host_leaves_no_browser_process(target: Launch, profile: Path, said: str, later: float) -> None:
    with subprocess.Popen([sys.executable, "-c", HOST, target.model_dump_json()], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        while host.stdout.readline().strip() != said:
            assert host.poll() is None
        with contextlib.suppress(subprocess.TimeoutExpired):
            host.wait(later)
        started = browser_processes_of(profile)
        host.kill()
        host.wait()
        assert started or said != "ready"
        assert wait_gone(profile, seconds=PARENT_DEATH_SECONDS)


def test_a_dead_hosts_profile_goes_at_the_next_sweep_with_a_browser_that_hangs(target: Launch, home: ProfileHome) -> None:
    script = f"""
import os, subprocess, sys, time
from ues_core.web.processes import ProfileHome
folder = ProfileHome({str(home.root)!r}).make()
print(folder, flush=True)
time.sleep(600)
"""
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as host:
        assert host.stdout is not None
        folder = Path(host.stdout.readline().strip())
        hung = subprocess.Popen(
            [sys.executable, "-c", "import time; time.sleep(600)", f"--user-data-dir={folder}"], start_new_session=True
        )
        try:
            assert folder.name in home.sweep().kept
            host.kill()
            host.wait()
            swept = home.sweep()
        finally:
            hung.kill()
            hung.wait()
    assert folder.name in swept.removed
    assert not folder.exists()
    assert hung.returncode == -signal.SIGKILL


# -- the operator's own browser --------------------------------------------------------------------------------------


@pytest.fixture
def operators_browser(target: Launch, profile: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    prepare_profile(profile)
    command = [str(target.executable), *chromium_args(target, Viewport(), pipe=False), "--remote-debugging-port=0"]
    with subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, env=browser_env(profile), start_new_session=True
    ) as process:
        try:
            assert process.stderr is not None
            for line in process.stderr:
                if found := re.search(r"DevTools listening on (ws://\S+)", line):
                    yield process, found.group(1)
                    break
        finally:
            kill_tree(process.pid, profile)


@pytest.mark.parametrize("by", ["websocket", "http"])
async def test_attaching_works_and_closing_leaves_the_operators_browser_running(
    operators_browser: tuple[subprocess.Popen[str], str], by: str
) -> None:
    process, url = operators_browser
    endpoint = url if by == "websocket" else re.sub(r"^ws://([^/]+)/.*$", r"http://\1", url)
    connection = await attach_browser(endpoint, deadline=10)
    session = await attached_page(connection)
    assert len(await evaluate(connection, session, "'x'.repeat(3 * 2 ** 20)", deadline=30)) == 3 * 2**20
    pending = asyncio.create_task(evaluate(connection, session, "new Promise(() => {})", deadline=60))
    await asyncio.sleep(0.05)
    await connection.close()
    await connection.close()
    with pytest.raises(DriverError) as caught:
        await pending
    assert caught.value.code is Code.SESSION_CLOSED
    assert process.poll() is None
    again = await attach_browser(endpoint, deadline=10)
    assert "Chrome/" in (await again.send("Browser.getVersion", deadline=10))["product"]
    process.kill()
    await asyncio.wait_for(asyncio.shield(again.closed), 10)
    await again.close()


async def test_an_endpoint_where_nothing_answers_says_so() -> None:
    with pytest.raises(DriverError) as caught:
        await attach_browser("http://127.0.0.1:1", deadline=5)
    assert caught.value.code is Code.BROWSER_START_FAILED
