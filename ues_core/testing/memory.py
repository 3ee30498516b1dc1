"""A driver over surfaces that live in memory: no browser, no clock of its own, every effect is data.

::

    page = MemoryPage(
        url="https://app.test/",
        title="Counter",
        nodes=(
            MemoryNode(role="heading", name="Clicks: 0"),
            MemoryNode(role="button", name="Add one", on_click=(Increment(node="Clicks: 0"),)),
        ),
    )
    driver = MemoryDriver([page])
    session = await driver.open(OpenSpec(url=page.url))

Effects name a node by its ``id``, or by the name that it started with when it has none.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager

from ues_core.contract import (
    Captured,
    CaptureRequest,
    Code,
    Collected,
    CollectRequest,
    Coverage,
    CoverageCaps,
    CoverageReason,
    DeadlineExceeded,
    DriverCapabilities,
    DriverError,
    DriverInfo,
    Events,
    Fault,
    Gesture,
    Identity,
    Inspection,
    Landing,
    Navigation,
    NodeKey,
    NodeText,
    NotSupported,
    OpenSpec,
    ReadRequest,
    Support,
    Surface,
    SurfaceKind,
    WaitUntil,
    WatchCondition,
    WatchKind,
    WatchOutcome,
)
from ues_core.testing._data import MemoryFaults, MemoryPage
from ues_core.testing._document import LiveDocument, LiveNode
from ues_core.testing._gestures import perform
from ues_core.testing._watching import wait_for
from ues_core.testing._world import World

MEMORY_CAPABILITIES = DriverCapabilities(
    navigation=True,
    pages=True,
    closed_roots=Support.DETECT,
    isolated_world=True,
    landing_guard=True,
    network_gate=True,
    dialogs=True,
    content=True,
    find=True,
    watch=tuple(WatchKind),
    gestures=("click", "hover", "fill", "type", "press", "select", "scroll", "drag"),
)
"""What the in-memory driver declares."""


class MemorySite:
    """The world outside the surface: documents by address, and a record of what was requested. Shared by all sessions."""

    def __init__(self, pages: Iterable[MemoryPage] = ()) -> None:
        self.pages: dict[str, MemoryPage] = {page.url: page for page in pages}
        self.requests: list[str] = []
        """Every address whose document was requested, in order; a denied one is never here."""

    def request(self, url: str) -> MemoryPage:
        """Request one document; an unknown address answers 404."""
        self.requests.append(url)
        bare = url.split("#")[0]
        return self.pages.get(bare) or MemoryPage(url=bare, title="Not found", status=404)

    def hangs(self, url: str) -> bool:
        """Whether an address never answers."""
        page = self.pages.get(url.split("#")[0])
        return page is not None and page.hangs


class MemoryDriver:
    """Opens sessions over the pages that it is given.

    ``site`` may be shared by several drivers. ``sessions`` lists what was opened, so that a test can look behind the back of
    the code that it tests and change ``sessions[-1].faults`` midway.
    """

    def __init__(
        self,
        pages: Iterable[MemoryPage] | MemorySite = (),
        *,
        faults: MemoryFaults | None = None,
        name: str = "memory",
        capabilities: DriverCapabilities = MEMORY_CAPABILITIES,
    ) -> None:
        self.site = pages if isinstance(pages, MemorySite) else MemorySite(pages)
        self.faults = faults or MemoryFaults()
        self.sessions: list[MemorySession] = []
        self._info = DriverInfo(
            name=name,
            surface=SurfaceKind.MEMORY,
            capabilities=capabilities,
            description="Surfaces described as data, without a browser; for tests.",
        )

    @property
    def info(self) -> DriverInfo:
        """Who it is and what it can do."""
        return self._info

    async def open(self, spec: OpenSpec) -> MemorySession:
        """Open one session, at ``spec.url`` when there is one."""
        session = MemorySession(self.site, spec, self.faults)
        try:
            await session.start()
        except BaseException:
            await session.close()
            raise
        self.sessions.append(session)
        return session


class MemorySession:
    """One isolated session: its documents are its own, only the site is shared."""

    def __init__(self, site: MemorySite, spec: OpenSpec, faults: MemoryFaults) -> None:
        self.faults = faults
        self._spec = spec
        self._world = World(site.request, site.hangs, spec)
        self._calls: dict[str, int] = {}
        self._crashed = False
        self._closed = False
        self._callers: list[asyncio.Task[object]] = []

    async def start(self) -> None:
        """Open the first page, within ``spec.timeouts.navigation``."""
        async with self._call("open", self._spec.timeouts.navigation):
            page = self._world.new_page()
            if self._spec.url is not None:
                if self._world.never_answers(self._spec.url):
                    await asyncio.Event().wait()
                done = self._world.go(page, self._spec.url)
                if done.denied:
                    raise DriverError(
                        f"The session could not be opened: {done.denied}.",
                        code=Code.ORIGIN_NOT_ALLOWED,
                        fault=Fault.POLICY,
                        next_step="Allow the origin or open another address.",
                    )

    # -- seeing ------------------------------------------------------------------------------------------------------

    async def surface(self, page: str, *, deadline: float) -> Surface:
        """The page's identity now."""
        async with self._call("surface", deadline):
            return self._world.document(page).surface()

    async def collect(self, page: str, request: CollectRequest, *, deadline: float) -> Collected:
        """Facts of the observable nodes of the page or one subtree."""
        async with self._call("collect", deadline):
            document = self._world.document(page)
            root = None
            if request.within is not None:
                root = self._world.find(request.within)
                if not root.connected:
                    raise DriverError(
                        "The node to look into is no longer in the document.",
                        code=Code.SCOPE_UNAVAILABLE,
                        fault=Fault.PAGE,
                        next_step="Observe the page again.",
                    )
            anchor = None
            if request.anchor is not None and request.anchor.document == document.identity:
                anchor = document.node(request.anchor.n)
            return document.collect(request, root, anchor)

    async def inspect(self, key: NodeKey, *, deadline: float) -> Inspection:
        """Live facts of one node, and a hit test."""
        async with self._call("inspect", deadline):
            live = self._world.find(key)
            return self._world.document(key.page).inspection(live)

    async def read(self, target: NodeKey | str, request: ReadRequest, *, deadline: float) -> NodeText:
        """The text of a node, or of a page when ``target`` is a page id."""
        async with self._call("read", deadline):
            document, live = self._target(target)
            if live is not None and not live.connected:
                raise DriverError("The node is no longer in the document.", code=Code.TARGET_GONE, fault=Fault.PAGE)
            if live is not None and live.data.secret:
                return NodeText(secret=True)
            text = document.text(live)
            return NodeText(text=text[: request.limit], truncated=len(text) > request.limit)

    async def coverage(self, target: NodeKey | str, caps: CoverageCaps, *, deadline: float) -> Coverage:
        """Whether closed roots may hide content."""
        async with self._call("coverage", deadline):
            document, _ = self._target(target)
            probed = sum(1 for _ in document.walk())
            if probed > caps.max_nodes:
                return Coverage(probed_nodes=caps.max_nodes, reason=CoverageReason.OVER_BUDGET)
            return Coverage(
                verified=document.closed_roots == 0,
                closed_shadow_roots=document.closed_roots,
                probed_nodes=probed,
                reason=CoverageReason.ROOT_UNRESOLVED if document.closed_roots else None,
            )

    async def capture(self, page: str, request: CaptureRequest, *, deadline: float) -> Captured:
        """Refused: the surface has no pixels."""
        raise NotSupported("An in-memory surface has no pixels.", details={"capability": "capture"})

    # -- touching ----------------------------------------------------------------------------------------------------

    async def dispatch(self, gesture: Gesture, *, expect: Identity | None, deadline: float) -> Landing:
        """One input; ``expect`` is compared with the node as it is when the input lands."""
        async with self._call("dispatch", deadline):
            return perform(self._world, gesture, expect, elsewhere=gesture.kind in self.faults.land_elsewhere)

    async def answer_dialog(self, dialog: str, accept: bool, text: str, *, deadline: float) -> None:
        """Answer a held dialog."""
        async with self._call("answer_dialog", deadline):
            self._world.answer(dialog, accept, text)

    # -- going -------------------------------------------------------------------------------------------------------

    async def navigate(self, page: str, url: str, *, wait_until: WaitUntil, deadline: float) -> Navigation:
        """Go to a URL that the gate allows."""
        async with self._call("navigate", deadline):
            if self._world.never_answers(url):
                await asyncio.Event().wait()
            return self._world.go(page, url)

    async def back(self, page: str, *, deadline: float) -> Navigation:
        """One entry back; the document is loaded anew."""
        async with self._call("back", deadline):
            return self._world.travel(page, -1)

    async def forward(self, page: str, *, deadline: float) -> Navigation:
        """One entry forward; the document is loaded anew."""
        async with self._call("forward", deadline):
            return self._world.travel(page, +1)

    async def reload(self, page: str, *, deadline: float) -> Navigation:
        """Load the document again."""
        async with self._call("reload", deadline):
            return self._world.travel(page, 0)

    async def pages(self) -> tuple[Surface, ...]:
        """Every open page, oldest first."""
        async with self._call("pages", self._spec.timeouts.action):
            return self._world.surfaces()

    async def close_page(self, page: str, *, deadline: float) -> None:
        """Close one page."""
        async with self._call("close_page", deadline):
            self._world.close_page(page)

    # -- waiting -----------------------------------------------------------------------------------------------------

    async def watch(self, page: str, conditions: tuple[WatchCondition, ...], *, deadline: float) -> WatchOutcome:
        """Wait until a condition holds; an outcome without ``met`` when the deadline comes first."""
        async with self._call("watch", deadline + 1.0):
            return await wait_for(self._world, page, conditions, deadline)

    async def drain(self) -> Events:
        """Events since the last call."""
        async with self._call("drain", self._spec.timeouts.action):
            return self._world.events.drain()

    async def close(self) -> None:
        """End the session; calls that are under way end with ``session-closed``. Idempotent."""
        self._closed = True
        self._world.close()
        waiting, self._callers = self._callers, []
        for caller in waiting:
            caller.cancel()

    # -- private -----------------------------------------------------------------------------------------------------

    def _target(self, target: NodeKey | str) -> tuple[LiveDocument, LiveNode | None]:
        if isinstance(target, str):
            return self._world.document(target), None
        return self._world.document(target.page), self._world.find(target)

    @asynccontextmanager
    async def _call(self, method: str, deadline: float) -> AsyncIterator[None]:
        """The bounds and the faults of one call."""
        self._refuse_when_dead()
        count = self._calls[method] = self._calls.get(method, 0) + 1
        faulty = count > self.faults.after_calls
        caller = asyncio.current_task()
        assert caller is not None, "a coroutine always runs in a task"
        self._callers.append(caller)
        try:
            async with asyncio.timeout(max(deadline, 0.0)):
                await asyncio.sleep(0)
                if faulty:
                    await self._fail(method)
                yield
                if faulty and method in self.faults.raise_after:
                    raise DriverError(f"The in-memory driver was told to fail after {method}.")
        except TimeoutError as late:
            raise DeadlineExceeded(f"{method} did not finish within {deadline:g} s.", details={"call": method}) from late
        except asyncio.CancelledError:
            if self._closed and caller not in self._callers and caller.uncancel() == 0:
                self._refuse_when_dead()
            raise
        finally:
            if caller in self._callers:
                self._callers.remove(caller)

    async def _fail(self, method: str) -> None:
        if method in self.faults.hang_on:
            await asyncio.Event().wait()
        if method in self.faults.raise_on:
            raise DriverError(f"The in-memory driver was told to fail at {method}.")
        if method in self.faults.leak_on:
            raise RuntimeError(f"a bug at {method}")
        if method in self.faults.crash_on:
            self._crashed = True
            self._refuse_when_dead()

    def _refuse_when_dead(self) -> None:
        if self._closed:
            raise DriverError("The session is closed.", code=Code.SESSION_CLOSED, fault=Fault.HOST)
        if self._crashed:
            raise DriverError("The surface crashed.", code=Code.PAGE_CRASHED, fault=Fault.PAGE)


__all__ = ["MEMORY_CAPABILITIES", "MemoryDriver", "MemorySession", "MemorySite"]
