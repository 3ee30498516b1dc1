"""A press that met its target is not yet a click: where the page takes the node away in between, no click is claimed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ues_core.contract import ClickGesture, Code, Landed

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("node", ["go", "gone"])
async def test_a_node_that_leaves_at_the_press_was_not_surely_clicked(opened: Opener, site: Site, node: str) -> None:
    tab = await opened(site.url("moving.html"))
    landing = await tab.do(ClickGesture, await tab.by_id(node))
    assert landing.dispatched
    assert (landing.landed, landing.code) == (Landed.UNKNOWN, Code.DISPATCH_OUTCOME_UNKNOWN)
    assert landing.detail


async def test_a_node_that_stays_was_clicked(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("moving.html"))
    landing = await tab.do(ClickGesture, await tab.by_id("still"))
    assert (landing.landed, landing.code) == (Landed.ON_TARGET, Code.OK)
