"""Pages and frames as the protocol's events tell of them."""

from __future__ import annotations

from typing import Any

import pytest

from ues_core.contract import Code, DocumentGone, DriverError
from ues_core.web.cdp.pages import Dialog, Page
from ues_core.web.collector import WORLD


def navigated(frame: str, loader: str, url: str = "http://a/", parent: str = "") -> dict[str, Any]:
    return {"frame": {"id": frame, "loaderId": loader, "url": url, "parentId": parent}}


def context(frame: str, unique: str, number: int = 1, name: str = WORLD) -> dict[str, Any]:
    return {"context": {"id": number, "uniqueId": unique, "name": name, "auxData": {"frameId": frame}}}


@pytest.fixture
async def page() -> Page:
    return Page("p1", "T", "S", opened=False)


async def test_a_document_replaced_is_another_document_and_its_keys_are_gone(page: Page) -> None:
    page.frame_event("Page.frameNavigated", navigated("T", "L1"))
    page.frame_event("Runtime.executionContextCreated", context("T", "c1"))
    assert page.frame("", "L1").context == "c1"
    page.frame_event("Runtime.executionContextsCleared", {})
    page.frame_event("Page.frameNavigated", navigated("T", "L2"))
    assert page.document == "L2"
    with pytest.raises(DocumentGone):
        page.frame("", "L1")
    assert page.frame("").context == ""


async def test_the_first_document_after_a_blank_one_may_keep_its_world(page: Page) -> None:
    page.frame_event("Page.frameNavigated", navigated("T", "L1", "about:blank"))
    page.frame_event("Runtime.executionContextCreated", context("T", "c1"))
    page.frame_event("Page.frameNavigated", navigated("T", "L2"))
    assert page.frame("", "L2").context == "c1"


async def test_a_world_told_of_before_its_frame_is_kept(page: Page) -> None:
    page.frame_event("Runtime.executionContextCreated", context("T", "c1", name="other"))
    page.frame_event("Runtime.executionContextCreated", context("T", "c1"))
    page.tree({"frame": {"id": "T", "loaderId": "L1", "url": "http://a/"}})
    assert page.frame("", "L1").context == "c1"


async def test_frames_go_with_their_parents(page: Page) -> None:
    page.frame_event("Page.frameNavigated", navigated("T", "L1"))
    page.frame_event("Page.frameAttached", {"frameId": "F", "parentFrameId": "T"})
    page.frame_event("Page.frameAttached", {"frameId": "G", "parentFrameId": "F"})
    page.frame_event("Page.frameNavigated", navigated("F", "L2", parent="T"))
    assert set(page.frames) == {"T", "F"}, "a new document has no frames yet"
    page.frame_event("Page.frameDetached", {"frameId": "F"})
    assert set(page.frames) == {"T"}
    page.frame_event("Page.frameAttached", {"frameId": "F", "parentFrameId": "T"})
    page.frame_event("Page.frameNavigated", navigated("T", "L3"))
    assert set(page.frames) == {"T"}


async def test_a_reopened_document_is_remembered_until_the_next(page: Page) -> None:
    page.frame_event("Page.frameNavigated", navigated("T", "L1"))
    page.frame_event("Page.documentOpened", {"frame": {"id": "T", "url": "http://a/"}})
    assert page.frame("").reopened
    page.frame_event("Page.frameNavigated", navigated("T", "L2"))
    assert not page.frame("").reopened


async def test_a_held_dialog_and_a_crash_and_the_end_each_have_their_code(page: Page) -> None:
    page.require_usable()
    page.hold(Dialog("d1", "alert"))
    assert page.interrupt.done()
    with pytest.raises(DriverError) as raised:
        page.require_usable()
    assert (raised.value.code, raised.value.details) == (Code.DIALOG_OPEN, {"dialog": "d1"})
    page.unhold()
    assert not page.interrupt.done()
    page.crashed = True
    with pytest.raises(DriverError) as raised:
        page.require_usable()
    assert raised.value.code is Code.PAGE_CRASHED
    page.frame_event("Page.frameNavigated", navigated("T", "L1"))
    page.require_usable()
    page.closed = True
    with pytest.raises(DriverError) as raised:
        page.require_usable()
    assert raised.value.code is Code.PAGE_UNKNOWN


async def test_what_is_known_of_loads_is_bounded(page: Page) -> None:
    for number in range(1000):
        page.load(str(number)).redirects = number
    assert page.load("999").redirects == 999
    assert page.load("0").redirects == 0, "forgotten, not kept for ever"
