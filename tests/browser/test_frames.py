"""Frames of other origins, in the page's process and in their own: seen on request, and operated like the page itself."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest
import pytest_asyncio

from tests.browser.conftest import SECONDS, Tab
from ues_core.contract import (
    CaptureRequest,
    ClickGesture,
    Code,
    Collected,
    DocumentGone,
    Driver,
    EventKind,
    FillGesture,
    FrameReach,
    HitStatus,
    Landed,
    Launch,
    NodeFacts,
    OpenSpec,
    OriginGate,
    PressGesture,
    ScrollGesture,
    TruncationReason,
    UploadGesture,
    WatchCondition,
    WatchKind,
)
from ues_core.testing.sharing import Sharing
from ues_core.web.browsers import running_as_root

if TYPE_CHECKING:
    from tests.browser.conftest import Site

pytestmark = pytest.mark.browser

ALL = FrameReach.ALL


@dataclass
class FramedTab(Tab):
    """A tab whose page has a frame of another origin."""

    there: str = ""


Framed = Callable[..., Awaitable[FramedTab]]


def elsewhere(site: Site) -> str:
    """The same server under another name: another site, so another process."""
    return site.origin.replace("127.0.0.1", "localhost")


def nested(*urls: str) -> str:
    """The first address, with each other one in a frame of the one before."""
    whole = urls[-1]
    for url in reversed(urls[:-1]):
        whole = f"{url}?to={quote(whole, safe='')}"
    return whole


@pytest_asyncio.fixture(loop_scope="session", params=["one process", "processes of their own"])
async def framed(
    request: pytest.FixtureRequest, driver: Driver, chromium: str, site: Site, canary: Site, sharing: Sharing
) -> Any:
    """Opens a page with frames in it; ``there`` is the other origin."""
    own = request.param != "one process"
    async with AsyncExitStack() as stack:

        async def open_page(*inner: str, **spec: Any) -> FramedTab:
            args = ("--site-per-process",) if own else ()
            target = Launch(executable=chromium, no_sandbox=running_as_root(), args=args)
            there = elsewhere(site) if own else canary.origin
            urls = [site.url("frames_outer.html"), *(name.replace("there:", there + "/") for name in inner)]
            urls = [url.replace("here:", site.origin + "/") for url in urls]
            wanted = OpenSpec(target=target, url=nested(*urls), **spec)
            session = await stack.enter_async_context(sharing.session(driver, wanted))
            await session.watch("p1", (WatchCondition(kind=WatchKind.DOCUMENT_READY),), deadline=SECONDS)
            return FramedTab(session, there=there)

        yield open_page


async def named(tab: Tab, name: str, **request: Any) -> NodeFacts:
    """A node by name, once its frame has loaded."""
    seen: Collected | None = None
    for _ in range(100):
        seen = await tab.look(max_nodes=200, detail="content", **{"frames": ALL, **request})
        found = [node for node in seen.nodes if node.name == name]
        if found:
            return found[0]
        await asyncio.sleep(0.05)
    raise AssertionError(f"no node is named {name!r}: {seen}")


async def test_a_frame_of_another_origin_is_named_and_not_entered_unless_asked_for(framed: Framed) -> None:
    tab = await framed("there:frames_inner.html")
    await named(tab, "Press there")
    seen = await tab.look()
    assert [node.name for node in seen.nodes] == ["Move the frame down", "Cover the frame"]
    assert seen.reasons == (TruncationReason.FRAME_NOT_TRAVERSED,)
    assert [(note.origin, note.entered) for note in seen.frames] == [(tab.there, False)]
    seen = await tab.look(frames=ALL)
    assert [node.name for node in seen.nodes][2:5] == ["Press there", "Field there", "File there"]
    assert {node.frame_origin for node in seen.nodes} == {"", tab.there}
    assert (seen.reasons, seen.frames[0].entered) == ((), True)


async def test_listed_origins_are_entered_and_no_others(framed: Framed, site: Site) -> None:
    tab = await framed("there:frames_inner.html", "here:frames_inner.html")
    await named(tab, "Press there")
    seen = await tab.look(frame_origins=("http://other.invalid",))
    assert not [node for node in seen.nodes if node.frame_origin]
    for _ in range(100):
        seen = await tab.look(frame_origins=(tab.there,))
        if len(seen.nodes) >= 8:
            break
        await asyncio.sleep(0.05)
    assert {node.frame_origin for node in seen.nodes} == {"", tab.there, site.origin}
    assert not [
        node for node in (await tab.look(frames=FrameReach.NONE, frame_origins=(tab.there,))).nodes if node.frame_origin
    ]


@pytest.mark.parametrize("depth", [1, 3])
async def test_nodes_there_are_clicked_filled_and_given_keys_and_files(framed: Framed, tmp_path: Path, depth: int) -> None:
    chain = ["there:frames_inner.html", "here:frames_inner.html", "there:frames_inner.html"][:depth]
    tab = await framed(*chain)
    for _ in range(100):
        nodes = (await tab.look(max_nodes=200, frames=ALL, boxes=True)).nodes
        buttons = [node for node in nodes if node.name == "Press there"]
        if len(buttons) == depth:
            break
        await asyncio.sleep(0.05)
    button = buttons[-1]
    found = await tab.session.inspect(button.key, deadline=SECONDS)
    assert found.hit is not None
    assert found.hit.status is HitStatus.CLEAR
    assert found.hit.x is not None
    assert found.hit.x > 40 + 5 + 7, "in the page's coordinates"
    assert button.box is not None
    assert abs(button.box.x + button.box.width / 2 - found.hit.x) < 1.5
    landing = await tab.do(ClickGesture, button)
    assert (landing.code, landing.landed) == (Code.OK, Landed.ON_TARGET)
    frame = button.key.frame
    said = [node for node in (await tab.look(max_nodes=200, frames=ALL, detail="content")).nodes if node.key.frame == frame]
    (status,) = [node for node in said if node.role == "status"]
    assert await tab.text(status) == "pressed 1"
    (field,) = [node for node in said if node.name == "Field there"]
    landing = await tab.do(FillGesture, field, text="good day")
    assert (landing.code, landing.landed, landing.value_equal) == (Code.OK, Landed.ON_TARGET, True)
    landing = await tab.do(PressGesture, field, chord="Enter")
    assert (landing.code, landing.landed) == (Code.OK, Landed.ON_TARGET)
    assert await tab.text(status) == "entered good day"
    file = tmp_path / "letter.txt"
    file.write_text("x")
    (upload,) = [node for node in said if node.name == "File there"]
    assert (await tab.do(UploadGesture, upload, files=(str(file),))).code is Code.OK
    assert await tab.text(status) == "file letter.txt"


async def test_what_the_page_draws_over_a_frame_covers_its_nodes(framed: Framed) -> None:
    tab = await framed("there:frames_inner.html")
    button = await named(tab, "Press there")
    await tab.do(ClickGesture, await tab.node("Cover the frame"))
    found = await tab.session.inspect(button.key, deadline=SECONDS)
    assert found.hit is not None
    assert (found.hit.status, "Curtain" in found.hit.covered_by) == (HitStatus.OCCLUDED, True)
    landing = await tab.do(ClickGesture, button)
    assert (landing.dispatched, landing.code) == (False, Code.TARGET_OCCLUDED)
    captured = await tab.session.capture("p1", CaptureRequest(keys=(button.key,)), deadline=SECONDS)
    assert captured.nodes[0].omitted == "occluded"


async def test_a_frame_out_of_view_is_scrolled_to(framed: Framed) -> None:
    tab = await framed("there:frames_inner.html")
    button = await named(tab, "Press there")
    assert button.in_viewport
    await tab.do(ClickGesture, await tab.node("Move the frame down"))
    button = await named(tab, "Press there")
    assert not button.in_viewport
    landing = await tab.do(ClickGesture, button)
    assert (landing.dispatched, landing.code) == (False, Code.TARGET_OFF_VIEWPORT)
    landing = await tab.do(ScrollGesture, button)
    assert (landing.code, landing.in_viewport) == (Code.OK, True)
    assert (await tab.do(ClickGesture, button)).landed is Landed.ON_TARGET


async def test_a_look_at_one_node_there_gives_the_page_s_coordinates(framed: Framed) -> None:
    tab = await framed("there:frames_inner.html")
    button = await named(tab, "Press there", boxes=True)
    alone = await tab.look(within=button.key, boxes=True)
    assert alone.root is not None
    assert alone.root.box == button.box


async def test_documents_of_frames_are_judged_when_the_gate_says_so(framed: Framed, site: Site) -> None:
    tab = await framed("there:frames_inner.html", gate=OriginGate(allowed_origins=(site.origin,), subframes=True))
    for _ in range(100):
        denied = [event for event in await tab.events() if event.kind is EventKind.GATE_DENIED]
        if denied:
            break
        await asyncio.sleep(0.05)
    assert denied[0].url.startswith(tab.there)
    seen = await tab.look(frames=ALL)
    assert not [node for node in seen.nodes if node.name == "Press there"]


async def test_a_frame_that_goes_elsewhere_and_back_is_followed(framed: Framed, site: Site) -> None:
    tab = await framed("there:frames_inner.html")
    old = await named(tab, "Press there")
    for origin in (site.origin, tab.there, site.origin):
        goal = f"{origin}/second.html"
        await tab.transport.cdp(
            "p1", "Runtime.evaluate", {"expression": f"document.querySelector('iframe').src = {goal!r}"}, deadline=SECONDS
        )
        for _ in range(100):
            seen = await tab.look(frames=ALL)
            if [node for node in seen.nodes if node.frame_origin == origin] and seen.frames[0].entered:
                break
            await asyncio.sleep(0.05)
        assert {node.frame_origin for node in seen.nodes} == {"", origin}
    with pytest.raises(DocumentGone):
        await tab.do(ClickGesture, old)


@pytest.mark.parametrize("path", ["cdn-cgi/challenge-platform/check.html", "inner.html"])
async def test_nothing_is_installed_in_the_frame_of_a_human_verification(opened: Any, site: Site, path: str) -> None:
    """It is named and left alone; the frame beside it shows that the look would find what is installed."""
    tab = await opened(nested(site.url("frames_outer.html"), site.url(path)))
    page = tab.transport

    async def ask(method: str, **params: Any) -> Any:
        return await page.cdp("p1", method, params, deadline=SECONDS)

    for _ in range(100):
        tree = (await ask("Page.getFrameTree"))["frameTree"]
        found = [child["frame"] for child in tree.get("childFrames", ()) if child["frame"]["url"].endswith(path)]
        if found:
            break
        await asyncio.sleep(0.05)
    seen = await tab.look(frames=ALL)
    world = await ask("Page.createIsolatedWorld", frameId=found[0]["id"], worldName="ues")
    answer = await ask(
        "Runtime.evaluate", expression="typeof globalThis.__ues", contextId=world["executionContextId"], returnByValue=True
    )
    barred = path != "inner.html"
    assert answer["result"]["value"] == ("undefined" if barred else "object")
    assert (TruncationReason.HUMAN_VERIFICATION_FRAME in seen.reasons) is barred
    assert any(node.key.frame for node in seen.nodes) is not barred


async def test_what_is_in_magnified_frames_is_where_it_is_drawn(opened: Any, site: Site, canary: Site) -> None:
    tab = await opened(site.url("scaled.html"))
    boxes = {"Inner": (195, 175, 90, 30), "Deep": (90, 235, 75, 30)}
    for name, after in (("Inner", "Done"), ("Deep", "1")):
        node = await named(tab, name, boxes=True)
        assert node.box is not None
        assert (node.box.x, node.box.y, node.box.width, node.box.height) == pytest.approx(boxes[name], abs=0.5)
        assert (await tab.do(ClickGesture, node)).landed == "on-target"
        await named(tab, after)
    await tab.go(nested(site.url("frames_outer.html"), canary.url("inner.html")))
    shrink = "document.querySelector('iframe').style.cssText = 'transform: scale(0.5); transform-origin: 0 0'; 1"
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": shrink}, deadline=SECONDS)
    seen = await tab.look(frames=ALL, boxes=True)
    for _ in range(100):
        foreign = [node for node in seen.nodes if node.key.frame and node.tag == "button"]
        if foreign:
            break
        await asyncio.sleep(0.05)
        seen = await tab.look(frames=ALL, boxes=True)
    assert foreign[0].box is not None
    assert foreign[0].box.x >= 40 + 0.5 * 12
    assert (await tab.do(ClickGesture, foreign[0])).landed == "on-target"


TURNED = """
  const around = document.createElement("div"), frame = document.querySelector("iframe");
  around.style.cssText = "rotate: -20deg; scale: 0.9 1.1; position: absolute; left: 250px; top: 160px";
  frame.style.cssText += "; left: 0; top: 0; transform-origin: 30% 60%; transform: rotate(50deg) skewX(10deg) scale(1.2, 0.8)";
  document.body.prepend(around), around.append(frame);
