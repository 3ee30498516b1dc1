"""What is kept about pages from protocol events alone."""

from __future__ import annotations

from ues_core.web.cdp.pages import Page


async def arrived() -> Page:
    """A page whose main document is loaded."""
    page = Page("p1", "main", "session", opened=False)
    page.frame_event("Page.frameNavigated", {"frame": {"id": "main", "loaderId": "document", "url": "http://127.0.0.1/"}})
    for name in ("DOMContentLoaded", "load"):
        page.frame_event("Page.lifecycleEvent", {"frameId": "main", "loaderId": "document", "name": name})
    return page


async def test_what_hundreds_of_frames_tell_does_not_push_out_that_the_page_is_loaded() -> None:
    """Whoever waits for it looks only when all that came at once is taken in."""
    page = await arrived()
    for n in range(300):
        page.frame_event("Page.frameAttached", {"frameId": f"f{n}", "parentFrameId": "main"})
        for name in ("load", "networkIdle"):
            page.frame_event("Page.lifecycleEvent", {"frameId": f"f{n}", "loaderId": f"l{n}", "name": name})
        page.load(f"l{n}").status = 200
    assert page.load("document").states == {"DOMContentLoaded", "load"}


async def test_requests_that_are_asked_for_stay_and_their_number_is_bounded() -> None:
    page = await arrived()
    page.load("asked for").denied = "origin-not-allowed"
    for n in range(300):
        page.load(f"l{n}")
        assert page.load("asked for").denied
    assert page.load("l0").status is None
    assert len(page._loads) <= 33
