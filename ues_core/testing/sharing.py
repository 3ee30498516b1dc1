"""Sessions that wait for the next test: to start a browser takes longer than most tests.

Only for tests that do not care what a session went through before: one that ends, breaks or configures its session opens its own.
All tests that share must run on one event loop, which the host of the fixture sees to.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from typing import Final

from ues_core.contract import Driver, DriverSession, OpenSpec, WaitUntil
from ues_core.testing.server import Grounds, serve

BLANK: Final = "about:blank"
LIMIT: Final = 20.0
"""Seconds that a call may take when a session is handed on."""
MOST_USES: Final = 40
"""Tests that one session serves: few enough that what pages leave behind in a browser stays small."""


class Sharing:
    """At most one waiting session for each driver and each thing that was asked of it. Close it at the end."""

    def __init__(self) -> None:
        self._waiting: dict[str, tuple[DriverSession, int]] = {}
        self._servers = ExitStack()
        self._grounds: Grounds | None = None

    @property
    def grounds(self) -> Grounds:
        """The servers that shared sessions look at: a session's gate names their origins."""
        if self._grounds is None:
            self._grounds = self._servers.enter_context(serve())
        return self._grounds

    @asynccontextmanager
    async def session(self, driver: Driver, spec: OpenSpec) -> AsyncIterator[DriverSession]:
        """A session on its first page ``p1`` at ``spec.url``, new or used; kept afterwards if it is still in order."""
        kind = f"{driver.info.name} {spec.model_dump_json(exclude={'url'})}"
        session, uses = self._waiting.pop(kind, (None, 0))
        if session is None:
            session = await driver.open(spec)
        elif spec.url is not None:
            await session.navigate("p1", spec.url, wait_until=WaitUntil.LOAD, deadline=LIMIT)
        try:
            yield session
        finally:
            await self._give_back(kind, session, uses + 1)

    async def close(self) -> None:
        """End all sessions and servers."""
        for session, _ in self._waiting.values():
            await session.close()
        self._waiting.clear()
        self._servers.close()

    async def _give_back(self, kind: str, session: DriverSession, uses: int) -> None:
        try:
            fit = uses < MOST_USES and kind not in self._waiting and await _swept(session)
        except Exception:  # noqa: BLE001  whatever a test did to it: it is not used again
            fit = False
        if fit:
            self._waiting[kind] = (session, uses)
        else:
            await session.close()


async def _swept(session: DriverSession) -> bool:
    """Whether the session is on one blank first page again, with nothing left to tell."""
    for page in await session.pages():
        if page.page != "p1":
            await session.close_page(page.page, deadline=LIMIT)
    await session.navigate("p1", BLANK, wait_until=WaitUntil.LOAD, deadline=LIMIT)
    await session.drain()
    return [page.page for page in await session.pages()] == ["p1"]
