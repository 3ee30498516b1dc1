"""What happens to pages: dialogs, new pages, downloads, crashes, loops, and the end."""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

import psutil
import pytest

from ues_core.contract import (
    Attach,
    CaptureKind,
    CaptureRequest,
    ClickGesture,
    Code,
    CollectRequest,
    CoverageCaps,
    CoverageReason,
    DeadlineExceeded,
    DialogPolicy,
    Driver,
    DriverError,
    DriverEvent,
    EventKind,
    Launch,
    NodeText,
    OpenSpec,
    ReadKind,
    ReadRequest,
    WaitUntil,
    WatchCondition,
    WatchKind,
)
from ues_core.web.browsers import running_as_root
from ues_core.web.processes import browser_processes_of

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site, Tab

pytestmark = pytest.mark.browser


async def event(tab: Tab, kind: EventKind) -> DriverEvent:
    for _ in range(400):
        found = [event for event in await tab.events() if event.kind is kind]
        if found:
            return found[-1]
        await asyncio.sleep(0.05)
    raise AssertionError(f"no {kind} came")


async def titled(tab: Tab, title: str) -> None:
    for _ in range(400):
        if await tab.title() == title:
            return
        await asyncio.sleep(0.05)
    raise AssertionError(f"the title never was {title!r}")


async def test_dialogs_are_dismissed_at_once_and_told_of(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("dialogs.html"))
    await tab.do(ClickGesture, await tab.node("Confirm"))
    await titled(tab, "false")
    told = await event(tab, EventKind.DIALOG)
    assert (told.text, told.dialog_kind, told.dialog) == ("Sure?", "confirm", "")
    await tab.do(ClickGesture, await tab.node("Ask before leaving"))
    await tab.go(site.url("second.html"))
    assert await tab.title() == "Second page"


async def test_a_held_dialog_fails_other_calls_at_once_and_can_be_answered(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("dialogs.html"), dialogs=DialogPolicy.HOLD)
    landing = await tab.do(ClickGesture, await tab.node("Prompt"))
    assert landing.dispatched
    assert "dialog" in landing.detail
    told = await event(tab, EventKind.DIALOG)
    assert told.dialog
    started = time.monotonic()
    with pytest.raises(DriverError) as raised:
        await tab.look()
    assert raised.value.code is Code.DIALOG_OPEN
    assert time.monotonic() - started < 10
    assert [surface.page for surface in await tab.session.pages()] == ["p1"]
    with pytest.raises(DriverError) as raised:
        await tab.session.answer_dialog("d99", True, "", deadline=5)
    assert raised.value.code is Code.DIALOG_UNKNOWN
    await tab.session.answer_dialog(told.dialog, True, "Ada", deadline=20)
    await titled(tab, "Ada")


async def test_new_pages_are_told_of_listed_operated_and_closed(opened: Opener, site: Site, driver: Driver) -> None:
    tab = await opened(site.url(f"doors.html?to={site.url('form.html')}"))
    await tab.do(ClickGesture, await tab.node("New tab with opener"))
    page = (await event(tab, EventKind.PAGE_OPENED)).page
    assert page == "p2"
    other = type(tab)(tab.session, page)
    await titled(other, "Order form")
    landing = await other.do(ClickGesture, await other.by_id("plain"))
    assert landing.landed == "on-target"
    # Playwright lets a new page go by itself, so the collector may come after the page's first script; it says so then.
    assert landing.guard == "guarded" or driver.info.name == "playwright"
    assert [surface.page for surface in await tab.session.pages()] == ["p1", "p2"]
    await tab.session.close_page(page, deadline=20)
    assert [surface.page for surface in await tab.session.pages()] == ["p1"]
    await tab.do(ClickGesture, await tab.node("New tab"))
    for _ in range(400):
        if len(await tab.session.pages()) == 2:
            break
        await asyncio.sleep(0.05)
    assert [surface.page for surface in await tab.session.pages()] == ["p1", "p3"]


async def test_downloads_are_cancelled_or_put_into_quarantine(opened: Opener, site: Site, tmp_path: Path) -> None:
    tab = await opened(site.url("second.html"))
    await tab.session.navigate("p1", site.url("attachment"), wait_until=WaitUntil.LOAD, deadline=20)
    assert (await event(tab, EventKind.DOWNLOAD)).level == "cancelled"
    assert await tab.title() == "Second page"
    tab = await opened(site.url("second.html"), quarantine=str(tmp_path))
    await tab.session.navigate("p1", site.url("attachment"), wait_until=WaitUntil.LOAD, deadline=20)
    told = await event(tab, EventKind.DOWNLOAD)
    assert told.level == "quarantined"
    assert Path(told.path).parent == tmp_path
    assert await asyncio.to_thread(Path(told.path).read_bytes) == b"some bytes"
    assert len(told.sha256) == 64


