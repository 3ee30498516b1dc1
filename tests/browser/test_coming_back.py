"""A page that crashed, through the public session: it is told, and the next step that is named brings it back."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Any

import psutil
import pytest

from ues_core.contract import Code, DriverError
from ues_core.host import open_host

if TYPE_CHECKING:
    from tests.browser.conftest import Site
    from ues_core.session import Session

pytestmark = pytest.mark.browser


def started_since(before: set[psutil.Process]) -> set[psutil.Process]:
    return set(psutil.Process().children(recursive=True)) - before


async def crash(session: Session, before: set[psutil.Process]) -> None:
    """End the renderers and wait until the session knows."""
    for process in started_since(before):
        if "--type=renderer" in process.cmdline():
            process.kill()
    with pytest.raises(DriverError) as crashed:
        async with asyncio.timeout(20):
            await observe_for_ever(session)
    assert crashed.value.code is Code.PAGE_CRASHED
    assert "Reload" in crashed.value.next_step


async def observe_for_ever(session: Session) -> None:
    while True:
        await session.observe()
        await asyncio.sleep(0.05)


@pytest.mark.parametrize("driver_name", ["playwright", "cdp-raw"])
async def test_a_crashed_page_comes_back_by_reloading_or_navigating(driver_name: str, site: Site, tmp_path: Path) -> None:
    before = set(psutil.Process().children(recursive=True))
    settings: dict[str, Any] = {"state_dir": str(tmp_path)}
    async with open_host(**settings) as host:
        session = await host.session("tester", driver=driver_name, url=site.url("second.html"), allowed_origins=[site.origin])
        nodes = len((await session.observe(detail="content")).nodes)
        for action in ({"verb": "reload"}, {"verb": "navigate", "url": site.url("second.html")}):
            await crash(session, before)
            receipt = await session.act(action)
            assert receipt.ok, receipt.reason
            assert receipt.page_before is not None
            assert receipt.page_before.location == site.url("second.html")
            assert len((await session.observe(detail="content")).nodes) == nodes
