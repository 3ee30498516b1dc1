"""Standard tests of a driver: bounds, cancellation, closing, pages, dialogs, events, downloads, watches."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import time
from pathlib import Path

import pytest

from ues_core.contract import (
    ClickGesture,
    Code,
    CollectRequest,
    DeadlineExceeded,
    DialogKind,
    DialogPolicy,
    DocumentGone,
    DriverError,
    EventKind,
    FillGesture,
    WaitUntil,
    WatchCondition,
    WatchKind,
)
from ues_core.testing.conformance._bench import LIMIT, SETTLE, Bench, Stand, names, need
from ues_core.testing.conformance.guard import Guarded
from ues_core.testing.conformance.stage import SceneName
from ues_core.testing.server import DOWNLOAD

_GRACE = 8.0
"""Seconds beyond its deadline after which a call counts as unbounded: only a hang takes that long."""


async def _press(stand: Stand, name: str) -> None:
    """Click without waiting for the landing's facts: what opens a dialog may hold the click's own answer back."""
    node = await stand.node(name)
    await stand.session.dispatch(ClickGesture(page=stand.page, key=node.key), expect=node.identity(), deadline=LIMIT)


class Lifetime(Guarded):
    """How a driver's sessions live and end."""

    # -- bounds ------------------------------------------------------------------------------------------------------

    async def test_a_navigation_that_gets_no_answer_ends_at_its_deadline(self, bench: Bench) -> None:
        """And the session is usable afterwards."""
        bench.need("navigation")
        hang = bench.site.hang()
        bench.need_part(hang, "address that does not answer")
        async with bench.opened() as stand:
            started = time.monotonic()
            with pytest.raises(DeadlineExceeded):
                await stand.session.navigate(stand.page, hang or "", wait_until=WaitUntil.LOAD, deadline=0.5)
            assert time.monotonic() - started < 0.5 + _GRACE
            assert not (await stand.go(bench.url(SceneName.SECOND))).denied

    async def test_a_surface_that_stopped_answering_does_not_hold_a_call_or_the_end(self, bench: Bench) -> None:
        """A page in an endless loop: calls end at their deadlines, and closing works."""
        async with bench.opened(SceneName.LOOP) as stand:
            await stand.click("Freeze")
            await asyncio.sleep(0.3)
            started = time.monotonic()
            with pytest.raises(DriverError):
                await stand.session.collect(stand.page, CollectRequest(), deadline=1.0)
            assert time.monotonic() - started < 1.0 + _GRACE

    async def test_a_cancelled_call_leaves_the_session_usable(self, bench: Bench) -> None:
        """Cancelling the task cancels the call and nothing else."""
        need(WatchKind.TEXT_PRESENT in bench.can.watch, f"{bench.name} does not declare watching for text")
        async with bench.opened() as stand:
            never = WatchCondition(kind=WatchKind.TEXT_PRESENT, text="this text never comes")
            call = asyncio.create_task(stand.session.watch(stand.page, (never,), deadline=60))
            await asyncio.sleep(0.2)
            call.cancel()
            with pytest.raises(asyncio.CancelledError):
                await call
            await stand.click(stand.site.parts.add)
            assert await stand.clicks() == 1

    async def test_closing_twice_is_closing_once(self, bench: Bench) -> None:
        """It never raises, and a closed session refuses every call."""
        async with bench.opened() as stand:
            await stand.session.close()
            await stand.session.close()
            with pytest.raises(DriverError):
                await stand.session.surface(stand.page, deadline=LIMIT)

    async def test_closing_ends_a_call_that_is_under_way(self, bench: Bench) -> None:
        """The call fails; it does not wait for its deadline."""
        need(WatchKind.TEXT_PRESENT in bench.can.watch, f"{bench.name} does not declare watching for text")
        async with bench.opened() as stand:
            never = WatchCondition(kind=WatchKind.TEXT_PRESENT, text="this text never comes")
            call = asyncio.create_task(stand.session.watch(stand.page, (never,), deadline=60))
            await asyncio.sleep(0.2)
            await stand.session.close()
            with pytest.raises(DriverError):
                await asyncio.wait_for(call, 2 * _GRACE)

    async def test_a_page_that_is_not_there_is_refused(self, bench: Bench) -> None:
        """With a code, at once."""
        async with bench.opened() as stand:
            with pytest.raises(DriverError) as refused:
                await stand.session.surface("no-such-page", deadline=LIMIT)
            assert refused.value.code is Code.PAGE_UNKNOWN

    # -- isolation ---------------------------------------------------------------------------------------------------

    async def test_two_sessions_share_no_surface(self, bench: Bench) -> None:
        """What one does, the other does not see."""
        bench.need_gesture("fill")
        async with bench.opened() as one, bench.opened() as two:
            await one.click(one.site.parts.add)
            node = await one.node(one.site.parts.field)
            gesture = FillGesture(page=one.page, key=node.key, text="mine")
            await one.session.dispatch(gesture, expect=node.identity(), deadline=LIMIT)
            assert await two.clicks() == 0
            assert not (await two.node(two.site.parts.field)).value
            await one.session.close()
            await two.click(two.site.parts.add)
            assert await two.clicks() == 1

    async def test_two_sessions_share_no_stored_state(self, bench: Bench) -> None:
        """Neither cookies nor local storage pass from one to the other."""
        async with bench.opened(SceneName.STORAGE) as one, bench.opened(SceneName.STORAGE) as two:
            await one.click("Remember")
            for stand, said in ((one, "yes"), (two, "no")):
                await stand.session.reload(stand.page, deadline=LIMIT)
                assert {f"Cookie: {said}", f"Local: {said}"} <= set(names((await stand.look()).nodes))

    # -- pages -------------------------------------------------------------------------------------------------------

    async def test_a_page_that_a_page_opens_is_listed_told_and_can_be_closed(self, bench: Bench) -> None:
        """The first page stays first and stays usable."""
        bench.need("pages")
        second = bench.url(SceneName.SECOND)
        async with bench.opened(SceneName.DOORS, to=second) as stand:
            await stand.session.drain()
            await stand.click("Open by script")
            opened = (await stand.event(EventKind.PAGE_OPENED)).page
            await stand.settled(lambda: _is_at(stand, opened, second), "the new page shows its document")
            pages = await stand.session.pages()
            assert [surface.page for surface in pages] == [stand.page, opened]
            assert pages[0].document != pages[1].document
            assert "Second page" in names((await stand.look(opened)).nodes)
            await stand.session.close_page(opened, deadline=LIMIT)
            assert [surface.page for surface in await stand.session.pages()] == [stand.page]
            assert await stand.has("Doors")

    # -- dialogs -----------------------------------------------------------------------------------------------------

    async def test_a_dialog_is_dismissed_and_told(self, bench: Bench) -> None:
        """Unless the session holds dialogs, nothing waits for an answer."""
        bench.need("dialogs")
        async with bench.opened(SceneName.DIALOGS) as stand:
            await stand.session.drain()
            await _press(stand, "Ask me")
            told = await stand.event(EventKind.DIALOG)
            assert (told.dialog_kind, told.text) == (DialogKind.CONFIRM, "Are you sure?")
            await stand.settled(lambda: stand.has("Answer: no"), "the dialog was dismissed")

    @pytest.mark.parametrize(
        ("ask", "accept", "text", "said"),
        [
            ("Tell me", True, "", "Answer: told"),
            ("Ask me", True, "", "Answer: yes"),
            ("Ask me", False, "", "Answer: no"),
            ("Quiz me", True, "swordfish", "Answer: swordfish"),
            ("Quiz me", False, "", "Answer: nothing"),
        ],
    )
    async def test_a_held_dialog_gets_the_answer_that_is_given(
        self, bench: Bench, ask: str, accept: bool, text: str, said: str
    ) -> None:
        """Once; a second answer is refused."""
        bench.need("dialogs")
        async with bench.opened(SceneName.DIALOGS, dialogs=DialogPolicy.HOLD) as stand:
            await stand.session.drain()
            clicking = asyncio.create_task(_press(stand, ask))
            dialog = (await stand.event(EventKind.DIALOG)).dialog
            await stand.session.answer_dialog(dialog, accept, text, deadline=LIMIT)
            await asyncio.wait_for(clicking, LIMIT + _GRACE)
            await stand.settled(lambda: stand.has(said), f"the surface shows {said!r}")
            with pytest.raises(DriverError) as refused:
                await stand.session.answer_dialog(dialog, accept, text, deadline=LIMIT)
            assert refused.value.code is Code.DIALOG_UNKNOWN

    # -- events ------------------------------------------------------------------------------------------------------

    async def test_events_come_in_order_and_once(self, bench: Bench) -> None:
        """A drain takes what it gives."""
        bench.need("navigation")
        async with bench.opened() as stand:
            await stand.session.drain()
            await stand.go(bench.url(SceneName.SECOND))
            first = (await stand.session.drain()).events
            await stand.session.reload(stand.page, deadline=LIMIT)
            second = (await stand.session.drain()).events
            order = [event.sequence for event in first + second]
            assert order == sorted(set(order))
            assert any(event.kind is EventKind.NAVIGATION for event in first)

    async def test_a_noisy_surface_fills_no_memory(self, bench: Bench) -> None:
        """The queue and each text are bounded; what was dropped is counted."""
        async with bench.opened(SceneName.NOISE) as stand:
            await stand.session.drain()
            await stand.click("Make noise")
            await stand.settled(lambda: stand.has("Made: yes"), "the noise was made")
            await asyncio.sleep(0.5)
            drained = await stand.session.drain()
            assert 0 < len(drained.events) < 6_000
            assert drained.dropped > 0
            assert max(len(event.text) for event in drained.events) <= 4_000

    # -- downloads ---------------------------------------------------------------------------------------------------

    async def test_a_download_without_a_quarantine_is_cancelled_and_told(self, bench: Bench) -> None:
        """No file is kept anywhere that the driver names."""
        bench.need("downloads")
        async with bench.opened(SceneName.DOWNLOAD) as stand:
            await stand.session.drain()
            await stand.click("Get the file")
            assert (await stand.event(EventKind.DOWNLOAD)).path == ""
            assert await stand.has("Download")

    async def test_a_download_goes_to_the_quarantine_and_nowhere_else(self, bench: Bench, tmp_path: Path) -> None:
        """Its digest is told, and its name is not taken from the server as a path."""
        bench.need("downloads")
        folder = tmp_path / "quarantine"
        folder.mkdir()
        async with bench.opened(SceneName.DOWNLOAD, quarantine=str(folder)) as stand:
            await stand.session.drain()
            await stand.click("Get the file")
            event = await stand.event(EventKind.DOWNLOAD)
            assert Path(event.path).parent == folder
            assert await asyncio.to_thread(Path(event.path).read_bytes) == DOWNLOAD
            assert event.sha256 == hashlib.sha256(DOWNLOAD).hexdigest()

    # -- watching ----------------------------------------------------------------------------------------------------

    async def test_a_watch_ends_when_its_condition_holds(self, bench: Bench) -> None:
        """The one that held is named."""
        need(WatchKind.TEXT_PRESENT in bench.can.watch, f"{bench.name} does not declare watching for text")
        async with bench.opened(SceneName.LATER) as stand:
            await stand.click("Start")
            never = WatchCondition(kind=WatchKind.TEXT_PRESENT, text="this text never comes")
            done = WatchCondition(kind=WatchKind.TEXT_PRESENT, text="It is done")
            assert (await stand.session.watch(stand.page, (never, done), deadline=SETTLE)).met == 1

    async def test_a_watch_for_what_does_not_come_ends_at_its_deadline(self, bench: Bench) -> None:
        """Without an error: not seeing something is an answer."""
        need(WatchKind.TEXT_PRESENT in bench.can.watch, f"{bench.name} does not declare watching for text")
        async with bench.opened() as stand:
            never = WatchCondition(kind=WatchKind.TEXT_PRESENT, text="this text never comes")
            started = time.monotonic()
            assert (await stand.session.watch(stand.page, (never,), deadline=0.3)).met is None
            assert time.monotonic() - started < 0.3 + _GRACE

    async def test_a_watch_sees_a_node_go(self, bench: Bench) -> None:
        """By its key."""
        need(WatchKind.NODE_GONE in bench.can.watch, f"{bench.name} does not declare watching for a node to go")
        async with bench.opened(SceneName.LATER) as stand:
            node = await stand.node("Leave soon")
            await stand.click("Leave soon")
            gone = WatchCondition(kind=WatchKind.NODE_GONE, key=node.key)
            assert (await stand.session.watch(stand.page, (gone,), deadline=SETTLE)).met == 0
            assert not await stand.has("Leave soon")


async def _is_at(stand: Stand, page: str, url: str) -> bool:
    """Whether the page has arrived. While it is on its way, its document may be replaced under a call."""
    with contextlib.suppress(DocumentGone):
        return (await stand.surface(page)).location == url and bool((await stand.look(page)).nodes)
    return False
