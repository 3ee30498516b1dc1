"""What both web drivers see of a page."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from tests.browser.conftest import SECONDS
from ues_core.contract import Detail, Find, FrameReach, NameSource, NodeFacts, Tristate, TruncationReason

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site

pytestmark = pytest.mark.browser

SESAME = "sesame"


def by_id(nodes: tuple[NodeFacts, ...]) -> dict[str, NodeFacts]:
    return {node.dom_id: node for node in nodes if node.dom_id}


async def test_a_form_is_seen_with_roles_names_states_and_values(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    seen = await tab.look()
    nodes = by_id(seen.nodes)
    assert seen.surface.title == "Order form"
    assert (nodes["name"].role, nodes["name"].name, nodes["name"].states.required) == ("textbox", "Full name", True)
    assert nodes["name"].name_source is NameSource.LABEL
    assert (nodes["amount"].role, nodes["amount"].value, nodes["amount"].states.value_max) == ("spinbutton", "3", 9)
    assert nodes["size"].role == "combobox"
    assert [(option.label, option.selected, option.disabled) for option in nodes["size"].options] == [
        ("Small", False, False),
        ("Medium", True, False),
        ("Huge", False, True),
    ]
    assert nodes["gift"].states.checked is Tristate.FALSE
    assert nodes["send"].submits
    assert not nodes["plain"].submits
    assert nodes["send"].form_action == site.url("order")
    assert nodes["send"].form_method == "post"
    assert not nodes["fixed"].editable
    assert nodes["fixed"].states.readonly
    assert nodes["closed"].disabled
    assert nodes["away"].href == site.url("second.html")
    radios = [node for node in seen.nodes if node.role == "radio"]
    assert [(node.name, node.group, node.states.checked) for node in radios] == [
        ("By post", "Delivery", Tristate.TRUE),
        ("In the shop", "Delivery", Tristate.FALSE),
    ]


async def test_names_follow_the_rules_and_are_normalised(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("names.html"))
    nodes = by_id((await tab.look(max_nodes=200)).nodes)
    expected = {
        "labelled": ("button", "First Second"),
        "labelattr": ("button", "Spelled out"),
        "nested": ("button", "Save all now"),
        "blocks": ("button", "Line one Line two"),
        "invisible": ("button", "Zerowidthsoft space"),
        "titled": ("button", "From the title"),
        "submit": ("button", "Submit"),
        "image": ("button", "Go there"),
        "hint": ("textbox", "Type here"),
        "flash": ("checkbox", "Flash the screen 3 times"),
        "picture": ("img", "A picture"),
        "multi": ("button", "Token"),
        "svg": ("img", "Drawn"),
        "link": ("link", "Linked"),
        "heading": ("heading", "Heading three"),
        "edit": ("textbox", "Editor"),
        "slider": ("slider", "Volume"),
        "summary": ("button", "More"),
    }
    assert {dom_id: (nodes[dom_id].role, nodes[dom_id].name) for dom_id in expected} == expected
    assert len(nodes["long"].name) <= 180
    assert not nodes["long"].name.endswith(" ")
    assert nodes["emoji"].name == "x" * 179, "a grapheme is taken whole or not at all"
    assert nodes["described"].description == "First"
    assert nodes["link"].href == "https://example.test/a/b"
    assert nodes["link"].download
    assert nodes["heading"].states.level == 3
    tree = nodes["tree"].states
    assert (tree.level, tree.position_in_set, tree.set_size, tree.expanded, tree.selected) == (2, 1, 3, False, True)
    assert (nodes["slider"].states.value_now, nodes["slider"].states.value_text) == (4, "four")


async def test_the_page_side_identity_equals_the_contracts_to_the_byte(opened: Opener, site: Site) -> None:
    for page in ("names.html", "form.html", "hidden.html"):
        tab = await opened(site.url(page))
        for node in (await tab.look(max_nodes=200)).nodes:
            live = await tab.session.inspect(node.key, deadline=20)
            assert live.facts is not None
            assert live.facts.identity() == node.identity()


async def test_secrets_are_withheld_and_no_name_is_computed_through_them(opened: Opener, site: Site) -> None:
    from ues_core.contract import ClickGesture, ReadRequest

    tab = await opened(site.url("secrets.html"))
    seen = await tab.look(detail=Detail.CONTENT)
    nodes = by_id(seen.nodes)
    assert SESAME not in seen.model_dump_json()
    for dom_id in ("password", "shown", "otp", "card", "masked", "maskededit"):
        assert nodes[dom_id].secret, dom_id
        assert nodes[dom_id].value is None
    assert nodes["open"].value == "not secret"
    await tab.do(ClickGesture, nodes["reveal"])
    again = await tab.by_id("shown")
    assert (again.input_type, again.secret, again.value) == ("text", True, None)
    for key in (nodes["password"].key, nodes["maskededit"].key):
        read = await tab.session.read(key, ReadRequest(), deadline=20)
        assert read.secret
        assert read.text == ""
    whole = await tab.session.read("p1", ReadRequest(limit=10_000), deadline=20)
    assert SESAME not in whole.text


async def test_open_shadow_roots_and_slots_are_seen_as_rendered(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("shadow.html"))
    seen = await tab.look()
    assert [node.name for node in seen.nodes] == [
        "Shadow",
        "Inside",
        "Slotted first",
        "Inner",
        "Slotted second",
        "Deep",
        "After",
    ]
    assert seen.reasons == ()


async def test_hidden_nodes_are_counted_and_do_not_eat_the_budget(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("hidden.html"))
    seen = await tab.look()
    names = [node.name for node in seen.nodes]
    assert "Contents link" in names
    assert "Fancy check" in names
    assert not {"None", "Hidden", "Transparent", "In closed details", "Skipped"} & set(names)
    assert seen.hidden_matches == 5
    assert not seen.hidden_matches_partial
    assert not by_id(seen.nodes)["low"].in_viewport


async def test_smaller_budgets_are_prefixes_and_say_so(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("names.html"))
    full = await tab.look(max_nodes=100)
    few = await tab.look(max_nodes=5)
    assert few.nodes == full.nodes[:5]
    assert few.reasons == (TruncationReason.NODE_BUDGET_EXCEEDED,)
    assert (few.candidates, few.hidden_matches) == (full.candidates, full.hidden_matches), (
        "what was cut is counted all the same"
    )
    assert not few.hidden_matches_partial
    small = await tab.look(max_bytes=1000)
    assert small.nodes == full.nodes[: len(small.nodes)]
    assert small.reasons == (TruncationReason.BYTE_BUDGET_EXCEEDED,)
    rest = await tab.look(max_nodes=100, skip=5)
    assert [node.key for node in rest.nodes] == [node.key for node in full.nodes[5:]]
    window = await tab.look(scan_window=3)
    assert window.hidden_matches_partial, "a count that stopped early says so"
    assert TruncationReason.SCAN_WINDOW_EXCEEDED in window.reasons


async def test_nodes_are_found_by_text_and_role(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    found = await tab.look(find=Find(text="ORDER"))
    assert [node.name for node in found.nodes] == ["Order form", "Send order"]
    found = await tab.look(find=Find(text="order", role="button"))
    assert [node.name for node in found.nodes] == ["Send order"]


async def test_a_subtree_is_seen_alone_with_its_root(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("content.html"))
    form = next(node for node in (await tab.look(detail=Detail.CONTENT)).nodes if node.role == "form")
    inside = await tab.look(within=form.key, detail=Detail.CONTENT)
    assert inside.root is not None
    assert inside.root.key == form.key
    assert [(node.role, node.name) for node in inside.nodes] == [("form", "Search"), ("searchbox", "Words"), ("button", "Find")]


async def test_content_lists_static_text_too(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("content.html"))
    seen = await tab.look(detail=Detail.CONTENT, max_nodes=200)
    said = {(node.role, node.name) for node in seen.nodes}
    assert {
        ("navigation", "Main"),
        ("paragraph", "One paragraph of text."),
        ("alert", "Careful"),
        ("table", "Figures"),
        ("cell", "2024"),
        ("columnheader", "Sum"),
        ("img", "A chart"),
        ("listitem", "Plain item"),
    } <= said
    assert "Careful" in seen.text_sample
    controls = {(node.role, node.name) for node in (await tab.look()).nodes}
    assert ("paragraph", "One paragraph of text.") not in controls


async def test_parents_point_backwards_across_slots_frames_and_roots(opened: Opener, site: Site) -> None:
    for page in ("shadow.html", "frames.html", "content.html"):
        tab = await opened(site.url(page))
        nodes = (await tab.look(detail=Detail.CONTENT, max_nodes=200)).nodes
        assert all(node.parent is None or node.parent < index for index, node in enumerate(nodes))
    alert = next(index for index, node in enumerate(nodes) if node.role == "alert")
    assert nodes[nodes[alert].parent or 0].role == "main"


async def test_same_origin_frames_are_entered_and_others_are_named(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("frames.html"))
    seen = await tab.look()
    inside = {node.name: node for node in seen.nodes if node.frame_origin}
    assert {"Press inside", "Inside text", "Deepest"} <= set(inside)
    assert inside["Press inside"].frame_origin == site.origin
    assert inside["Press inside"].key.frame
    assert seen.nodes[inside["Press inside"].parent or 0].role == "main"
    assert [note.entered for note in seen.frames] == [True, True]
    assert seen.reasons == ()
    without = await tab.look(frames=FrameReach.NONE)
    assert not any(node.frame_origin for node in without.nodes)
    assert TruncationReason.FRAME_NOT_TRAVERSED in without.reasons


async def test_a_cross_origin_frame_is_named_and_not_entered(opened: Opener, site: Site, canary: Site) -> None:
    from ues_core.contract import ClickGesture

    tab = await opened(site.url(f"doors.html?to={canary.url('second.html')}"))
    await tab.do(ClickGesture, await tab.node("Frame"))
    for _ in range(200):  # the frame is a blank one of the page's own origin until its document comes
        seen = await tab.look()
        if [note.origin for note in seen.frames] == [canary.origin]:
            break
        await asyncio.sleep(0.05)
    assert [(note.origin, note.entered) for note in seen.frames] == [(canary.origin, False)]
    assert seen.reasons == (TruncationReason.FRAME_NOT_TRAVERSED,)


async def test_a_page_cannot_forge_what_is_seen(opened: Opener, site: Site) -> None:
    from ues_core.contract import ClickGesture

    tab = await opened(site.url("hostile.html"))
    seen = await tab.look()
    names = [node.name for node in seen.nodes]
    assert {"First", "Second", "True name", "Go"} <= set(names)
    assert "forged" not in seen.model_dump_json()
    assert all(node.value in ("", None) for node in seen.nodes)
    landing = await tab.do(ClickGesture, await tab.by_id("true"))
    assert landing.landed == "on-target"
    first = await tab.node("First")
    inspection = await tab.session.inspect(first.key, deadline=20)
    assert inspection.form_digest


async def test_keys_are_not_reused_and_die_with_their_document(opened: Opener, site: Site) -> None:
    from ues_core.contract import DocumentGone

    tab = await opened(site.url("form.html"))
    first = await tab.look()
    again = await tab.look()
    assert [node.key for node in first.nodes] == [node.key for node in again.nodes]
    await tab.go(site.url("second.html"))
    with pytest.raises(DocumentGone):
        await tab.session.inspect(first.nodes[0].key, deadline=20)
    assert not {node.key for node in (await tab.look()).nodes} & {node.key for node in first.nodes}


async def test_of_very_many_matches_those_in_view_are_exact_and_the_count_of_hidden_ones_is_partial(
    opened: Opener, site: Site
) -> None:
    """Which lie in the viewport is asked of all; which of those far away are hidden is not, and that is said."""
    tab = await opened(site.url("form.html"))
    many = """{
      const style = (n) => (n > 4500 ? 'style="visibility: hidden"' : '');
      const rows = Array.from({ length: 5000 }, (_, n) => `<div><button ${style(n)}>Row ${n}</button></div>`);
      document.body.innerHTML = rows.join('') +
        '<button style="position: fixed; top: 0; opacity: 0">Unseen</button>' +
        '<button style="position: fixed; bottom: 0; right: 0">Accept</button>';
    }"""
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": many}, deadline=SECONDS)
    seen = await tab.look(max_nodes=60)
    names = [node.name for node in seen.nodes]
    assert names[0] == "Row 0"
    assert "Accept" in names, "the last button of the page lies in the viewport"
    assert "Unseen" not in names
    assert seen.hidden_matches_partial
    assert seen.candidates == 5002

    hidden = await tab.look(max_nodes=1000, find=Find(text="Row 4600"))
    assert hidden.nodes == (), "what is shown is looked at closely"

    few = many.replace("5000", "500").replace("4500", "450")
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": few}, deadline=SECONDS)
    counted = await tab.look(max_nodes=1000)
    assert (counted.hidden_matches, counted.hidden_matches_partial) == (50, False)
