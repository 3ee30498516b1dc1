"""The suite that every driver passes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

import pytest

from ues_core.contract import Driver, DriverCapabilities, Launch
from ues_core.testing.conformance._bench import Bench
from ues_core.testing.conformance._gates import Gates
from ues_core.testing.conformance._lifetime import Lifetime
from ues_core.testing.conformance._seeing import Seeing
from ues_core.testing.conformance._touching import Touching
from ues_core.testing.conformance.stage import Launcher, Site, WebSite
from ues_core.testing.server import serve
from ues_core.testing.sharing import Sharing


class DriverConformance(Seeing, Touching, Gates, Lifetime):
    """Subclass it, give ``expected`` and two fixtures: ``driver`` (a ``Driver``) and ``site`` (a ``Site``).

    ``expected`` is what the driver is meant to declare. What it does not declare is skipped, so a capability that got lost
    would go unnoticed without it.
    """

    pytestmark: ClassVar[object] = [pytest.mark.asyncio]
    expected: ClassVar[DriverCapabilities]

    @pytest.fixture
    def launch(self) -> Launcher:
        """What the driver is told to start; override it for a driver that needs an executable or a profile folder."""
        return Launch

    @pytest.fixture
    def sharing(self) -> Sharing | None:
        """Sessions that tests of seeing and touching hand on, so that not each starts a browser. Override it to have that.

        The one returned is made and closed by a fixture of your conftest, for the session, and all tests of the suite run on
        one event loop: mark them ``asyncio(loop_scope="session")``.
        """
        return None

    @pytest.fixture
    def lent(self, request: pytest.FixtureRequest, sharing: Sharing | None) -> Sharing | None:
        """``sharing``, for a test that does not care what its session went through before."""
        name = request.function.__name__
        return sharing if hasattr(Seeing, name) or hasattr(Touching, name) else None

    @pytest.fixture
    def bench(self, driver: Driver, site: Site, launch: Launcher, lent: Sharing | None) -> Bench:
        """The suite's hands."""
        return Bench(driver, site, launch, lent)

    async def test_the_driver_declares_what_it_is_meant_to(self, bench: Bench) -> None:
        """No more, no less."""
        assert bench.can == self.expected


class WebDriverConformance(DriverConformance):
    """The suite with the pages that ship with it. It needs ``expected``, the fixture ``driver``, and mostly ``launch``."""

    @pytest.fixture
    def site(self, lent: Sharing | None) -> Iterator[Site]:
        """The bundled pages and the canary, over loopback: anew for each test that shares no session."""
        if lent is not None:
            yield WebSite(lent.grounds)
            return
        with serve() as grounds:
            yield WebSite(grounds)
