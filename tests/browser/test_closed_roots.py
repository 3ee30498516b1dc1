"""Closed shadow roots: counted without transferring the page, and operated like the rest of it on request."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING
from urllib.parse import quote

import pytest

from ues_core.contract import (
    ClickGesture,
    Code,
    CoverageCaps,
    CoverageReason,
    Driver,
    FillGesture,
    Landed,
    Launch,
    PressGesture,
    Support,
    WatchCondition,
    WatchKind,
)
from ues_core.web.browsers import running_as_root

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site, Tab

pytestmark = pytest.mark.browser

ACT = Support.ACT
CAPS = CoverageCaps(max_seconds=10)


async def said(tab: Tab) -> str:
    return await tab.text(await tab.by_id("said", detail="content"))


async def test_content_of_closed_roots_is_collected_on_request_only(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("closed_deep.html"))
    plain = await tab.look()
    assert not {"Outer", "Inner", "Declared"} & {node.name for node in plain.nodes}
    assert plain.pierced == 0
    assert (await tab.session.coverage("p1", CAPS, deadline=20)).pierced == 0
    seen = await tab.look(closed_shadow=ACT)
    names = [node.name for node in seen.nodes]
    assert names[1:7] == ["Outer", "Closed field", "Inner", "Closed secret", "Declared", "Slotted label"]
    assert (seen.pierced, seen.reasons) == (4, ())
    assert [(node.value, node.secret) for node in seen.nodes if node.name == "Closed secret"] == [(None, True)]
    found = await tab.session.coverage("p1", CAPS, deadline=20)
    assert (found.verified, found.closed_shadow_roots, found.pierced, found.reason) == (True, 4, 4, None)
    await tab.look()
    found = await tab.session.coverage("p1", CAPS, deadline=20)
    assert (found.verified, found.closed_shadow_roots, found.pierced) == (False, 4, 0)


@pytest.mark.parametrize(("name", "text"), [("Outer", "outer"), ("Inner", "inner"), ("Slotted label", "slotted")])
async def test_buttons_in_closed_roots_are_pressed(opened: Opener, site: Site, name: str, text: str) -> None:
    tab = await opened(site.url("closed_deep.html"))
    (node,) = [node for node in (await tab.look(closed_shadow=ACT)).nodes if node.name == name and node.role == "button"]
    landing = await tab.do(ClickGesture, node)
    assert (landing.code, landing.landed) == (Code.OK, Landed.ON_TARGET)
    assert await said(tab) == f"{text} pressed"


async def test_fields_in_closed_roots_take_text_and_keys(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("closed_deep.html"))
    field = await tab.node("Closed field", closed_shadow=ACT)
    landing = await tab.do(FillGesture, field, text="good day")
    assert (landing.code, landing.landed, landing.value_equal) == (Code.OK, Landed.ON_TARGET, True)
    landing = await tab.do(PressGesture, field, chord="Enter")
    assert (landing.code, landing.landed) == (Code.OK, Landed.ON_TARGET)
    assert await said(tab) == "entered good day"


async def test_a_node_that_comes_over_another_in_a_closed_root_does_not_get_its_click(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("closed_deep.html"))
    inner = await tab.node("Inner", closed_shadow=ACT)
    transport = tab.transport
    # The page swaps the two at the very moment the pointer comes.
    script = (
        "window.addEventListener('pointerover', () => { document.getElementById('outer').style.marginTop = '80px';"
        "document.getElementById('outer').style.display = 'block' }, { capture: true, once: true })"
    )
    await transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    landing = await tab.do(ClickGesture, inner)
    assert (landing.landed, landing.code) == (Landed.ELSEWHERE, Code.LANDED_ELSEWHERE)
    assert await said(tab) == "nothing yet"


async def test_closed_roots_in_frames_of_their_own_process_are_counted_and_used(
    driver: Driver, chromium: str, site: Site
) -> None:
    from tests.browser.conftest import SECONDS, Tab
    from ues_core.contract import FrameReach, OpenSpec

    there = site.origin.replace("127.0.0.1", "localhost")
    target = Launch(executable=chromium, no_sandbox=running_as_root(), args=("--site-per-process",))
    url = f"{site.url('frames_outer.html')}?to={quote(there + '/closed_deep.html', safe='')}"
    session = await driver.open(OpenSpec(target=target, url=url))
    try:
        await session.watch("p1", (WatchCondition(kind=WatchKind.DOCUMENT_READY),), deadline=SECONDS)
        tab = Tab(session)
        for _ in range(100):
            seen = await tab.look(frames=FrameReach.ALL, closed_shadow=ACT)
            if seen.pierced == 4:
                break
        found = await session.coverage("p1", CAPS, deadline=SECONDS)
        assert (found.verified, found.closed_shadow_roots, found.pierced) == (True, 4, 4)
        (node,) = [node for node in seen.nodes if node.name == "Inner"]
        assert node.frame_origin == there
        landing = await tab.do(ClickGesture, node)
        assert (landing.code, landing.landed) == (Code.OK, Landed.ON_TARGET)
        seen = await tab.look(frames=FrameReach.ALL, detail="content")
        (status,) = [node for node in seen.nodes if node.dom_id == "said"]
        assert await tab.text(status) == "inner pressed"
    finally:
        await session.close()


@pytest.mark.parametrize("tag", ["td", "div"])
async def test_a_page_of_twenty_thousand_nodes_is_not_transferred(opened: Opener, site: Site, tag: str) -> None:
    tab = await opened(site.url("second.html"))
    inner = "<table>" + "<tr><td>x</td></tr>" * 7000 + "</table>" if tag == "td" else "<div class='a b c'>x</div>" * 10_000
    script = f"document.body.innerHTML = {json.dumps(inner)}"
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    received = 0
    run = tab.transport.cdp

    async def counted(*args: object, **kwargs: object) -> object:
        nonlocal received
        answer = await run(*args, **kwargs)  # type: ignore[arg-type]
        received += len(json.dumps(answer))
        return answer

    tab.transport.cdp = counted  # type: ignore[assignment,method-assign]
    found = await tab.session.coverage("p1", CoverageCaps(max_nodes=100_000, max_seconds=20), deadline=20)
    assert received < 1_000_000
    if tag == "td":
        assert (found.verified, found.probed_nodes > 20_000) == (True, True)
    else:
        assert (found.verified, found.reason) == (False, CoverageReason.OVER_BUDGET)
    found = await tab.session.coverage("p1", CoverageCaps(), deadline=20)
    assert (found.verified, found.reason) == (False, CoverageReason.OVER_BUDGET)
