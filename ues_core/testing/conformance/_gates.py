"""Standard tests of a driver: a forbidden document is never asked for, whichever way leads to it."""

from __future__ import annotations

import asyncio

import pytest

from ues_core.contract import Code, DriverError, EventKind, UesError, WaitUntil
from ues_core.testing.conformance._bench import LIMIT, Bench, Stand
from ues_core.testing.conformance.guard import Guarded
from ues_core.testing.conformance.stage import SceneName

_CALM = 0.5
"""Seconds that a request would need to reach a canary on the same machine, with room to spare."""


async def _untouched(stand: Stand) -> None:
    """Nothing reached the canary, and the session still works."""
    await asyncio.sleep(_CALM)
    assert stand.site.canary_hits() == 0
    assert (await stand.surface()).document
    assert await stand.has("Doors")


class Gates(Guarded):
    """The navigation gate, proved by a canary."""

    async def test_the_canary_is_alive(self, bench: Bench) -> None:
        """Where the gate allows it, it is reached: otherwise the other tests would prove nothing."""
        canary = bench.canary()
        bench.need("navigation")
        async with bench.opened(gate=bench.site.canary_gate()) as stand:
            done = await stand.go(canary)
            assert not done.denied
            assert stand.site.canary_hits() >= 1

    async def test_a_forbidden_navigation_is_denied_and_the_session_stays_usable(self, bench: Bench) -> None:
        """The reason is told, the document stays, nothing was asked for."""
        canary = bench.canary()
        bench.need("navigation")
        async with bench.opened(SceneName.DOORS) as stand:
            before = await stand.surface()
            done = await stand.go(canary)
            assert done.denied
            assert (await stand.surface()).document == before.document
            await _untouched(stand)
            assert not (await stand.go(bench.url(SceneName.SECOND))).denied

    async def test_a_redirect_to_a_forbidden_place_is_denied(self, bench: Bench) -> None:
        """An allowed address does not lend its permission to where it leads."""
        hop = bench.site.redirect(bench.canary())
        bench.need("navigation")
        bench.need_part(hop, "redirect")
        async with bench.opened(SceneName.DOORS) as stand:
            done = await stand.go(hop or "")
            assert done.denied
            await asyncio.sleep(_CALM)
            assert stand.site.canary_hits() == 0
            assert not (await stand.go(bench.url(SceneName.SECOND))).denied

    @pytest.mark.parametrize("door", ["Walk out", "Go by script", "Send the form"])
    async def test_a_page_cannot_take_itself_to_a_forbidden_place(self, bench: Bench, door: str) -> None:
        """By a link, a script, or a form."""
        canary = bench.canary()
        async with bench.opened(SceneName.DOORS, to=canary) as stand:
            await stand.session.drain()
            await stand.click(door)
            denied = await stand.event(EventKind.GATE_DENIED)
            assert denied.url.split("?")[0] == canary
            await asyncio.sleep(_CALM)
            assert stand.site.canary_hits() == 0
            assert not (await stand.go(bench.url(SceneName.SECOND))).denied

    @pytest.mark.parametrize("door", ["Open a window", "Open by script"])
    async def test_a_popup_to_a_forbidden_place_asks_for_nothing(self, bench: Bench, door: str) -> None:
        """A new page is gated from its first request on."""
        canary = bench.canary()
        bench.need("pages")
        async with bench.opened(SceneName.DOORS, to=canary) as stand:
            await stand.session.drain()
            await stand.click(door)
            await stand.event(EventKind.GATE_DENIED)
            await _untouched(stand)

    async def test_a_redirect_behind_a_link_is_denied_too(self, bench: Bench) -> None:
        """The page starts it, the server turns it: still nothing is asked for."""
        hop = bench.site.redirect(bench.canary())
        bench.need_part(hop, "redirect")
        async with bench.opened(SceneName.DOORS, to=hop or "") as stand:
            await stand.session.drain()
            await stand.click("Walk out")
            await stand.event(EventKind.GATE_DENIED)
            await asyncio.sleep(_CALM)
            assert stand.site.canary_hits() == 0

    async def test_a_session_is_not_opened_at_a_forbidden_place(self, bench: Bench) -> None:
        """It fails with a code, or opens elsewhere; either way nothing is asked for."""
        canary = bench.canary()
        code, location = Code.ORIGIN_NOT_ALLOWED, ""
        try:
            async with bench.session(bench.spec(canary)) as session:
                location = (await session.pages())[0].location
        except UesError as refused:
            code = refused.code
        assert code is Code.ORIGIN_NOT_ALLOWED
        assert location.split("?")[0] != canary
        assert bench.site.canary_hits() == 0

    @pytest.mark.parametrize(
        "url", ["file:///etc/passwd", "javascript:document.title='x'", "data:text/html,x", "chrome://version"]
    )
    async def test_an_address_of_another_scheme_is_denied(self, bench: Bench, url: str) -> None:
        """Only http(s) documents are asked for, whatever the allowlist."""
        bench.need("navigation", "network_gate")
        async with bench.opened() as stand:
            before = await stand.surface()
            try:
                denied = (await stand.session.navigate(stand.page, url, wait_until=WaitUntil.LOAD, deadline=LIMIT)).denied
            except DriverError as refused:
                denied = str(refused)
            assert denied
            assert await stand.surface() == before
