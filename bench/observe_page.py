"""What observing costs on pages of many sizes: against Playwright's own AI snapshot, against a floor, and driver against driver.

Playwright is installed into an environment of its own, which is kept between runs (in ``.cache``); where that cannot be, the one of
this environment is asked, and the first line says so. One run prints one table. Every comparison is measured in turns, on one page
of one browser or on one page in two browsers at once, and medians are compared: a machine that is busy with other things is busy
for both sides.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import json
import statistics
import sys
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

from ues_core.contract import Attach, CollectRequest, CoverageCaps, CoverageReason, Driver, OpenSpec, WaitUntil
from ues_core.host import open_host
from ues_core.web.cdp import CdpTransport
from ues_core.web.session import WebDriverSession
from ues_driver_cdp_raw.driver import CdpRawDriver
from ues_driver_playwright.driver import PlaywrightDriver

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from bench.observe_pages import FOLDED, FORM, LONG, PROBED, SMALL, TABLE, WIDE, Site
from bench.observe_peer import Peer

DEADLINE = 60.0
CONTROLS = (
    "a[href],area[href],button,input,textarea,select,summary,[role],[contenteditable],[tabindex],h1,h2,h3,h4,h5,h6,"
    "dialog[open],iframe,frame,audio[controls],video[controls]"
)
FLOOR = """() => {
  const wanted = "SELECTOR";
  let found = 0;
  const walker = document.createTreeWalker(document, NodeFilter.SHOW_ELEMENT);
  for (let el = walker.nextNode(); el !== null; el = walker.nextNode()) {
    if (!el.matches(wanted)) continue;
    const rect = el.getBoundingClientRect();
    if (rect.width > 0) found += 1;
  }
  return found;
}""".replace("SELECTOR", CONTROLS)
"""The floor: walk every element, test it against the selector of controls, read the rectangle of each match."""

Work = Callable[[], Awaitable[object]]


@dataclass
class Table:
    """The rows of the table, and whether each promise was kept."""

    broken: int = 0
    rows: list[tuple[str, str, str, bool | None]] = field(default_factory=list)

    def add(self, work: str, measured: str, promised: str, kept: bool | None) -> None:
        """One line; ``kept`` is ``None`` where nothing was promised."""
        self.broken += kept is False
        self.rows.append((work, measured, promised, kept))
        verdict = "" if kept is None else "ok" if kept else "MISSED"
        sys.stdout.write(f"{work:<62} {measured:<44} {promised:<22} {verdict}\n")
        sys.stdout.flush()


async def milliseconds(work: Work) -> float:
    """How long one run of ``work`` takes; as it says itself, when it gives a number."""
    start = time.perf_counter()
    told = await work()
    return told if isinstance(told, float) else (time.perf_counter() - start) * 1000


SETTLE = 1.0
"""Seconds in which a browser clears away what a work of seconds left behind, so that the next work does not pay for it."""


async def in_turns(rounds: int, *works: Work, settle: float = 0.0) -> list[float]:
    """The median of each of several works, measured one after the other in every round, ``settle`` seconds apart."""

    async def measured(work: Work) -> float:
        if settle > 0:
            await asyncio.sleep(settle)
        return await milliseconds(work)

    for work in works:
        await work()
    rows = [[await measured(work) for work in works] for _ in range(rounds)]
    return [statistics.median(column) for column in zip(*rows, strict=True)]


@contextlib.contextmanager
def counted(session: WebDriverSession) -> Iterator[list[int]]:
    """The bytes of every command and answer of a session, as JSON."""
    transport = session._transport
    assert isinstance(transport, CdpTransport)
    connection, wire = transport.connection, []
    send = connection.send

    async def measured(method: str, params: Mapping[str, Any] | None = None, **more: Any) -> dict[str, Any]:
        answer = await send(method, params, **more)
        wire.append(len(json.dumps([method, dict(params or {}), answer])))
        return answer

    with mock.patch.object(connection, "send", measured):
        yield wire


class Bench:
    """A browser that Playwright started, seen by Playwright itself and by each of our drivers; one page at a time."""

    def __init__(self, site: Site, peer: Peer, raw: WebDriverSession, own: WebDriverSession) -> None:
        self.site, self.peer, self.raw, self.own = site, peer, raw, own
        self.table = Table()

    async def go(self, path: str) -> None:
        """Show one page everywhere."""
        url = self.site.url(path)
        await self.peer.go(url)
        for session in (self.raw, self.own):
            await session.navigate("p1", url, wait_until=WaitUntil.LOAD, deadline=DEADLINE)

    async def cdp(self, method: str, **params: Any) -> dict[str, Any]:
        """One command to the page, with nothing of ours in it."""
        transport = self.raw._transport
        assert isinstance(transport, CdpTransport)
        return await transport.cdp("p1", method, params, deadline=DEADLINE)

    def look(self, session: WebDriverSession, times: int = 1) -> Work:
        """One observation with the defaults; the median of ``times`` where rounds are few."""

        async def once() -> None:
            await session.collect("p1", CollectRequest(), deadline=DEADLINE)

        async def work() -> float:
            return statistics.median([await milliseconds(once) for _ in range(times)])

        return work

    async def against_snapshot(self, path: str, name: str, least: float, rounds: int, settle: float = 0.0) -> None:
        """Our observation against the AI snapshot, in turns; nothing is promised when ``least`` is 0."""
        await self.go(path)
        looks = [self.look(session, times=1 if settle == 0 else 5) for session in (self.raw, self.own)]
        theirs, raw, own = await in_turns(rounds, self.peer.snapshot, *looks, settle=settle)
        for driver, ours in (("cdp-raw", raw), ("playwright", own)):
            self.table.add(
                f"observe, {name}, {driver}",
                f"{ours:.1f} ms against {theirs:.0f} ms: {theirs / ours:.1f} times faster",
                f">= {least:g} times" if least > 0 else "",
                theirs / ours >= least if least > 0 else None,
            )

    async def against_floor(self, path: str, name: str, rounds: int) -> None:
        """Our observation against the cheapest way to look at every element."""
        await self.go(path)

        tree = await self.cdp("Page.getFrameTree")
        frame = tree["frameTree"]["frame"]["id"]
        world = await self.cdp("Page.createIsolatedWorld", frameId=frame, worldName="floor")
        call = {"expression": f"({FLOOR})()", "contextId": world["executionContextId"], "returnByValue": True}

        async def floor() -> None:
            await self.cdp("Runtime.evaluate", **call)

        base, ours = await in_turns(rounds, floor, self.look(self.raw))
        self.table.add(
            f"observe, {name}, against the floor",
            f"{ours:.1f} ms against {base:.1f} ms: {ours / base:.2f}",
            "<= 2",
            ours / base <= 2,
        )

    async def against_empty(self, path: str, name: str, rounds: int) -> None:
        """Our observation of a small form against one evaluation of nothing."""
        await self.go(path)
        for driver, session in (("cdp-raw", self.raw), ("playwright", self.own)):

            async def nothing(session: WebDriverSession = session) -> None:
                await session.empty_evaluation("p1", deadline=DEADLINE)

            base, ours = await in_turns(rounds, nothing, self.look(session))
            self.table.add(
                f"observe, {name}, against an empty evaluation, {driver}",
                f"{ours:.2f} ms against {base:.2f} ms: {ours / base:.2f}",
                "<= 6",
                ours / base <= 6,
            )

    async def drivers(self, path: str, name: str, rounds: int) -> None:
        """Driver against driver; a tenth is left to chance."""
        await self.go(path)
        raw, own = await in_turns(rounds, self.look(self.raw), self.look(self.own))
        self.table.add(
            f"observe, {name}, cdp-raw against playwright", f"{raw:.2f} ms against {own:.2f} ms", "not slower", raw <= own * 1.1
        )

    async def coverage(self, path: str, name: str) -> None:
        """The probe for closed roots, with its own defaults and with room for the whole page."""
        await self.go(path)
        nodes = (await self.cdp("Runtime.evaluate", expression="document.querySelectorAll('*').length"))["result"]["value"]
        for caps in (CoverageCaps(), CoverageCaps(max_nodes=1_000_000)):
            with counted(self.raw) as wire:
                start = time.perf_counter()
                found = await self.raw.coverage("p1", caps, deadline=DEADLINE)
                spent = (time.perf_counter() - start) * 1000
            self.table.add(
                f"coverage probe, {name} ({nodes} elements), {caps.max_nodes} nodes allowed",
                f"{spent:.0f} ms, {sum(wire) / 1000:.0f} kB: {found.reason or ('verified' if found.verified else 'closed roots')}",
                "<= 250 ms and a margin, < 1 MB",
                spent <= 300 and sum(wire) < 1_000_000 and (found.verified or found.reason is CoverageReason.OVER_BUDGET),
            )


async def rendered(site: Site, table: Table) -> None:
    """What a host is told about the table: the size of the text, the last row in one call, a delta of an unchanged page."""
    async with open_host() as host, await host.session("bench", driver="cdp-raw", url=site.url(TABLE)) as session:
        seen = await session.observe()
        text = seen.render()
        table.add("rendered size of the table", f"{len(text)} characters", "<= 15,000", len(text) <= 15_000)
        start = time.perf_counter()
        found = await session.observe(find="Archive 500")
        spent = (time.perf_counter() - start) * 1000
        names = [node.name for node in found.nodes]
        table.add("the last row by find, in one call", f"{spent:.1f} ms: {names}", "found", names == ["Archive 500"])
        seen = await session.observe()
        again = await session.observe(since=seen.epoch)
        text = again.render()
        table.add("delta of the unchanged table", f"{len(text)} characters", "<= 400", len(text) <= 400)


async def deltas(site: Site, table: Table, rounds: int) -> None:
    """What a host waits for when nothing has changed, driver against driver; a tenth is left to chance."""
    async with AsyncExitStack() as stack:
        host = await stack.enter_async_context(open_host())

        async def following(driver: str) -> Work:
            session = await stack.enter_async_context(await host.session("bench", driver=driver, url=site.url(TABLE)))
            seen = await session.observe()

            async def work() -> None:
                nonlocal seen
                seen = await session.observe(since=seen.epoch)

            return work

        raw, own = await in_turns(rounds, await following("cdp-raw"), await following("playwright"))
        table.add(
            "unchanged delta, table of 500 rows, cdp-raw against playwright",
            f"{raw:.2f} ms against {own:.2f} ms",
            "not slower",
            raw <= own * 1.1,
        )


async def run(rounds: int, only: str) -> int:
    """Measure everything; 1 when a promise was not kept."""
    async with AsyncExitStack() as stack:
        site = stack.enter_context(Site())
        peer = await stack.enter_async_context(Peer.started())

        async def attached(driver: Driver) -> WebDriverSession:
            session = await driver.open(OpenSpec(target=Attach(endpoint=peer.endpoint)))
            stack.push_async_callback(session.close)
            assert isinstance(session, WebDriverSession)
            return session

        bench = Bench(site, peer, await attached(CdpRawDriver()), await attached(PlaywrightDriver()))
        work: dict[str, Work] = {
            "snapshot": lambda: bench.against_snapshot(TABLE, "table of 500 rows, 1,000 buttons", 15, rounds),
            "floor-table": lambda: bench.against_floor(TABLE, "table of 500 rows", rounds),
            "floor-small": lambda: bench.against_floor(SMALL, "5,000 elements", rounds),
            "floor-folded": lambda: bench.against_floor(FOLDED, "5,000 elements, most folded away", rounds),
            "floor-wide": lambda: bench.against_floor(WIDE, "60,000 elements", rounds),
            "form": lambda: bench.against_empty(FORM, "form of 40 controls", rounds * 5),
            "drivers-table": lambda: bench.drivers(TABLE, "table of 500 rows", rounds),
            "drivers-form": lambda: bench.drivers(FORM, "form of 40 controls", rounds * 5),
            "coverage-small": lambda: bench.coverage(SMALL, "5,000 elements"),
            "coverage-20,000": lambda: bench.coverage(PROBED, "20,000 elements"),
            "coverage-wide": lambda: bench.coverage(WIDE, "60,000 elements"),
            "drivers-delta": lambda: deltas(site, bench.table, rounds),
            "rendered": lambda: rendered(site, bench.table),
            "snapshot-long": lambda: bench.against_snapshot(LONG, "table of 60,000 elements", 40, 3, SETTLE),
            # Two in five of its elements are candidates, and the floor alone is above a fortieth.
            "snapshot-wide": lambda: bench.against_snapshot(WIDE, "60,000 elements, 24,000 of them controls", 0, 2, SETTLE),
        }
        for name, measure in work.items():
            if name.startswith(only):
                await measure()
        return 1 if bench.table.broken else 0


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=20, help="rounds of each comparison")
    parser.add_argument(
        "--only", default="", help="only the measures whose name begins so: snapshot, floor, form, drivers, coverage, rendered"
    )
    given = parser.parse_args()
    return asyncio.run(run(given.rounds, given.only))


if __name__ == "__main__":
    sys.exit(main())
