"""The driver: Playwright starts, isolates and ends the browser; everything above is the web room's."""

from __future__ import annotations

import asyncio
import contextlib
import shutil
import tempfile
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ues_core.contract import Attach, Code, DeadlineExceeded, DriverError, Fault, Launch, OpenSpec
from ues_core.web import WebDriver, WebTransport
from ues_core.web.cdp import CdpTransport
from ues_core.web.deadline import Clock
from ues_core.web.launch import browser_env, chromium_args, prepare_profile
from ues_core.web.processes import kill_tree_async
from ues_driver_playwright.connection import PlaywrightConnection

if TYPE_CHECKING:
    from playwright.async_api import Browser, Playwright

_KILL_SECONDS: Final = 3.0
_STOP_SECONDS: Final = 3.0


class PlaywrightDriver(WebDriver):
    """Drives Chromium through Playwright's async API."""

    def __init__(self) -> None:
        super().__init__("playwright", "Chromium, started and isolated by Playwright")

    async def connect(self, spec: OpenSpec, *, deadline: float) -> WebTransport:
        """Start a browser of its own in the profile folder, or reach the one that the operator runs."""
        clock = Clock(deadline)
        run = _Run(spec)
        try:
            connection = await run.start(clock)
            transport = CdpTransport(connection, spec, run.close)
            await transport.open(deadline=clock.left())
        except BaseException:
            await asyncio.shield(asyncio.ensure_future(run.close()))
            raise
        return transport


class _Run:
    """One browser of ours, or one connection to another's, from start to end."""

    def __init__(self, spec: OpenSpec) -> None:
        self._spec = spec
        self._playwright: Playwright | None = None
        self._browser: Browser | None = None
        self._connection: PlaywrightConnection | None = None
        self._profile: str | None = None
        self._own_profile = False
        self._stop: list[Callable[[], Awaitable[object]]] = []
        self._closing: asyncio.Task[None] | None = None

    async def start(self, clock: Clock) -> PlaywrightConnection:
        from playwright.async_api import Error, async_playwright

        target = self._spec.target
        try:
            async with asyncio.timeout(clock.left()):
                starting = async_playwright()
                self._playwright = await starting.start()
                if isinstance(target, Attach):
                    self._browser = await self._playwright.chromium.connect_over_cdp(
                        target.endpoint, timeout=clock.left() * 1000
                    )
                    self._stop.append(self._browser.close)
                else:
                    self._browser = await self._launch(self._playwright, target, clock)
                root = await self._browser.new_browser_cdp_session()
        except TimeoutError:
            raise DeadlineExceeded("The browser did not start in time.", next_step="Try again with more time.") from None
        except Error as error:
            raise _start_failed(target, str(error)) from error
        self._connection = PlaywrightConnection(root)
        return self._connection

    async def _launch(self, playwright: Playwright, target: Launch, clock: Clock) -> Browser:
        _require_browser(target.executable)
        if target.profile_dir is None:
            self._profile, self._own_profile = tempfile.mkdtemp(prefix="ues-profile-"), True
        else:
            self._profile = target.profile_dir
        prepare_profile(self._profile)
        context = await playwright.chromium.launch_persistent_context(
            self._profile,
            executable_path=target.executable,
            headless=target.headless,
            chromium_sandbox=not target.no_sandbox,
            args=self._args(target),
            # A page may open one window for one gesture, as in any browser; Playwright lets it open them by the hundred.
            ignore_default_args=["--disable-popup-blocking"],
            env=dict(browser_env(self._profile, headless=target.headless)),
            timeout=clock.left() * 1000,
            no_viewport=True,
            accept_downloads=False,
            service_workers="block",
            handle_sigint=False,
            handle_sigterm=False,
            handle_sighup=False,
        )
        self._stop.append(context.close)
        # Without a listener Playwright would answer dialogs by itself.
        context.on("dialog", _leave_alone)
        if context.browser is None:
            raise DriverError("This release of Playwright does not give the browser of a persistent context.")
        return context.browser

    def _args(self, target: Launch) -> list[str]:
        ours = chromium_args(target, self._spec.viewport, pipe=False)
        return [arg for arg in ours if not arg.startswith(("--user-data-dir=", "--headless", "--no-sandbox"))]

    async def close(self) -> None:
        if self._closing is None:
            self._closing = asyncio.get_running_loop().create_task(self._close())
        await asyncio.shield(self._closing)

    async def _close(self) -> None:
        if self._connection is not None:
            await self._connection.close()
        for stop in self._stop:
            await _bounded(stop(), self._spec.timeouts.close)
        launched = self._profile
        if launched is not None:
            await kill_tree_async(None, launched, seconds=_KILL_SECONDS)
        if self._playwright is not None:
            await _bounded(self._playwright.stop(), _STOP_SECONDS)
        if launched is not None and self._own_profile:
            await asyncio.to_thread(shutil.rmtree, launched, True)


async def _bounded(work: Awaitable[object], seconds: float) -> None:
    from playwright.async_api import Error

    with contextlib.suppress(Error, TimeoutError):
        async with asyncio.timeout(seconds):
            await work


def _leave_alone(dialog: Any) -> None:
    """The web room answers dialogs, or holds them."""


def _require_browser(executable: str | None) -> None:
    if not executable or not Path(executable).is_file():
        raise DriverError(
            "There is no browser to start" + (f" at {executable}." if executable else "."),
            code=Code.BROWSER_NOT_FOUND,
            fault=Fault.OPERATOR,
            next_step="Run 'ues browser find', then 'ues browser install' if nothing is listed.",
        )


def _start_failed(target: Launch | Attach, message: str) -> DriverError:
    if isinstance(target, Attach):
        return DriverError(
            f"The browser at the configured endpoint could not be reached: {message[:300]}",
            code=Code.BROWSER_START_FAILED,
            fault=Fault.OPERATOR,
            next_step="Check that the browser runs with remote debugging at this endpoint.",
        )
    return DriverError(
        f"The browser at {target.executable} did not start: {message[:300]}",
        code=Code.BROWSER_START_FAILED,
        fault=Fault.OPERATOR,
        next_step="Start it by hand to see why, or choose another one with UES_BROWSER_EXECUTABLE.",
        details={"stderr": message[-2000:]},
    )
