"""Nothing leaves for a place off the allowlist, whatever asks for it: a second server counts what reaches it."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from ues_core.contract import ClickGesture, DriverEvent, EventKind, OriginGate, WaitUntil

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site, Tab

pytestmark = pytest.mark.browser

CALM = 0.4
DOORS = (
    "Same tab",
    "New tab",
    "New tab with opener",
    "Open",
    "Open blank, then go",
    "Assign",
    "Refresh",
    "Send by get",
    "Send by post to a new tab",
)


async def denied(tab: Tab, count: int = 1) -> list[DriverEvent]:
    for _ in range(400):
        found = [event for event in await tab.events() if event.kind is EventKind.GATE_DENIED]
        if len(found) >= count:
            return found
        await asyncio.sleep(0.05)
    raise AssertionError("nothing was denied")


@pytest.mark.parametrize("redirected", [False, True], ids=["direct", "redirected"])
async def test_no_door_of_a_page_leads_off_the_allowlist(opened: Opener, site: Site, canary: Site, redirected: bool) -> None:
    goal = site.url(f"redirect?{canary.url('second.html')}") if redirected else canary.url("second.html")
    url = site.url(f"doors.html?to={goal}")
    tab = await opened(url, gate=OriginGate(allowed_origins=(site.origin,)))
    for number, door in enumerate(DOORS, 1):
        if redirected and door.startswith("Send"):  # a form by get replaces the query, where the goal is
            continue
        await tab.do(ClickGesture, await tab.node(door))
        found = await denied(tab, number)
        assert found[-1].url.startswith(canary.origin), door
        assert await tab.title() == "Doors", "the old document stays"
        await tab.go(url)
    await asyncio.sleep(CALM)
    assert canary.hits == []


async def test_a_navigation_and_its_redirects_are_denied_with_the_reason(opened: Opener, site: Site, canary: Site) -> None:
    tab = await opened(site.url("second.html"), gate=OriginGate(allowed_origins=(site.origin,)))
    document = (await tab.session.surface("p1", deadline=20)).document
    hops = site.url(f"redirect?{site.url('redirect')}?{canary.url('x')}")
    for url in (canary.url("x"), site.url(f"redirect?{canary.url('x')}"), hops):
        went = await tab.session.navigate("p1", url, wait_until=WaitUntil.LOAD, deadline=20)
        assert canary.origin in went.denied
        assert went.surface.document == document
    assert canary.hits == []
    went = await tab.session.navigate("p1", site.url("redirect?/form.html"), wait_until=WaitUntil.LOAD, deadline=20)
    assert (went.kind, went.status, went.redirects, went.denied) == ("redirect", 200, 1, "")


@pytest.mark.parametrize("gated", [True, False])
async def test_embedded_documents_are_gated_when_asked_for(opened: Opener, site: Site, canary: Site, gated: bool) -> None:
    gate = OriginGate(allowed_origins=(site.origin,), subframes=gated)
    tab = await opened(site.url(f"doors.html?to={canary.url('second.html')}"), gate=gate)
    await tab.do(ClickGesture, await tab.node("Frame"))
    if gated:
        await denied(tab)
        await asyncio.sleep(CALM)
    else:
        for _ in range(200):
            if canary.hits:
                break
            await asyncio.sleep(0.05)
    assert bool(canary.hits) is not gated


async def test_history_does_not_lead_back_to_a_place_that_is_denied(opened: Opener, site: Site, canary: Site) -> None:
    tab = await opened(site.url("second.html"), gate=OriginGate(allowed_origins=(site.origin,)))
    await tab.go(site.url("form.html"))
    went = await tab.session.back("p1", deadline=20)
    assert (went.denied, went.surface.title) == ("", "Second page")
    went = await tab.session.forward("p1", deadline=20)
    assert went.surface.title == "Order form"
    assert (await tab.session.forward("p1", deadline=20)).kind == "no-navigation"
    went = await tab.session.reload("p1", deadline=20)
    assert went.kind == "document-load"
