"""Holding new pages at their start until the gate stands in them.

The browser holds a new page for whoever asked to be attached to it automatically, and lets it go when that one says so on the
page's flat session. Playwright keeps those to itself; the only other way is to end the session that holds. So holders take
turns: the next one holds before the last one ends, and the last one ends only when every page it holds is prepared. A page is
thus never without a holder before its gate stands.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from playwright.async_api import Browser, CDPSession

_PREPARE_SECONDS: Final = 5.0
"""A page that is not prepared within this time is closed rather than let go."""


class _Holder:
    """One session of the browser that holds new pages, and which ones it holds."""

    def __init__(self, session: CDPSession) -> None:
        self.session = session
        self.held: set[str] = set()


class Gatehouse:
    """Holders that take turns. ``appeared(target info, held)`` is told of every page; ``close`` closes one."""

    def __init__(
        self,
        browser: Browser,
        params: dict[str, Any],
        appeared: Callable[[dict[str, Any], bool], None],
        close: Callable[[str], Awaitable[None]],
    ) -> None:
        self._browser = browser
        self._params = params
        self._appeared = appeared
        self._close = close
        self._holder: _Holder | None = None
        self._unprepared: set[str] = set()
        self._seen: set[str] = set()
        self._changed = asyncio.Event()
        self._turn = asyncio.Lock()

    async def open(self) -> None:
        """Begin to hold."""
        self._holder = await self._new_holder()

    async def let_go(self, target: str) -> None:
        """The page is prepared: let it run."""
        self._unprepared.discard(target)
        self._changed.set()
        async with self._turn:
            while self._holder is not None and target in self._holder.held:
                await self._next()

    def forget(self, target: str) -> None:
        """The page is gone."""
        self._unprepared.discard(target)
        self._seen.discard(target)
        self._changed.set()
        if self._holder is not None:
            self._holder.held.discard(target)

    async def _next(self) -> None:
        from playwright.async_api import Error

        last = self._holder
        holder = await self._new_holder()
        await self._all_prepared()
        self._holder = holder
        if last is not None:
            with contextlib.suppress(Error):
                await last.session.detach()

    async def _all_prepared(self) -> None:
        try:
            async with asyncio.timeout(_PREPARE_SECONDS):
                while self._unprepared:
                    self._changed.clear()
                    await self._changed.wait()
        except TimeoutError:
            for target in list(self._unprepared):
                await self._close(target)
                self._unprepared.discard(target)

    async def _new_holder(self) -> _Holder:
        holder = _Holder(await self._browser.new_browser_cdp_session())

        def attached(params: dict[str, Any]) -> None:
            info, waiting = params["targetInfo"], bool(params.get("waitingForDebugger"))
            if waiting:
                if info["targetId"] not in self._seen:
                    self._seen.add(info["targetId"])
                    self._unprepared.add(info["targetId"])
                holder.held.add(info["targetId"])
            self._appeared(info, waiting)

        holder.session.on("Target.attachedToTarget", attached)
        await holder.session.send("Target.setAutoAttach", self._params)
        return holder
