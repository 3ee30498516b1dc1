"""Through the public session: frames of another origin, and closed shadow roots, observed and acted upon."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import pytest

from ues_core.contract import TruncationReason
from ues_core.host import open_host

if TYPE_CHECKING:
    from tests.browser.conftest import Site

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("driver_name", ["playwright", "cdp-raw"])
async def test_a_host_sees_and_uses_what_is_closed_and_what_is_foreign(
    driver_name: str, site: Site, canary: Site, tmp_path: Path
) -> None:
    url = f"{site.url('frames_outer.html')}?to={quote(canary.url('closed_deep.html'), safe='')}"
    origins = [site.origin, canary.origin]
    settings: dict[str, Any] = {"state_dir": str(tmp_path)}
    async with open_host(**settings) as host:
        session = await host.session("tester", driver=driver_name, url=url, allowed_origins=origins)
        plain = await session.observe()
        for _ in range(100):  # until it has gone to its own origin, the frame is the page's own blank one
            if TruncationReason.FRAME_NOT_TRAVERSED in plain.truncation_reasons:
                break
            await asyncio.sleep(0.05)
            plain = await session.observe()
        assert TruncationReason.FRAME_NOT_TRAVERSED in plain.truncation_reasons
        for _ in range(100):  # the session is there before the frame has loaded
            if (await session.observe(frames="all", closed_shadow="act")).coverage.pierced == 4:
                break
            await asyncio.sleep(0.05)
        detected = await session.observe(frames="all", verify_coverage=True)
        assert detected.find(name="Inner") is None
        told = {TruncationReason.CLOSED_SHADOW_ROOT, TruncationReason.SHADOW_COVERAGE_UNVERIFIED}
        assert told & set(detected.truncation_reasons), "the second, where this machine is too busy for the probe's budget"
        assert not detected.coverage.verified
        seen = await session.observe(frames="all", closed_shadow="act")
        assert (seen.coverage.verified, seen.coverage.pierced, seen.truncated) == (True, 4, False)
        inner = seen.find(name="Inner")
        assert inner is not None
        assert inner.frame_origin == canary.origin
        receipt = await session.act({"verb": "click", "ref": inner.ref})
        assert receipt.ok, receipt.reason
        after = await session.observe(frames="all", detail="content")
        assert after.find(name="inner pressed") is not None


@pytest.mark.parametrize("driver_name", ["playwright", "cdp-raw"])
async def test_frames_of_other_origins_are_entered_where_the_operator_lists_them(
    driver_name: str, site: Site, canary: Site, tmp_path: Path
) -> None:
    url = f"{site.url('frames_outer.html')}?to={quote(canary.url('second.html'), safe='')}"
    async with open_host(state_dir=str(tmp_path), frame_origins=[canary.origin]) as host:
        session = await host.session("tester", driver=driver_name, url=url)
        for _ in range(100):
            seen = await session.observe()
            if any(node.frame_origin == canary.origin for node in seen.nodes):
                break
            await asyncio.sleep(0.05)
        assert any(note.entered and note.origin == canary.origin for note in seen.frames)
        foreign = [node for node in seen.nodes if node.frame_origin == canary.origin]
        assert foreign
        assert [node for node in (await session.observe(frames="none")).nodes if node.frame_origin] == []
