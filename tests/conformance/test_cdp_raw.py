"""The driver ``cdp-raw`` passes the suite of web drivers on a real browser."""

from __future__ import annotations

import pytest

from ues_core.contract import Driver, DriverCapabilities, FrameReach, ReadKind, Support, WatchKind
from ues_core.testing.conformance import WebDriverConformance
from ues_core.testing.conformance.stage import Launcher
from ues_core.testing.sharing import Sharing
from ues_driver_cdp_raw.driver import CdpRawDriver

pytestmark = pytest.mark.browser


class TestCdpRawDriver(WebDriverConformance):
    expected = DriverCapabilities(
        navigation=True,
        pages=True,
        closed_roots=Support.ACT,
        frames=FrameReach.ALL,
        isolated_world=True,
        landing_guard=True,
        network_gate=True,
        attach=True,
        profiles=True,
        downloads=True,
        uploads=True,
        dialogs=True,
        capture=True,
        content=True,
        find=True,
        reads=(ReadKind.TEXT, ReadKind.MARKDOWN, ReadKind.LINKS, ReadKind.TABLES, ReadKind.FORMS),
        watch=tuple(WatchKind),
        gestures=("click", "hover", "fill", "type", "press", "select", "scroll", "drag", "upload"),
    )

    @pytest.fixture
    def driver(self) -> Driver:
        return CdpRawDriver()

    @pytest.fixture
    def launch(self, browser_launch: Launcher) -> Launcher:
        return browser_launch

    @pytest.fixture
    def sharing(self, shared_sessions: Sharing) -> Sharing:
        return shared_sessions
