"""The base of every web driver: its information, and opening a session whatever brings the transport."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Final

from ues_core.contract import (
    DriverCapabilities,
    DriverInfo,
    DriverSession,
    FrameReach,
    OpenSpec,
    ReadKind,
    Support,
    SurfaceKind,
    WaitUntil,
    WatchKind,
)
from ues_core.web.deadline import Clock
from ues_core.web.gestures import GESTURES
from ues_core.web.session import WebDriverSession
from ues_core.web.transport import WebTransport

WEB_CAPABILITIES: Final = DriverCapabilities(
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
    gestures=GESTURES,
)
"""What ``WebDriverSession`` does over any complete ``WebTransport``."""


class WebDriver(ABC):
    """A driver that has everything but the way to a browser: subclasses bring ``connect``."""

    def __init__(self, name: str, description: str, capabilities: DriverCapabilities = WEB_CAPABILITIES) -> None:
        self._info = DriverInfo(name=name, surface=SurfaceKind.WEB, capabilities=capabilities, description=description)

    @property
    def info(self) -> DriverInfo:
        """Who the driver is and what it can do."""
        return self._info

    @abstractmethod
    async def connect(self, spec: OpenSpec, *, deadline: float) -> WebTransport:
        """Start or reach a browser and take over its pages. On failure, and when cancelled, nothing is left running."""

    async def open(self, spec: OpenSpec) -> DriverSession:
        """Open one isolated session; on failure nothing is left running.

        When ``spec.url`` is denied by the gate the session stays on its blank page, and the refusal is among its events.
        """
        clock = Clock(spec.timeouts.navigation)
        transport = await self.connect(spec, deadline=clock.left())
        try:
            if spec.url is not None:
                (page, *_) = transport.pages()
                await transport.navigate(page, spec.url, wait_until=WaitUntil.DOM_CONTENT_LOADED, deadline=clock.left())
        except BaseException:
            await transport.close()
            raise
        return WebDriverSession(transport, spec)