async def test_a_crashed_page_is_told_of_and_comes_back_by_navigation(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    transport = tab.transport
    transport.spawn(transport.send(transport.page("p1"), "Page.crash", {}, deadline=1))
    await event(tab, EventKind.PAGE_CRASHED)
    with pytest.raises(DriverError) as raised:
        await tab.look()
    assert raised.value.code is Code.PAGE_CRASHED
    assert [surface.page for surface in await tab.session.pages()] == ["p1"]
    await tab.go(site.url("form.html"))
    assert await tab.by_id("send")


async def test_a_page_that_loops_ends_calls_in_time_and_leaves_other_pages_usable(opened: Opener, site: Site) -> None:
    tab = await opened(site.url(f"doors.html?to={site.url('second.html')}"))
    await tab.do(ClickGesture, await tab.node("New tab with opener"))
    other = type(tab)(tab.session, (await event(tab, EventKind.PAGE_OPENED)).page)
    await titled(other, "Second page")
    transport = tab.transport
    loop = {"expression": "setTimeout(() => { for (;;); }, 0)"}
    await transport.cdp("p1", "Runtime.evaluate", loop, deadline=5)
    await asyncio.sleep(0.2)
    started = time.monotonic()
    with pytest.raises(DeadlineExceeded):
        await tab.session.collect("p1", CollectRequest(), deadline=1)
    assert time.monotonic() - started < 10
    assert (await other.look()).nodes


async def test_closed_roots_are_counted_truthfully_and_within_the_budget(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("closed.html"))
    caps = CoverageCaps(max_seconds=10)
    found = await tab.session.coverage("p1", caps, deadline=20)
    assert (found.verified, found.closed_shadow_roots, found.reason) == (False, 3, None)
    clean = await tab.by_id("clean")
    found = await tab.session.coverage(clean.key, caps, deadline=20)
    assert (found.verified, found.closed_shadow_roots, found.reason) == (True, 0, None)
    small = await tab.session.coverage("p1", CoverageCaps(max_nodes=5, max_seconds=10), deadline=20)
    assert (small.verified, small.reason) == (False, CoverageReason.OVER_BUDGET)


async def test_pictures_show_the_viewport_the_page_and_one_node(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("scroll.html"))
    top, bottom = await tab.by_id("top"), await tab.by_id("bottom")
    request = CaptureRequest(keys=(top.key, bottom.key))
    picture = await tab.session.capture("p1", request, deadline=20)
    assert (picture.width, picture.height) == (1280, 800)
    assert picture.png.startswith(b"\x89PNG")
    assert [(node.box is not None, node.omitted) for node in picture.nodes] == [(True, ""), (True, "off-viewport")]
    whole = await tab.session.capture("p1", CaptureRequest(kind=CaptureKind.FULL_PAGE), deadline=20)
    assert whole.height >= 5000
    one = await tab.session.capture("p1", CaptureRequest(kind=CaptureKind.NODE, key=top.key, scale=2), deadline=20)
    assert one.scale_x == pytest.approx(2, abs=0.1)
    with pytest.raises(DriverError) as raised:
        await tab.session.capture("p1", CaptureRequest(max_pixels=10), deadline=20)
    assert raised.value.code is Code.CAPTURE_TOO_LARGE


async def test_text_links_tables_and_forms_are_read(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("content.html"))

    async def read(kind: ReadKind, **bounds: int) -> NodeText:
        return await tab.session.read("p1", ReadRequest(kind=kind, **bounds), deadline=20)

    text = (await read(ReadKind.TEXT)).text
    assert "One paragraph of text." in text.splitlines()
    assert (await read(ReadKind.TEXT, limit=10)).truncated
    assert (await read(ReadKind.LINKS)).items == ({"text": "First", "href": site.url("a")},)
    assert (await read(ReadKind.TABLES)).items == ({"Year": "2024", "Sum": "10"}, {"Year": "2025", "Sum": "20"})
    (form,) = (await read(ReadKind.FORMS)).items
    assert form["action"] == site.url("find")


async def test_a_watch_ends_when_its_condition_holds_or_in_time(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    conditions = (
        WatchCondition(kind=WatchKind.TEXT_PRESENT, text="never there"),
        WatchCondition(kind=WatchKind.URL, text=site.url("second.html")),
    )
    task = asyncio.ensure_future(tab.session.watch("p1", conditions, deadline=20))
    await tab.do(ClickGesture, await tab.by_id("away"))
    assert (await task).met == 1
    assert (await tab.session.watch("p1", conditions[:1], deadline=0.3)).met is None


async def test_console_and_errors_are_told_in_order_and_bounded(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    script = "for (let i = 0; i < 1500; i++) console.warn('line', i); setTimeout(() => { throw new Error('broken'); })"
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    await asyncio.sleep(1)
    drained = await tab.session.drain()
    assert drained.dropped >= 500
    assert len(drained.events) == 1000
    assert [event.sequence for event in drained.events] == sorted(event.sequence for event in drained.events)
    told = [event for event in drained.events if event.kind is not EventKind.NETWORK]  # the page's icon comes when it comes
    assert told[-1].kind is EventKind.PAGE_ERROR
    assert "broken" in told[-1].text


async def test_a_session_attaches_to_a_running_browser_and_leaves_it_as_it_was(
    driver: Driver, chromium: str, site: Site, tmp_path: Path
) -> None:
    from ues_driver_cdp_raw.websocket import attach_browser

    temporary = tempfile.mkdtemp(prefix="ues")  # short: the browser puts sockets into it, and it is killed at the end
    browser = await asyncio.create_subprocess_exec(
        chromium,
        "--headless=new",
        "--remote-debugging-port=0",
        f"--user-data-dir={tmp_path}",
        *(["--no-sandbox"] if running_as_root() else []),
        "about:blank",
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
        start_new_session=True,
        env={**os.environ, "TMPDIR": temporary},
    )
    try:
        port = tmp_path / "DevToolsActivePort"
        for _ in range(400):
            if port.exists() and len(port.read_text().splitlines()) == 2:
                break
            await asyncio.sleep(0.05)
        endpoint = f"http://127.0.0.1:{port.read_text().splitlines()[0]}"
        session = await driver.open(OpenSpec(target=Attach(endpoint=endpoint), url=site.url("second.html")))
        (surface,) = await session.pages()
        assert surface.title == "Second page"
        await session.close()
        connection = await attach_browser(endpoint, deadline=20)
        left = (await connection.send("Target.getTargets", {"filter": [{"type": "page"}]}, deadline=20))["targetInfos"]
        await connection.close()
        assert [target["url"] for target in left] == ["about:blank"]
    finally:
        for process in browser_processes_of(tmp_path):
            process.kill()
        await browser.wait()
        shutil.rmtree(temporary, ignore_errors=True)


async def test_closing_leaves_neither_process_nor_folder_and_may_be_repeated(
    driver: Driver, chromium: str, tmp_path: Path
) -> None:
    target = Launch(executable=chromium, no_sandbox=running_as_root(), profile_dir=str(tmp_path))
    session = await driver.open(OpenSpec(target=target))
    assert browser_processes_of(tmp_path)
    await asyncio.gather(session.close(), session.close())
    await session.close()
    assert browser_processes_of(tmp_path) == []
    with pytest.raises(DriverError):
        await session.surface("p1", deadline=1)


async def test_a_browser_that_was_killed_is_known_at_once_and_closing_works(
    driver: Driver, chromium: str, tmp_path: Path
) -> None:
    target = Launch(executable=chromium, no_sandbox=running_as_root(), profile_dir=str(tmp_path))
    session = await driver.open(OpenSpec(target=target))
    for process in browser_processes_of(tmp_path):
        process.kill()
    started = time.monotonic()
    with pytest.raises(DriverError) as raised:
        await session.collect("p1", CollectRequest(), deadline=20)
    assert raised.value.code in (Code.SESSION_CLOSED, Code.PAGE_UNKNOWN)
    assert time.monotonic() - started < 15
    await session.close()
    assert browser_processes_of(tmp_path) == []


async def test_an_opening_that_is_cancelled_leaves_nothing_running(driver: Driver, chromium: str, tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))  # browsers that wait for other tests
    for moment in (0.05, 0.3, 0.8):
        folder = tmp_path / str(moment)
        target = Launch(executable=chromium, no_sandbox=running_as_root(), profile_dir=str(folder))
        opening = asyncio.ensure_future(driver.open(OpenSpec(target=target)))
        await asyncio.sleep(moment)
        opening.cancel()
        done = await asyncio.gather(opening, return_exceptions=True)
        if not isinstance(done[0], BaseException):
            await done[0].close()
        for _ in range(100):
            if not browser_processes_of(folder):
                break
            await asyncio.sleep(0.05)
        assert browser_processes_of(folder) == []
    started = set(psutil.Process().children(recursive=True)) - before
    assert not [child for child in started if child.status() == "running" and "chrom" in child.name()]