"""


async def test_what_is_in_turned_frames_is_where_it_is_drawn(opened: Any, site: Site, canary: Site) -> None:
    """A frame that is moved loads its document once more."""
    for origin in (site, canary):
        tab = await opened(nested(site.url("frames_outer.html"), origin.url("frames_inner.html")))
        await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": TURNED}, deadline=SECONDS)
        node = await named(tab, "Press there", boxes=True)
        for _ in range(100):  # the frame loads once more where it was put
            if node.box is not None and node.box.width > node.box.height:
                break
            node = await named(tab, "Press there", boxes=True)
        found = await tab.session.inspect(node.key, deadline=SECONDS)
        assert found.facts is not None
        assert found.hit is not None
        assert found.hit.status is HitStatus.CLEAR
        assert found.facts.box == node.box
        assert node.box is not None
        middle = (node.box.x + node.box.width / 2, node.box.y + node.box.height / 2)
        assert (found.hit.x, found.hit.y) == pytest.approx(middle, abs=1)
        landing = await tab.do(ClickGesture, node)
        assert (landing.code, landing.landed) == (Code.OK, Landed.ON_TARGET)
        picture = await tab.session.capture("p1", CaptureRequest(keys=(node.key,)), deadline=SECONDS)
        assert (picture.nodes[0].box, picture.nodes[0].omitted) == (node.box, "")
