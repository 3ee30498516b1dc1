"""What a warm observation of a 40-element form costs, against one empty isolated-world evaluation, per driver, in one run."""

from __future__ import annotations

import asyncio
import http.server
import os
import statistics
import sys
import threading
import time
from collections.abc import Awaitable, Callable

from ues_core.contract import CollectRequest, Driver, Launch, OpenSpec, WaitUntil
from ues_core.web.browsers import choose_browser, running_as_root
from ues_core.web.session import WebDriverSession
from ues_driver_cdp_raw.driver import CdpRawDriver
from ues_driver_playwright.driver import PlaywrightDriver

ROUNDS = 300
WARM = 30
ALLOWED = 6.0
"""The project's promise."""

FIELDS = 39
PAGE = (
    "<!doctype html><html lang=en><title>Form</title><form action=/send>"
    + "".join(f"<label for=f{n}>Field {n}</label> <input id=f{n} name=n{n}>" for n in range(FIELDS))
    + "<button>Send</button></form></html>"
).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    """Answers everything with the form."""

    def do_GET(self) -> None:
        """The form."""
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(PAGE)))
        self.end_headers()
        self.wfile.write(PAGE)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


async def milliseconds(work: Callable[[], Awaitable[object]]) -> float:
    """How long one run of ``work`` takes."""
    start = time.perf_counter()
    await work()
    return (time.perf_counter() - start) * 1000


async def measure(driver: Driver, url: str) -> tuple[float, float]:
    """Medians of (empty evaluation, observation), measured in turns."""
    target = Launch(executable=choose_browser(os.environ).path, no_sandbox=running_as_root())
    session = await driver.open(OpenSpec(target=target))
    assert isinstance(session, WebDriverSession)
    try:
        await session.navigate("p1", url, wait_until=WaitUntil.LOAD, deadline=30)
        seen = await session.collect("p1", CollectRequest(), deadline=30)
        assert len(seen.nodes) == FIELDS + 1

        async def empty() -> None:
            await session.empty_evaluation("p1", deadline=30)

        async def observe() -> None:
            await session.collect("p1", CollectRequest(), deadline=30)

        pairs = [(await milliseconds(empty), await milliseconds(observe)) for _ in range(WARM + ROUNDS)][WARM:]
        base, full = (statistics.median(column) for column in zip(*pairs, strict=True))
        return base, full
    finally:
        await session.close()


async def run(url: str) -> int:
    """Measure both drivers and print one line for each; 1 when one is above what is promised."""
    worst = 0.0
    for driver in (PlaywrightDriver(), CdpRawDriver()):
        base, full = await measure(driver, url)
        worst = max(worst, full / base)
        sys.stdout.write(
            f"{driver.info.name}: empty evaluation {base:.2f} ms, observation of {FIELDS + 1} nodes {full:.2f} ms: "
            f"ratio {full / base:.2f} (at most {ALLOWED:g})\n"
        )
    return 0 if worst <= ALLOWED else 1


def main() -> int:
    """Serve the form and measure."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        return asyncio.run(run(f"http://127.0.0.1:{server.server_port}/"))
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


if __name__ == "__main__":
    sys.exit(main())
