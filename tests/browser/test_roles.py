"""Roles by WAI-ARIA and HTML-AAM, and what may be operated."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ues_core.contract import ClickGesture, Detail, Find, ScrollGesture

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site

pytestmark = pytest.mark.browser

ROLES = {
    "first": "switch",
    "abstract": "generic",
    "unnamed": "group",
    "named": "region",
    "form": "navigation",
    "global": "heading",
    "focusable": "heading",
    "image": "img",
    "directory": "list",
    "item": "listitem",
    "looseitem": "generic",
    "looseoption": "navigation",
    "loosetree": "button",
    "option": "option",
    "ownedoption": "option",
    "aside": "complementary",
    "inarticle": "generic",
    "inheader": "generic",
    "header": "banner",
    "footer": "contentinfo",
    "section": "generic",
    "region": "region",
    "emptyname": "generic",
    "dangling": "generic",
    "text": "textbox",
    "search": "searchbox",
    "listed": "combobox",
    "number": "spinbutton",
    "range": "slider",
    "file": "button",
    "pressed": "button",
    "one": "combobox",
    "many": "listbox",
    "tall": "listbox",
    "summary": "button",
    "noitem": "generic",
    "menuitem": "menuitem",
    "li": "listitem",
    "corner": "columnheader",
    "column": "columnheader",
    "row": "rowheader",
    "cell": "cell",
    "gridcell": "gridcell",
    "scoped": "rowheader",
    "nocell": "generic",
    "picture": "img",
    "edit": "textbox",
    "plaintext": "textbox",
    "noref": "generic",
    "ref": "link",
    "output": "status",
    "meter": "meter",
    "progress": "progressbar",
    "slotteditem": "listitem",
    "email": "textbox",
    "tel": "textbox",
    "url": "textbox",
    "password": "textbox",
    "unknown": "textbox",
    "date": "textbox",
    "time": "textbox",
    "month": "textbox",
    "week": "textbox",
    "moment": "textbox",
    "colour": "textbox",
    "check": "checkbox",
    "choice": "radio",
    "reset": "button",
    "sent": "button",
    "push": "button",
    "shot": "button",
    "notes": "textbox",
    "film": "",
    "sound": "",
    "svglink": "link",
    "drawn": "img",
    "part": "link",
    "mapped": "img",
    "dialog": "dialog",
    "alarm": "alertdialog",
    "handled": "generic",
    "bold": "generic",
}


async def test_roles_are_those_of_the_standards(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/roles.html"))
    nodes = {node.dom_id: node for node in (await tab.look(detail=Detail.CONTENT, max_nodes=500)).nodes}
    assert {dom_id: nodes[dom_id].role for dom_id in ROLES if dom_id in nodes} == ROLES
    assert nodes["edit"].editable
    assert nodes["plaintext"].editable
    assert not nodes["noedit"].editable
    assert not {"never", "silent"} & set(nodes)


async def test_what_the_page_means_to_be_operated_is_interactive_in_the_wrong_place_too(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/roles.html"))
    nodes = {node.dom_id: node for node in (await tab.look(max_nodes=500)).nodes}
    assert nodes["looseoption"].interactive
    assert nodes["loosetree"].interactive
    assert not nodes["looseitem"].interactive
    assert not nodes["form"].interactive
    assert (nodes["handled"].interactive, nodes["handled"].name) == (True, "Handled by a click")
    assert nodes["bold"].interactive
    assert {nodes[name].interactive for name in ("check", "film", "part", "svglink")} == {True}


async def test_parts_of_a_picture_are_where_they_lie_on_it_and_are_clicked(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    picture = "data:image/gif;base64,R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw=="
    script = f"""
      const part = (id, shape) => `<area id=${{id}} href=#${{id}} alt=${{id}} ${{shape}}>`;
      document.body.innerHTML = '<map name="m">' + part("square", "coords=10,20,50,60")
        + part("round", "shape=circle coords=100,100,20") + part("none", "coords=1,1") + part("outside", "coords=500,0,600,40")
        + '</map><map name="unused">' + part("unused", "") + '</map><div style="height: 3000px"></div>'
        + '<img usemap="#m" width="200" height="200" style="border: 5px solid" src="{picture}" alt="Map">';
      1
    """
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    nodes = {node.dom_id: node for node in (await tab.look(boxes=True)).nodes}
    assert set(nodes) == {"square", "round"}
    assert not nodes["round"].in_viewport
    assert (await tab.do(ScrollGesture, nodes["round"])).in_viewport
    nodes = {node.dom_id: node for node in (await tab.look(boxes=True)).nodes}
    square, circle = nodes["square"].box, nodes["round"].box
    assert square is not None
    assert circle is not None
    assert (circle.x - square.x, circle.y - square.y) == pytest.approx((70, 60), abs=0.5)
    assert (square.width, square.height, circle.width) == pytest.approx((40, 40, 40), abs=0.5)
    for name in ("round", "square"):
        assert (await tab.do(ClickGesture, nodes[name])).landed == "on-target"
        assert (await tab.session.surface("p1", deadline=20)).location.endswith(f"#{name}")


async def test_ornaments_and_helpers_that_a_page_hides_from_readers_are_no_nodes(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("semantics/roles.html"))
    nodes = {node.dom_id for node in (await tab.look(max_nodes=500)).nodes}
    assert {"told", "reached", "shownimage", "nameless"} <= nodes
    assert not {"glyph", "helper"} & nodes


async def test_a_host_that_hands_its_focus_on_is_no_node_and_a_drawn_dialog_is_one(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    script = """
      document.body.innerHTML = '<x-b tabindex="0">Go</x-b><x-c tabindex="0">Stay</x-c>'
        + '<dialog style="display:block" aria-label="About">Text</dialog><dialog aria-label="Closed">Text</dialog>';
      for (const [name, delegatesFocus] of [["x-b", true], ["x-c", false]])
        document.querySelector(name).attachShadow({ mode: "open", delegatesFocus }).innerHTML = "<button><slot></slot></button>";
      1
    """
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    seen = [(node.tag, node.role, node.name) for node in (await tab.look()).nodes]
    assert seen == [
        ("button", "button", "Go"),
        ("x-c", "", "Stay"),
        ("button", "button", "Stay"),
        ("dialog", "dialog", "About"),
    ]


INTERNALS = """
  document.body.innerHTML = '<x-choice tabindex="0">Express</x-choice><x-choice tabindex="0">Slow</x-choice>'
    + '<x-plain tabindex="0">Plain</x-plain>';
  customElements.define("x-choice", class extends HTMLElement {
    constructor() {
      super();
      this.attachShadow({ mode: "open" }).innerHTML = "<slot></slot>";
      const internals = this.attachInternals();
      internals.role = "radio";
      internals.ariaChecked = "false";
      this.addEventListener("click", () => { internals.ariaChecked = "true"; });
    }
  });
  document.querySelector("x-plain").attachShadow({ mode: "open" }).innerHTML = "<slot></slot>";
  1
