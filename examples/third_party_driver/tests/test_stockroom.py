"""The standard tests of a driver, on the stockroom terminal."""

from __future__ import annotations

import pytest
from ues_driver_stockroom import StockroomDriver
from ues_driver_stockroom.driver import CAPABILITIES

from ues_core.testing.conformance import DriverConformance, Parts, Site


class Stockroom(Site):
    """What the suite's own words are called here. The terminal is what a fresh session shows: it has no address."""

    parts = Parts(
        add="Book in",
        clicks=r"Entries: (\d+)",
        field="Article",
        hover=None,
        press="Article",
        presses=r"Lookups: (\d+)",
        secret="PIN",
        secret_values=("4321-9876",),
        select="Shelf",
        option=(1, "B"),
        disabled="Close the month",
        remove="Strike out the oldest",
        victim="1: screws, shelf A",
        grow="Book in",
        fresh="2: nothing, shelf A",
        link=None,
    )


class TestStockroom(DriverConformance):
    """All that the terminal declares; the rest is skipped with its reason."""

    expected = CAPABILITIES

    @pytest.fixture
    def driver(self) -> StockroomDriver:
        return StockroomDriver()

    @pytest.fixture
    def site(self) -> Stockroom:
        return Stockroom()
