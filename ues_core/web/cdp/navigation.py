"""Going somewhere, and knowing when one has arrived."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from typing import TYPE_CHECKING, Final

from ues_core.contract import Code, DeadlineExceeded, DriverError, Fault, NavigationKind, RequestKind, WaitUntil
from ues_core.web.cdp.pages import Page
from ues_core.web.deadline import Clock
from ues_core.web.transport import Went

if TYPE_CHECKING:
    from ues_core.web.cdp.transport import CdpTransport

_STATES: Final = {
    WaitUntil.COMMIT: "commit",
    WaitUntil.DOM_CONTENT_LOADED: "DOMContentLoaded",
    WaitUntil.LOAD: "load",
}
_STOP_SECONDS: Final = 1.0
_HELD_SECONDS: Final = 1.0
"""After this time without an answer, a script of the document that is left is taken to hold it up."""


class Navigator:
    """Navigations that a host asked for."""

    def __init__(self, transport: CdpTransport) -> None:
        self._transport = transport

    async def navigate(self, page: Page, url: str, wait_until: WaitUntil, clock: Clock) -> Went:
        """Go to a URL. A denied navigation leaves the old document; an unreachable one raises ``navigation-failed``."""
        self._require(page)
        reason = self._transport.may_go(page, url, RequestKind.NAVIGATE)
        if reason:
            return Went(NavigationKind.NONE, denied=reason)
        page.navigating += 1
        try:
            await self._free(page, clock)
            return await self._navigate(page, url, wait_until, clock)
        except DeadlineExceeded:
            # Before anything else is asked for: what is stopped later would be the next navigation.
            with contextlib.suppress(DriverError):
                await self._transport.send(page, "Page.stopLoading", {}, deadline=_STOP_SECONDS)
            raise
        finally:
            page.navigating -= 1

    async def _free(self, page: Page, clock: Clock) -> None:
        """End a script that loops in the document that is left: it could not go away, and meanwhile nothing could end it.

        One that begins anew each time is ended with its process, and with what else lives in that and hangs as well.
        """
        if page.crashed:
            return
        send, held = self._transport.send, min(_HELD_SECONDS, clock.left() / 6)
        with contextlib.suppress(DriverError):
            try:
                await send(page, "Runtime.evaluate", {"expression": "0"}, deadline=held)
                return
            except DeadlineExceeded:
                await send(page, "Runtime.terminateExecution", {}, deadline=held)
            try:
                await send(page, "Runtime.evaluate", {"expression": "0"}, deadline=held)
                return
            except DeadlineExceeded:
                with contextlib.suppress(DeadlineExceeded):
                    await send(page, "Page.crash", {}, deadline=held)
                await self._transport.until(page, lambda: page.crashed or page.closed, Clock(held))

    async def _navigate(self, page: Page, url: str, wait_until: WaitUntil, clock: Clock) -> Went:
        before, page.crashed = page.document, False
        answer = await self._transport.send(page, "Page.navigate", {"url": url}, deadline=clock.left())
        loader = str(answer.get("loaderId", ""))
        if not loader:
            return Went(NavigationKind.SAME_DOCUMENT)
        load = page.load(loader)
        if load.denied:
            return Went(NavigationKind.NONE, redirects=load.redirects, denied=load.denied)
        if answer.get("isDownload"):
            return Went(NavigationKind.NONE, status=load.status)
        if answer.get("errorText"):
            raise DriverError(
                f"The page could not be loaded: {answer['errorText']}",
                code=Code.NAVIGATION_FAILED,
                fault=Fault.PAGE,
                next_step="Check the address and that the site answers.",
                details={"error": str(answer["errorText"])[:200]},
            )
        await self._arrive(page, lambda: page.document != before, wait_until, clock)
        return self._went(page, loader)

    async def reload(self, page: Page, clock: Clock) -> Went:
        """Load the document again; a denied redirect leaves it as it was."""
        self._require(page)
        return await self._after(page, "Page.reload", {}, clock)

    async def history(self, page: Page, delta: int, clock: Clock) -> Went:
        """One entry back or forward; nothing happens where there is none."""
        self._require(page)
        known = await self._transport.send(page, "Page.getNavigationHistory", {}, deadline=clock.left())
        index = int(known["currentIndex"]) + delta
        if not 0 <= index < len(known["entries"]):
            return Went(NavigationKind.NONE)
        entry = known["entries"][index]
        reason = self._transport.may_go(page, str(entry["url"]), RequestKind.HISTORY)
        if reason:
            return Went(NavigationKind.NONE, denied=reason)
        return await self._after(page, "Page.navigateToHistoryEntry", {"entryId": entry["id"]}, clock)

    async def _after(self, page: Page, method: str, params: dict[str, object], clock: Clock) -> Went:
        document, moved, denials = page.document, page.same_document, page.denials
        page.crashed = False
        page.navigating += 1
        try:
            await self._transport.send(page, method, params, deadline=clock.left())
            await self._transport.until(
                page,
                lambda: page.document != document or page.same_document != moved or page.denials != denials or page.closed,
                clock,
            )
        finally:
            page.navigating -= 1
        if page.denials != denials:
            return Went(NavigationKind.NONE, denied=page.last_denial)
        if page.document == document:
            return Went(NavigationKind.SAME_DOCUMENT)
        await self._arrive(page, lambda: page.document != document, WaitUntil.DOM_CONTENT_LOADED, clock)
        return self._went(page, page.document)

    async def _arrive(self, page: Page, committed: Callable[[], bool], wait_until: WaitUntil, clock: Clock) -> None:
        wanted = _STATES[wait_until]

        def there() -> bool:
            if page.closed or page.crashed or page.dialog is not None:
                return True
            return committed() and (wait_until is WaitUntil.COMMIT or wanted in page.load(page.document).states)

        await self._transport.until(page, there, clock)
        page.require_usable()

    def _went(self, page: Page, loader: str) -> Went:
        load = page.load(loader)
        kind = NavigationKind.REDIRECT if load.redirects else NavigationKind.DOCUMENT
        return Went(kind, load.status, load.redirects)

    def _require(self, page: Page) -> None:
        # A crashed page may be navigated: that is how it comes back.
        if not page.crashed:
            page.require_usable()
