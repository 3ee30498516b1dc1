"""Pages over loopback, a browser that must be there, and both web drivers."""

from __future__ import annotations

import http.server
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from ues_core.contract import (
    Collected,
    CollectRequest,
    Driver,
    DriverEvent,
    DriverSession,
    Gesture,
    Landing,
    Launch,
    NodeFacts,
    OpenSpec,
    ReadRequest,
    WaitUntil,
    WatchCondition,
    WatchKind,
)
from ues_core.testing.sharing import Sharing
from ues_core.web import WebDriverSession
from ues_core.web.browsers import choose_browser, running_as_root
from ues_core.web.cdp import CdpTransport

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
SECONDS = 20.0
"""Deadline of a call that is expected to succeed, on a busy machine."""


class _Handler(http.server.SimpleHTTPRequestHandler):
    server: _Server

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, directory=str(FIXTURES), **kwargs)

    def do_GET(self) -> None:
        self.server.hits.append(self.path)
        path, _, query = self.path.partition("?")
        if path == "/redirect":
            self.send_response(302)
            self.send_header("Location", query)
            self.send_header("Content-Length", "0")
            self.end_headers()
        elif path == "/attachment":
            self._answer(b"some bytes", ("Content-Disposition", 'attachment; filename="a.txt"'))
        else:
            super().do_GET()

    def do_POST(self) -> None:
        self.server.hits.append(self.path)
        self._answer(b"<title>posted</title>", ("Content-Type", "text/html"))

    def _answer(self, body: bytes, *headers: tuple[str, str]) -> None:
        self.send_response(200)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


class _Server(http.server.ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hits: list[str] = []


@dataclass(frozen=True)
class Site:
    """A server of ``fixtures/``: its origin and what it was asked for."""

    origin: str
    hits: list[str]

    def url(self, name: str) -> str:
        return f"{self.origin}/{name}"


def _serve() -> Iterator[Site]:
    server = _Server()
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05})
    thread.start()
    try:
        yield Site(f"http://127.0.0.1:{server.server_port}", server.hits)
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@pytest.fixture(scope="session")
def site() -> Iterator[Site]:
    """The pages of ``fixtures/`` over loopback."""
    yield from _serve()


@pytest.fixture
def canary() -> Iterator[Site]:
    """A second origin that must not be asked for anything, where a test says so."""
    yield from _serve()


@pytest.fixture(scope="session")
def chromium() -> str:
    """The first browser of this machine. There is no skipping: without one these tests prove nothing."""
    return choose_browser(os.environ).path


@pytest.fixture(params=["playwright", "cdp-raw"])
def driver(request: pytest.FixtureRequest) -> Driver:
    """Both web drivers."""
    return make_driver(request.param)


@pytest.fixture
def both_drivers() -> list[Driver]:
    """Both web drivers at once."""
    return [make_driver("playwright"), make_driver("cdp-raw")]


def make_driver(name: str) -> Driver:
    if name == "playwright":
        from ues_driver_playwright.driver import PlaywrightDriver

        return PlaywrightDriver()
    from ues_driver_cdp_raw.driver import CdpRawDriver

    return CdpRawDriver()


@dataclass
class Tab:
    """A session on its first page, with the short words of a test."""

    session: DriverSession
    page: str = "p1"
    seen: list[DriverEvent] = field(default_factory=list)

    @property
    def transport(self) -> CdpTransport:
        """What lies under the session, for the few things that only a hostile page does."""
        assert isinstance(self.session, WebDriverSession)
        transport = self.session._transport
        assert isinstance(transport, CdpTransport)
        return transport

    async def go(self, url: str) -> None:
        await self.session.navigate(self.page, url, wait_until=WaitUntil.LOAD, deadline=SECONDS)

    async def look(self, **request: Any) -> Collected:
        return await self.session.collect(self.page, CollectRequest(**request), deadline=SECONDS)

    async def node(self, name: str, **request: Any) -> NodeFacts:
        found = [node for node in (await self.look(max_nodes=500, **request)).nodes if node.name == name]
        assert found, f"no node is named {name!r}"
        return found[0]

    async def by_id(self, dom_id: str, **request: Any) -> NodeFacts:
        found = [node for node in (await self.look(max_nodes=500, **request)).nodes if node.dom_id == dom_id]
        assert found, f"no node has the id {dom_id!r}"
        return found[0]

    async def do(self, kind: type[Any], node: NodeFacts, **fields: Any) -> Landing:
        gesture: Gesture = kind(page=self.page, key=node.key, **fields)
        return await self.session.dispatch(gesture, expect=node.identity(), deadline=SECONDS)

    async def title(self) -> str:
        return (await self.session.surface(self.page, deadline=SECONDS)).title

    async def text(self, node: NodeFacts) -> str:
        return (await self.session.read(node.key, ReadRequest(), deadline=SECONDS)).text

    async def events(self) -> list[DriverEvent]:
        self.seen.extend((await self.session.drain()).events)
        return self.seen


Opener = Callable[..., Awaitable[Tab]]


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def sharing() -> AsyncIterator[Sharing]:
    """The browsers of this process that wait for a test."""
    sharing = Sharing()
    yield sharing
    await sharing.close()


@pytest_asyncio.fixture(loop_scope="session")
async def opened(driver: Driver, chromium: str, sharing: Sharing) -> AsyncIterator[Opener]:
    """Opens sessions of the driver: ``await opened(url, gate=..., dialogs=...)``.

    One without wishes of its own is shared with the tests before and after; any other has a browser to itself.
    """
    target = Launch(executable=chromium, no_sandbox=running_as_root())
    async with AsyncExitStack() as stack:

        async def open_session(url: str | None = None, **spec: Any) -> Tab:
            wanted = OpenSpec(target=target, url=url, **spec)
            if spec:
                session = await driver.open(wanted)
                stack.push_async_callback(session.close)
            else:
                session = await stack.enter_async_context(sharing.session(driver, wanted))
            if url is not None:
                await session.watch("p1", (WatchCondition(kind=WatchKind.DOCUMENT_READY),), deadline=SECONDS)
            return Tab(session)

        yield open_session


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """All tests of this folder run on one event loop, on which the shared browsers live."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