"""


async def test_roles_and_states_in_element_internals_are_seen_and_followed(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": INTERNALS}, deadline=20)
    nodes = {node.name: node for node in (await tab.look()).nodes}
    assert {name: node.role for name, node in nodes.items()} == {"Express": "radio", "Slow": "radio", "Plain": ""}
    assert nodes["Express"].states.checked == "false"
    landing = await tab.do(ClickGesture, nodes["Express"])
    assert landing.landed == "on-target"
    after = {node.name: node for node in (await tab.look()).nodes}
    assert [after[name].states.checked for name in ("Express", "Slow")] == ["true", "false"]
    assert [node.name for node in (await tab.look(find=Find(text="s", role="radio"))).nodes] == ["Express", "Slow"]


HANDS = """
  const style = document.createElement("style");
  style.textContent = ".card, .row:hover, b.inner { cursor: pointer } td:hover { cursor: pointer }"
    + ".one:is(.two, .row, .three) { cursor: pointer } @media screen { #media { cursor: pointer } }";
  document.head.append(style);
  document.body.innerHTML = '<div id="card" class="card"><h4>Title</h4><p>Text</p></div><div id="row" class="row">Row</div>'
    + '<div id="both" class="card"><span>Open </span><button id="own">Button</button></div>'
    + '<div class="card" id="outer"><b class="inner">Inner</b></div><label class="card">Label <input id="field"></label>'
    + '<span id="inline" style="cursor:pointer">Inline</span><i id="media">Media</i><p id="plain">Plain</p><x-card></x-card>';
  const root = document.querySelector("x-card").attachShadow({ mode: "open" });
  root.innerHTML = "<style>.deep { cursor: pointer }</style><div class=deep id=deep>Deep</div><div class=card id=outside>Out</div>";
  for (const el of [document.getElementById("card"), root.getElementById("deep")])
    el.addEventListener("click", () => { document.title = el.id; });
  1
"""


async def test_what_shows_the_hand_takes_clicks_where_nothing_else_says_so(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": HANDS}, deadline=20)
    nodes = {node.dom_id: node for node in (await tab.look(max_nodes=200)).nodes}
    assert [name for name in nodes if name] == ["card", "own", "outer", "field", "inline", "media", "deep"]
    hands = [nodes[name] for name in ("card", "outer", "inline", "media", "deep")]
    assert [(node.name, node.interactive) for node in hands] == [
        ("Title Text", True),
        ("Inner", True),
        ("Inline", True),
        ("Media", True),
        ("Deep", True),
    ]
    content = {node.dom_id: node.interactive for node in (await tab.look(detail=Detail.CONTENT, max_nodes=200)).nodes}
    assert content["card"]
    assert not content["row"]
    assert not content["plain"]
    for name in ("card", "deep"):
        assert (await tab.do(ClickGesture, nodes[name])).landed == "on-target"
        assert await tab.title() == name
    found = await tab.look(find=Find(text="inline"))
    assert [node.dom_id for node in found.nodes] == ["inline"]
