"""The suite's hands: open a scene, look, find a part, touch it."""

from __future__ import annotations

import asyncio
import re
import time
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Final

import pytest

from ues_core.contract import (
    ClickGesture,
    Collected,
    CollectRequest,
    Driver,
    DriverCapabilities,
    DriverEvent,
    DriverSession,
    EventKind,
    Identity,
    Landed,
    Landing,
    Navigation,
    NodeFacts,
    OpenSpec,
    OriginGate,
    ScrollGesture,
    Surface,
    WaitUntil,
)
from ues_core.testing.conformance.stage import Launcher, SceneName, Site
from ues_core.testing.sharing import Sharing

LIMIT: Final = 20.0
"""Seconds that an ordinary call may take: generous, since machines that run suites are busy."""
SETTLE: Final = 10.0
"""Seconds within which a surface shows what an input did."""


def need(condition: object, reason: str) -> None:
    """Skip the test unless the plugin declares, or the surface has, what it is about."""
    if not condition:
        pytest.skip(reason)


@dataclass
class Stand:
    """One open session and its first page."""

    session: DriverSession
    page: str
    site: Site

    async def look(self, page: str | None = None, **request: Any) -> Collected:
        """Collect; ``request`` are fields of ``CollectRequest``."""
        return await self.session.collect(
            page or self.page, CollectRequest.model_validate({"max_nodes": 500, **request}), deadline=LIMIT
        )

    async def surface(self, page: str | None = None) -> Surface:
        """The page's identity."""
        return await self.session.surface(page or self.page, deadline=LIMIT)

    async def node(self, name: str, page: str | None = None) -> NodeFacts:
        """The node with that name; fails when there is none."""
        collected = await self.look(page)
        found = [node for node in collected.nodes if node.name == name]
        assert found, f"no node is named {name!r}; there are {[node.name for node in collected.nodes]}"
        return found[0]

    async def has(self, name: str) -> bool:
        """Whether a node of that name is listed."""
        return any(node.name == name for node in (await self.look()).nodes)

    async def number(self, pattern: str) -> int:
        """The number that a counter shows."""
        names = [node.name for node in (await self.look()).nodes]
        found = [match for name in names if (match := re.search(pattern, name))]
        assert found, f"no node's name matches {pattern!r}; there are {names}"
        return int(found[0][1])

    async def clicks(self) -> int:
        """How many clicks reached the surface."""
        return await self.number(self.site.parts.clicks)

    async def click(self, name: str, page: str | None = None) -> Landing:
        """Click a node with its identity expected; the landing is checked."""
        target = await self.node(name, page)
        landing = await self.session.dispatch(
            ClickGesture(page=page or self.page, key=target.key), expect=target.identity(), deadline=LIMIT
        )
        assert landing.landed is Landed.ON_TARGET, landing
        return landing

    async def try_click(self, node: NodeFacts, expect: Identity | None) -> Landing:
        """Click a node, whatever comes of it."""
        return await self.session.dispatch(ClickGesture(page=self.page, key=node.key), expect=expect, deadline=LIMIT)

    async def reveal(self, node: NodeFacts) -> Landing:
        """Scroll a node into view."""
        return await self.session.dispatch(ScrollGesture(page=self.page, key=node.key), expect=None, deadline=LIMIT)

    async def go(self, url: str) -> Navigation:
        """Navigate the first page."""
        return await self.session.navigate(self.page, url, wait_until=WaitUntil.LOAD, deadline=LIMIT)

    async def settled(self, holds: Callable[[], Any], what: str) -> None:
        """Wait until something holds; fails when it does not in ``SETTLE`` seconds."""
        end = time.monotonic() + SETTLE
        while not await holds():
            assert time.monotonic() < end, f"it never came true that {what}"
            await asyncio.sleep(0.05)

    async def events(self, *kinds: EventKind) -> list[DriverEvent]:
        """Events of some kinds since the last drain."""
        return [event for event in (await self.session.drain()).events if event.kind in kinds]

    async def event(self, kind: EventKind) -> DriverEvent:
        """The next event of a kind; earlier ones of other kinds are dropped."""
        end = time.monotonic() + SETTLE
        while True:
            found = await self.events(kind)
            if found:
                return found[0]
            assert time.monotonic() < end, f"no event {kind} came"
            await asyncio.sleep(0.05)


@dataclass(frozen=True)
class Bench:
    """A driver, a site to show it, what it is told to start, and sessions of earlier tests that may be used once more."""

    driver: Driver
    site: Site
    launch: Launcher
    sharing: Sharing | None = None

    @property
    def name(self) -> str:
        """The driver's name, for reasons of skips."""
        return self.driver.info.name

    @property
    def can(self) -> DriverCapabilities:
        """What the driver declares."""
        return self.driver.info.capabilities

    def need(self, *declared: str) -> None:
        """Skip unless the driver declares these capabilities."""
        for word in declared:
            need(getattr(self.can, word), f"{self.name} does not declare {word}")

    def need_gesture(self, kind: str) -> None:
        """Skip unless the driver declares the gesture."""
        need(kind in self.can.gestures, f"{self.name} does not declare the gesture {kind}")

    def need_part(self, part: object, what: str) -> None:
        """Skip unless the surface has the part."""
        need(part is not None, f"the surface has no {what}")

    def url(self, name: SceneName, to: str = "") -> str:
        """The address of a scene; skips when there is none."""
        scene = self.site.scene(name, to)
        need(scene is not None and scene.url is not None, f"the surface has no address for the scene {name}")
        assert scene is not None
        assert scene.url is not None
        return scene.url

    def canary(self) -> str:
        """The forbidden address; skips when there is none."""
        self.need("network_gate")
        url = self.site.canary()
        need(url, "the site has no canary")
        assert url is not None
        return url

    def spec(self, url: str | None, **fields: Any) -> OpenSpec:
        """What to open."""
        return OpenSpec.model_validate({"target": self.launch(), "gate": self.site.gate, "url": url, **fields})

    @asynccontextmanager
    async def opened(
        self, name: SceneName = SceneName.FORM, *, to: str = "", gate: OriginGate | None = None, **fields: Any
    ) -> AsyncIterator[Stand]:
        """A session at a scene, closed on the way out; skips when the surface has no such scene."""
        scene = self.site.scene(name, to)
        need(scene is not None, f"the surface has no scene {name}")
        assert scene is not None
        spec = self.spec(scene.url, **fields)
        if gate is not None:
            spec = spec.model_copy(update={"gate": gate})
        own = self.sharing is None or bool(fields) or gate is not None or scene.url is None
        held = self.session(spec) if own or self.sharing is None else self.sharing.session(self.driver, spec)
        async with held as session:
            yield Stand(session, (await session.pages())[0].page, self.site)

    @asynccontextmanager
    async def session(self, spec: OpenSpec) -> AsyncIterator[DriverSession]:
        """A session, opened and closed within bounds."""
        session = await asyncio.wait_for(self.driver.open(spec), spec.timeouts.navigation + LIMIT)
        try:
            yield session
        finally:
            await asyncio.wait_for(session.close(), spec.timeouts.close + LIMIT)


def names(nodes: Iterable[NodeFacts]) -> list[str]:
    """The names of nodes, in order."""
    return [node.name for node in nodes]
