"""Playwright as a peer: a process of its own that starts the browser, shows pages and times its own snapshot of them."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final, Self

from bench.peers import Unavailable, environment
from ues_core.web.browsers import choose_browser, running_as_root

ANSWER_LIMIT: Final = 300.0
"""Seconds that one piece of the peer's work may take: its snapshot of the largest page takes some."""

INSIDE: Final = """
import json, sys, time
from playwright.sync_api import sync_playwright

home, browser, *switches = sys.argv[1:]
with sync_playwright() as playwright:
    context = playwright.chromium.launch_persistent_context(home, executable_path=browser, args=switches)
    page = context.pages[0]
    root = page.locator("html")
    print(json.dumps({}), flush=True)
    for line in sys.stdin:
        url = json.loads(line).get("url")
        start = time.perf_counter()
        if url:
            page.goto(url)
        else:
            root.aria_snapshot(mode="ai", timeout=LIMIT)
        print(json.dumps({"milliseconds": (time.perf_counter() - start) * 1000}), flush=True)
    context.close()
""".replace("LIMIT", str(ANSWER_LIMIT * 1000))


class Peer:
    """The running peer, with one page. ``endpoint``: where others attach to its browser."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self.endpoint = ""

    @classmethod
    @asynccontextmanager
    async def started(cls) -> AsyncIterator[Self]:
        """Start it, and end it with its browser."""
        try:
            python = str(await asyncio.to_thread(environment, "playwright", "playwright"))
        except Unavailable as error:
            sys.stdout.write(f"{error}\nThe Playwright of this environment is measured instead.\n")
            python = sys.executable
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as home:
            switches = ["--remote-debugging-port=0"] + (["--no-sandbox"] if running_as_root() else [])
            command = [python, "-c", INSIDE, home, choose_browser(os.environ).path, *switches]
            pipe = asyncio.subprocess.PIPE
            process = await asyncio.create_subprocess_exec(*command, stdin=pipe, stdout=pipe)
            peer = cls(process)
            try:
                await peer._answer()
                port = await asyncio.to_thread((Path(home) / "DevToolsActivePort").read_text)
                peer.endpoint = f"http://127.0.0.1:{port.split()[0]}"
                yield peer
            finally:
                await peer._end()

    async def go(self, url: str) -> None:
        """Show a page."""
        await self._ask({"url": url})

    async def snapshot(self) -> float:
        """Milliseconds of its AI snapshot of the page."""
        return float((await self._ask({}))["milliseconds"])

    async def _ask(self, work: dict[str, str]) -> dict[str, Any]:
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(work).encode() + b"\n")
        await self._process.stdin.drain()
        return await self._answer()

    async def _answer(self) -> dict[str, Any]:
        assert self._process.stdout is not None
        line = await asyncio.wait_for(self._process.stdout.readline(), ANSWER_LIMIT)
        if not line:
            raise SystemExit("Playwright ended early; what it said is above.")
        found: dict[str, Any] = json.loads(line)
        return found

    async def _end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            await asyncio.wait_for(self._process.wait(), 20)
        except TimeoutError:
            self._process.kill()
            await self._process.wait()
