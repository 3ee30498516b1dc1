"""The driver: our own browser over a pipe, or an operator's over a websocket; everything above is the web room's."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Awaitable, Callable

from ues_core.contract import Attach, Launch, OpenSpec
from ues_core.web import WebDriver, WebTransport
from ues_core.web.cdp import CdpConnection, CdpTransport
from ues_core.web.deadline import Clock


class CdpRawDriver(WebDriver):
    """Drives Chromium through its own protocol, with no library in between."""

    def __init__(self) -> None:
        super().__init__("cdp-raw", "Chromium over its own protocol, through a pipe")

    async def connect(self, spec: OpenSpec, *, deadline: float) -> WebTransport:
        """Start a browser of its own in the profile folder, or reach the one that the operator runs."""
        clock = Clock(deadline)
        target = spec.target
        if isinstance(target, Attach):
            return await self._attach(target, spec, clock)
        return await self._launch(target, spec, clock)

    async def _attach(self, target: Attach, spec: OpenSpec, clock: Clock) -> WebTransport:
        from ues_driver_cdp_raw.websocket import attach_browser

        connection = await attach_browser(target.endpoint, deadline=clock.left())
        return await _take_over(connection, spec, connection.close, clock)

    async def _launch(self, target: Launch, spec: OpenSpec, clock: Clock) -> WebTransport:
        from ues_driver_cdp_raw.launch import launch_browser

        own = None if target.profile_dir is not None else await asyncio.to_thread(tempfile.mkdtemp, prefix="ues-profile-")
        given = target if own is None else target.model_copy(update={"profile_dir": own})
        try:
            browser = await launch_browser(given, viewport=spec.viewport, deadline=clock.left())
        except BaseException:
            _remove(own)
            raise

        async def release() -> None:
            await browser.close(grace=spec.timeouts.close)
            await asyncio.to_thread(_remove, own)

        return await _take_over(browser.connection, spec, release, clock)


async def _take_over(
    connection: CdpConnection, spec: OpenSpec, release: Callable[[], Awaitable[None]], clock: Clock
) -> WebTransport:
    transport = CdpTransport(connection, spec, release)
    try:
        await transport.open(deadline=clock.left())
    except BaseException:
        await transport.close()
        raise
    return transport


def _remove(folder: str | None) -> None:
    if folder is not None:
        shutil.rmtree(folder, ignore_errors=True)
