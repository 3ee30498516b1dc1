"""Score the collector's names and roles on a folder of the public web-platform-tests: ``python tests/wpt/score.py DIR [--json]``.

The pages say by themselves what they test; a stand-in for their harness records it. Nothing of the folder is copied. Each miss is
listed with what was expected and what was found.
"""

from __future__ import annotations

import asyncio
import json
import os
import queue
import re
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from ues_core.contract import Launch, OpenSpec, WaitUntil
from ues_core.web.browsers import choose_browser, running_as_root
from ues_driver_cdp_raw.driver import CdpRawDriver

HERE: Final = Path(__file__).parent
SAME: Final = {"image": "img", "presentation": "none"}
"""Roles with two names."""


@dataclass(slots=True)
class Miss:
    """One expectation that was not met."""

    page: str
    test: str
    kind: str
    expected: str
    found: str


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, root: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.root = root
        self.records: queue.Queue[list[dict[str, str]]] = queue.Queue()


class _Handler(BaseHTTPRequestHandler):
    timeout = 10

    def do_GET(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        path = self.path.split("?", 1)[0]
        kind = "text/html; charset=utf-8"
        if path.endswith("/aria-utils.js") or path == "/resources/testharness.js":
            body, kind = (HERE / "standin.js").read_bytes() if path.endswith("testharness.js") else b"", "text/javascript"
        elif path.startswith("/resources/"):
            body, kind = b"", "text/javascript"
        else:
            file = (server.root / path.lstrip("/")).resolve()
            inside = file.is_file() and server.root in file.parents
            body = file.read_bytes() if inside else b""
        self.send_response(200)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self) -> None:
        server = self.server
        assert isinstance(server, _Server)
        server.records.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


@contextmanager
def _serve(root: Path) -> Iterator[_Server]:
    server = _Server(root)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
        thread.join(5)


def pages_of(root: Path) -> list[str]:
    """The standard pages of the folder: every HTML file but the tentative ones."""
    return sorted(str(p.relative_to(root)) for p in root.rglob("*.html") if ".tentative" not in p.name)


def fits(kind: str, expected: str, found: str) -> bool:
    """Whether an expectation is met: names after folding ASCII white space, roles with their second names."""
    if kind == "name":
        return _folded(expected) == _folded(found)
    accepted = {SAME.get(role, role) for role in expected.split("|")}
    return SAME.get(found, found) in accepted


def _folded(text: str) -> str:
    return re.sub(r"[ \t\n\r\f]+", " ", text).strip()


async def score(root: Path) -> tuple[dict[str, int], list[Miss]]:
    """Counts (names, names_met, roles, roles_met) and misses over all pages of the folder."""
    counts = {"names": 0, "names_met": 0, "roles": 0, "roles_met": 0}
    misses: list[Miss] = []
    with _serve(root) as server:
        target = Launch(executable=choose_browser(os.environ).path, no_sandbox=running_as_root())
        transport = await CdpRawDriver().connect(OpenSpec(target=target), deadline=30)
        try:
            (page,) = transport.pages()
            for name in pages_of(root):
                url = f"http://127.0.0.1:{server.server_address[1]}/{name}"
                await transport.navigate(page, url, wait_until=WaitUntil.LOAD, deadline=20)
                records = await asyncio.to_thread(server.records.get, timeout=20)
                request = {"selector": "[data-scored]", "mark": "data-scored"}
                found = json.loads(await transport.evaluate(page, "", "identities", request, deadline=20))
                _add(name, records, {m: i for i in found for m in i["mark"].split()}, counts, misses)
        finally:
            await transport.close()
    return counts, misses


def _add(
    page: str, records: list[dict[str, str]], identities: dict[str, dict[str, Any]], counts: dict[str, int], misses: list[Miss]
) -> None:
    for record in records:
        kind = record["kind"]
        found = identities.get(record["id"], {}).get(kind, "")
        if kind == "error":
            misses.append(Miss(page, record["name"], kind, "", ""))
            continue
        counts[f"{kind}s"] += 1
        if fits(kind, record["expected"] or "", found):
            counts[f"{kind}s_met"] += 1
        else:
            misses.append(Miss(page, record["name"], kind, record["expected"] or "", found))


def main() -> int:
    """Print the score; exit code 1 when the folder holds no page."""
    folders = [a for a in sys.argv[1:] if not a.startswith("-")]
    root = Path(folders[0] if folders else HERE.parents[1] / ".." / "shared" / "cases" / "wpt").resolve()
    if not root.is_dir() or not pages_of(root):
        print(f"There are no web-platform-tests in {root}. Name a folder: make wpt DIR=...", file=sys.stderr)
        return 1
    counts, misses = asyncio.run(score(root))
    if "--json" in sys.argv:
        print(json.dumps({"counts": counts, "misses": [asdict(m) for m in misses]}, ensure_ascii=False, indent=1))
        return 0
    for miss in misses:
        print(f"MISS {miss.page}  {miss.test}  {miss.kind}: expected {miss.expected!r}, found {miss.found!r}")
    for kind in ("names", "roles"):
        met, total = counts[f"{kind}_met"], counts[kind]
        print(f"{kind}: {met} of {total} ({100 * met / max(total, 1):.1f} %)")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
