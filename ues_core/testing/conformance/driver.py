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
    def bench(self, driver: Driver, site: Site, launch: Launcher) -> Bench:
        """The suite's hands."""
        return Bench(driver, site, launch)

    async def test_the_driver_declares_what_it_is_meant_to(self, bench: Bench) -> None:
        """No more, no less."""
        assert bench.can == self.expected


class WebDriverConformance(DriverConformance):
    """The suite with the pages that ship with it. It needs ``expected``, the fixture ``driver``, and mostly ``launch``."""

    @pytest.fixture
    def site(self) -> Iterator[Site]:
        """The bundled pages and the canary, over loopback, anew for each test."""
        with serve() as grounds:
            yield WebSite(grounds)
