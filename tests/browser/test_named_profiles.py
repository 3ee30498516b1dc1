"""A named profile outlives its session, and serves one browser at a time."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from ues_core.contract import Code, UsageError
from ues_core.host import open_host

if TYPE_CHECKING:
    from tests.browser.conftest import Site

pytestmark = pytest.mark.browser


@pytest.mark.parametrize("driver_name", ["playwright", "cdp-raw"])
async def test_a_profile_is_refused_while_another_browser_uses_it(driver_name: str, site: Site, tmp_path: Path) -> None:
    state = tmp_path / "s"
    async with open_host(state_dir=str(state)) as one, open_host(state_dir=str(state)) as two:
        session = await one.session("a", driver=driver_name, url=site.url("second.html"), profile="work")
        for host in (one, two):
            with pytest.raises(UsageError) as refused:
                await host.session("b", driver=driver_name, profile="work")
            assert refused.value.code is Code.PROFILE_LOCKED
        assert (await session.observe()).surface.title
        await session.close()
        again = await two.session("b", driver=driver_name, profile="work")
        assert (await again.observe()).surface.location == "about:blank"
    assert (state / "profiles" / "named" / "work").is_dir()
