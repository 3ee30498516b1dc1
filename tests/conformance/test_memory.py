"""The in-memory driver passes the suite of drivers, on scenes described as data."""

from __future__ import annotations

import pytest

from ues_core.testing import MEMORY_CAPABILITIES, MemoryDriver
from ues_core.testing.conformance import DriverConformance, MemoryScenes


class TestMemoryDriver(DriverConformance):
    """No scene: hostile, loop, storage, download."""

    expected = MEMORY_CAPABILITIES

    @pytest.fixture
    def site(self) -> MemoryScenes:
        return MemoryScenes()

    @pytest.fixture
    def driver(self, site: MemoryScenes) -> MemoryDriver:
        return MemoryDriver(site.world)
