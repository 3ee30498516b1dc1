"""What both web drivers do to a page, and how they know where it went."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ues_core.contract import (
    ClickGesture,
    Code,
    Direction,
    DragGesture,
    FillGesture,
    GuardState,
    HitStatus,
    HoverGesture,
    Landed,
    PressGesture,
    ScrollGesture,
    SelectGesture,
    TypeGesture,
    UploadGesture,
)

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site, Tab

pytestmark = pytest.mark.browser


async def log_of(tab: Tab) -> str:
    return await tab.text(await tab.by_id("log"))


async def test_a_click_is_a_real_one_and_lands_on_its_target(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    landing = await tab.do(ClickGesture, await tab.by_id("plain"))
    assert (landing.dispatched, landing.landed, landing.guard, landing.code) == (
        True,
        Landed.ON_TARGET,
        GuardState.GUARDED,
        Code.OK,
    )
    assert (await tab.by_id("plain")).states.pressed == "true"
    log = await log_of(tab)
    assert "click:plain::true" in log
    landing = await tab.do(ClickGesture, await tab.by_id("plain"), count=2)
    assert "dblclick:plain" in await log_of(tab)
    landing = await tab.do(ClickGesture, await tab.by_id("plain"), button="right")
    assert "contextmenu:plain" in await log_of(tab)


async def test_one_gesture_opens_one_window_and_none_opens_none(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("windows.html"))
    assert len(await tab.session.pages()) == 1
    await tab.do(ClickGesture, await tab.by_id("many"))
    for _ in range(40):
        if len(await tab.session.pages()) > 1:
            break
        await asyncio.sleep(0.05)
    await asyncio.sleep(0.2)
    assert len(await tab.session.pages()) == 2


async def test_text_is_filled_typed_and_cleared(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    for text in ("Ada Lovelace", "Zoë 👩‍👩‍👧 '\"<>", ""):
        landing = await tab.do(FillGesture, await tab.by_id("name"), text=text)
        assert (landing.code, landing.value_equal) == (Code.OK, True)
        assert (await tab.by_id("name")).value == text.replace("‍", "")
    await tab.do(FillGesture, await tab.by_id("name"), text="ab")
    assert (await tab.do(TypeGesture, await tab.by_id("name"), text="cd")).code == Code.OK
    assert (await tab.by_id("name")).value == "abcd"
    note = await tab.by_id("note")
    assert (await tab.do(FillGesture, note, text="one\ntwo")).value_equal
    assert "input:note::true" in await log_of(tab)


async def test_what_cannot_keep_the_text_says_so(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    landing = await tab.do(FillGesture, await tab.by_id("short"), text="12345")
    assert (landing.code, landing.value_equal) == (Code.VALUE_MISMATCH, False)
    for dom_id, code in (
        ("fixed", Code.TARGET_NOT_EDITABLE),
        ("closed", Code.TARGET_DISABLED),
        ("plain", Code.TARGET_NOT_EDITABLE),
    ):
        landing = await tab.do(FillGesture, await tab.by_id(dom_id), text="x")
        assert (landing.dispatched, landing.code) == (False, code)


async def test_editing_hosts_and_native_pickers_are_filled(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("editable.html"))
    for dom_id, text in (
        ("rich", "new text"),
        ("plain", "new"),
        ("time", "12:34"),
        ("color", "#ff8800"),
        ("range", "7"),
        ("area", ""),
    ):
        landing = await tab.do(FillGesture, await tab.by_id(dom_id), text=text)
        assert (dom_id, landing.code, landing.value_equal) == (dom_id, Code.OK, True)
        assert (await tab.by_id(dom_id)).value == text
    landing = await tab.do(FillGesture, await tab.by_id("upper"), text="abc")
    assert landing.code is Code.VALUE_MISMATCH


async def test_options_are_chosen_by_index(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    landing = await tab.do(SelectGesture, await tab.by_id("size"), index=0)
    assert (landing.code, landing.option_selected) == (Code.OK, True)
    assert (await tab.by_id("size")).value == "s"
    assert "change:size" in await log_of(tab)
    for index, code in ((2, Code.OPTION_MISSING), (9, Code.OPTION_MISSING)):
        assert (await tab.do(SelectGesture, await tab.by_id("size"), index=index)).code == code
    assert (await tab.do(SelectGesture, await tab.by_id("name"), index=0)).code == Code.NOT_A_SELECT


async def test_keys_and_chords_reach_the_node(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    name = await tab.by_id("name")
    await tab.do(FillGesture, name, text="abc")
    await tab.do(PressGesture, name, chord="Control+a")
    await tab.do(PressGesture, name, chord="Shift+x")
    assert (await tab.by_id("name")).value == "X"
    landing = await tab.do(PressGesture, name, chord="Enter")
    assert (landing.landed, landing.code) == (Landed.ON_TARGET, Code.OK)
    assert "submit" in await log_of(tab)
    landing = await tab.do(PressGesture, name, chord="Nonsense")
    assert (landing.dispatched, landing.code) == (False, Code.KEY_INVALID)
    anywhere = await tab.session.dispatch(PressGesture(page="p1", chord="Tab"), expect=None, deadline=20)
    assert anywhere.dispatched


async def test_what_a_pointer_would_not_meet_is_refused(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("hidden.html"))
    landing = await tab.do(ClickGesture, await tab.by_id("under"))
    assert (landing.dispatched, landing.code) == (False, Code.TARGET_OCCLUDED)
    assert landing.covered_by == 'div#over.veil "Veil"'
    inspection = await tab.session.inspect((await tab.by_id("under")).key, deadline=20)
    assert inspection.hit is not None
    assert inspection.hit.status is HitStatus.OCCLUDED
    low = await tab.by_id("low")
    assert (await tab.do(ClickGesture, low)).code == Code.TARGET_OFF_VIEWPORT
    scrolled = await tab.session.dispatch(ScrollGesture(page="p1", key=low.key), expect=None, deadline=20)
    assert scrolled.in_viewport
    assert (await tab.do(ClickGesture, await tab.by_id("low"))).code == Code.OK


async def test_a_partly_covered_node_is_met_where_it_is_free_and_a_label_operates_its_control(
    opened: Opener, site: Site
) -> None:
    tab = await opened(site.url("hidden.html"))
    assert (await tab.do(ClickGesture, await tab.by_id("half"))).landed is Landed.ON_TARGET
    assert (await tab.do(ClickGesture, await tab.by_id("check"))).landed is Landed.ON_TARGET
    assert (await tab.by_id("check")).states.checked == "true"


async def test_a_target_that_moves_away_gets_nothing_and_neither_does_what_took_its_place(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("guard.html"))
    landing = await tab.do(ClickGesture, await tab.by_id("mover"))
    assert landing.landed is Landed.ELSEWHERE
    assert landing.code is Code.LANDED_ELSEWHERE
    assert "click" not in await log_of(tab)
    landing = await tab.do(ClickGesture, await tab.by_id("calm"))
    assert landing.landed is Landed.ON_TARGET
    assert "click:calm" in await log_of(tab)


async def test_a_target_that_changed_when_the_pointer_arrived_is_not_pressed(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("guard.html"))
    landing = await tab.do(ClickGesture, await tab.by_id("renamer"))
    assert landing.code is Code.TARGET_CHANGED
    assert landing.live is not None
    assert landing.live.name == "Delete everything"
    assert "pointerdown" not in await log_of(tab)
    stale = await tab.by_id("renamer")
    changed = stale.identity().model_copy(update={"name": "Other"})
    landing = await tab.session.dispatch(ClickGesture(page="p1", key=stale.key), expect=changed, deadline=20)
    assert (landing.dispatched, landing.code) == (False, Code.TARGET_CHANGED)


async def test_text_does_not_reach_a_field_that_stole_the_focus(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("guard.html"))
    await tab.do(FillGesture, await tab.by_id("thief"), text="secret text")
    assert (await tab.by_id("other")).value == ""


async def test_a_document_that_was_reopened_is_operated_unguarded_and_says_so(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("guard.html"))
    await tab.do(ClickGesture, await tab.by_id("opener"))
    fresh = await tab.by_id("fresh")
    landing = await tab.do(ClickGesture, fresh)
    assert (landing.landed, landing.guard) == (Landed.ON_TARGET, GuardState.UNGUARDED)
    assert await tab.title() == "fresh"


async def test_a_node_that_is_gone_is_refused(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("guard.html"))
    calm = await tab.by_id("calm")
    await tab.do(ClickGesture, await tab.by_id("opener"))
    landing = await tab.do(ClickGesture, calm)
    assert (landing.dispatched, landing.code) == (False, Code.TARGET_GONE)
    assert not (await tab.session.inspect(calm.key, deadline=20)).connected


async def test_nodes_in_shadow_roots_and_frames_are_operated(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("shadow.html"))
    assert (await tab.do(ClickGesture, await tab.node("Inner"))).landed is Landed.ON_TARGET
    assert (await tab.do(FillGesture, await tab.node("Deep"), text="deep")).value_equal
    tab = await opened(site.url("frames.html"))
    inside = await tab.node("Press inside")
    landing = await tab.do(ClickGesture, inside)
    assert (landing.landed, landing.guard) == (Landed.ON_TARGET, GuardState.GUARDED)
    assert (await tab.do(FillGesture, await tab.node("Inside text"), text="in")).value_equal
    assert (await tab.do(ClickGesture, await tab.node("Deepest"))).landed is Landed.ON_TARGET


async def test_hovering_scrolling_and_dragging(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    assert (await tab.do(HoverGesture, await tab.by_id("send"))).landed is Landed.ON_TARGET
    assert "mouseover:send" in await log_of(tab)
    landing = await tab.do(DragGesture, await tab.by_id("plain"), to=(await tab.by_id("send")).key)
    assert (landing.landed, landing.code) == (Landed.ON_TARGET, Code.OK)
    log = await log_of(tab)
    assert "mousedown:plain" in log
    assert "click:plain" not in log
    tab = await opened(site.url("scroll.html"))
    down = ScrollGesture(page="p1", direction=Direction.DOWN, amount=250)
    assert (await tab.session.dispatch(down, expect=None, deadline=20)).scrolled == 250
    up = ScrollGesture(page="p1", direction=Direction.UP)
    assert (await tab.session.dispatch(up, expect=None, deadline=20)).scrolled == -250
    pane = await tab.by_id("pane")
    inner = ScrollGesture(page="p1", key=pane.key, direction=Direction.DOWN, amount=100)
    assert (await tab.session.dispatch(inner, expect=None, deadline=20)).scrolled == 100
    assert (await tab.look()).scroll_y == 0


async def test_files_are_given_to_a_file_input(opened: Opener, site: Site, tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_text("content")
    tab = await opened(site.url("form.html"))
    landing = await tab.do(UploadGesture, await tab.by_id("file"), files=(str(file),))
    assert (landing.code, landing.landed) == (Code.OK, Landed.ON_TARGET)
    assert "change:file" in await log_of(tab)
    landing = await tab.do(UploadGesture, await tab.by_id("file"), files=(str(file), str(file)))
    assert not landing.dispatched


async def test_a_click_that_navigates_is_known_to_have_landed(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    landing = await tab.do(ClickGesture, await tab.by_id("away"))
    assert landing.landed is Landed.ON_TARGET
    for _ in range(200):
        if await tab.title() == "Second page":
            break
        await asyncio.sleep(0.05)
    assert await tab.title() == "Second page"


async def test_the_digest_of_a_form_follows_its_values_but_not_its_secrets(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("form.html"))
    send = (await tab.by_id("send")).key

    async def digest() -> str:
        return (await tab.session.inspect(send, deadline=20)).form_digest

    first = await digest()
    assert len(first) == 32
    await tab.do(FillGesture, await tab.by_id("password"), text="another")
    assert await digest() == first
    await tab.do(FillGesture, await tab.by_id("name"), text="Ada")
    second = await digest()
    assert second != first
    await tab.do(ClickGesture, await tab.by_id("gift"))
    assert await digest() not in (first, second)
