# ruff: noqa: E501 - the page is told in lines of its own length
"""Pictures: what is drawn where, and that every mark lies on the node that it names."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import pytest
from PIL import Image

from ues_core.contract import Captured, CaptureKind, CaptureRequest, NodeFacts

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site, Tab

pytestmark = pytest.mark.browser

# Each control has its own colour, by its id: far from each other, so that a mark on the wrong one shows.
COLOURS = {
    "top": (255, 0, 0),
    "shadow": (0, 255, 0),
    "framed": (0, 0, 255),
    "nested": (255, 255, 0),
    "far": (255, 0, 255),
    "deep": (0, 255, 255),
    "wide": (128, 64, 0),
}
PAGE = """
  const paint = (id, colour) => `<button id=${id} style="border: 0; width: 61px; height: 33px; background: rgb(${colour})"></button>`;
  const colours = COLOURS;
  const put = (root, id, style) => {
    const box = document.createElement("div");
    box.style.cssText = style, box.innerHTML = paint(id, colours[id]), root.append(box);
    return box;
  };
  document.body.style.cssText = "margin: 0; height: 4000px; background: white";
  document.body.innerHTML = "";
  put(document.body, "top", "position: absolute; left: 13px; top: 17px");
  put(document.body, "far", "position: absolute; left: 313px; top: 3011px");
  put(document.body, "wide", "position: absolute; left: 1250px; top: 1040px");
  const host = put(document.body, "top", "position: absolute; left: 201px; top: 1101px");
  host.innerHTML = "", put(host.attachShadow({ mode: "open" }), "shadow", "padding: 5px");
  const covered = put(document.body, "top", "position: absolute; left: 601px; top: 1101px");
  covered.firstChild.id = "covered";
  const cover = document.body.appendChild(document.createElement("div"));
  cover.style.cssText = "position: absolute; left: 590px; top: 1090px; width: 200px; height: 90px; background: silver";
  const scroller = document.body.appendChild(document.createElement("div"));
  scroller.style.cssText = "position: absolute; left: 13px; top: 2500px; width: 200px; height: 100px; overflow: auto";
  put(scroller, "top", "margin-top: 500px").firstChild.id = "scrolled";
  const add = (at, style) => {
    const frame = at.appendChild(document.createElement("iframe"));
    frame.style.cssText = style;
    frame.contentDocument.body.style.margin = 0;
    return frame.contentDocument.body;
  };
  const inner = add(document.body, "position: absolute; left: 407px; top: 1203px; width: 300px; height: 200px; border: 3px solid; padding: 2px");
  put(inner, "framed", "margin: 9px 21px");
  put(add(inner, "width: 200px; height: 90px; border: 0; transform: scale(0.5)"), "nested", "margin: 20px");
  put(add(document.body, "position: absolute; left: 40px; top: 3403px; width: 200px; height: 90px; border: 0"), "deep", "");
  scrollTo(0, 1000);
"""


async def nodes_of(tab: Tab, url: str) -> dict[str, NodeFacts]:
    await tab.go(url)
    script = PAGE.replace("COLOURS", str({name: ",".join(map(str, colour)) for name, colour in COLOURS.items()}))
    told = await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    assert "exceptionDetails" not in told, told
    return {node.dom_id: node for node in (await tab.look(max_nodes=200)).nodes}


async def shoot(
    tab: Tab, nodes: dict[str, NodeFacts], kind: CaptureKind, scale: int, of: str = ""
) -> tuple[set[str], dict[str, str]]:
    """Which nodes are marked, after looking at the pixels of each, and why the others are not."""
    keys = tuple(node.key for node in nodes.values())
    request = CaptureRequest(kind=kind, scale=scale, keys=keys, key=nodes[of].key if of else None)
    shot: Captured = await tab.session.capture("p1", request, deadline=20)
    names = {node.key: name for name, node in nodes.items()}
    assert [node.key for node in shot.nodes] == list(keys), "every node, once"
    with Image.open(io.BytesIO(shot.png)) as opened:
        picture = opened.convert("RGB")
    assert picture.size == (shot.width, shot.height)
    assert (shot.scale_x, shot.scale_y) == pytest.approx((scale, scale), abs=0.05)
    marked = set()
    for node in shot.nodes:
        name = names[node.key]
        if node.omitted or node.box is None or name not in COLOURS:
            continue
        marked.add(name)
        for across, down in ((0.1, 0.15), (0.5, 0.5), (0.9, 0.85)):
            x = (node.box.x - shot.origin_x + node.box.width * across) * shot.scale_x
            y = (node.box.y - shot.origin_y + node.box.height * down) * shot.scale_y
            if x < shot.width and y < shot.height:
                assert picture.getpixel((int(x), int(y))) == COLOURS[name], (name, kind, scale)
        outside = (int((node.box.x - shot.origin_x - 4) * shot.scale_x), int((node.box.y - shot.origin_y) * shot.scale_y))
        if not of and outside[0] >= 0 and 0 <= outside[1] < shot.height:
            assert picture.getpixel(outside) != COLOURS[name], name
    return marked, {names[node.key]: node.omitted for node in shot.nodes if node.omitted}


async def test_marks_lie_on_what_they_name_in_frames_and_roots_at_every_scale(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    nodes = await nodes_of(tab, site.url("second.html"))
    near = {"shadow", "framed", "nested", "wide"}
    left_out = {"covered": "occluded", "top": "off-viewport", "far": "off-viewport", "deep": "off-viewport"}
    for scale in (1, 2, 3):
        marked, omitted = await shoot(tab, nodes, CaptureKind.VIEWPORT, scale)
        assert (marked, {name: omitted[name] for name in left_out}) == (near, left_out)
        assert omitted["scrolled"] == "off-viewport"
    marked, omitted = await shoot(tab, nodes, CaptureKind.FULL_PAGE, 1)
    assert marked == set(COLOURS), "what is only scrolled away with the page is in a picture of all of it"
    assert omitted == {"covered": "occluded", "scrolled": "off-viewport"}
    told = await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": "scrollY", "returnByValue": True}, deadline=20)
    assert told["result"]["value"] == 1000, "a picture scrolls nothing"
    for name in COLOURS:
        marked, omitted = await shoot(tab, nodes, CaptureKind.NODE, 2, of=name)
        assert marked == {name}
        assert len(omitted) == len(nodes) - 1
