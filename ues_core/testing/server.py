"""A loopback HTTP server with the pages of the conformance suites, and a canary that must never be asked for anything.

Routes::

    /page/NAME.html   a page of ``ues_core/testing/pages``
    /redirect?to=URL  302 to URL
    /slow?seconds=N   answers after N seconds (at most SLOW_LIMIT)
    /hang             does not answer until the server closes (at most HANG_LIMIT seconds)
    /download         a small file, as an attachment

Every request is counted by its path, whatever it answers. ``python -m ues_core.testing.server`` serves the pages to try things
on: it prints its origin and ends after an hour, or with Ctrl-C.
"""

from __future__ import annotations

import contextlib
import sys
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files
from types import TracebackType
from typing import Final
from urllib.parse import parse_qs, quote, urlsplit

SLOW_LIMIT: Final = 5.0
"""Seconds that ``/slow`` waits at most."""
HANG_LIMIT: Final = 30.0
"""Seconds that ``/hang`` holds a connection at most."""
CONNECTION_LIMIT: Final = 64
"""Connections served at the same time; more are closed at once."""
SERVE_LIMIT: Final = 3_600.0
"""Seconds that the command serves."""
DOWNLOAD: Final = b"a small file\n"
"""What ``/download`` sends."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 32

    def __init__(self) -> None:
        self.hits: Counter[str] = Counter()
        self.lock = threading.Lock()
        self.closing = threading.Event()
        self.slots = threading.BoundedSemaphore(CONNECTION_LIMIT)
        super().__init__(("127.0.0.1", 0), _Handler)

    def process_request_thread(self, request: object, client_address: object) -> None:
        """Serve one connection, if there is a slot for it."""
        if not self.slots.acquire(blocking=False):
            self.shutdown_request(request)  # type: ignore[arg-type]
            return
        try:
            super().process_request_thread(request, client_address)  # type: ignore[arg-type]
        finally:
            self.slots.release()

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up midway is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 10
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        """Answer a request."""
        parts = urlsplit(self.path)
        with self.server.lock:
            self.server.hits[parts.path] += 1
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        match parts.path.split("/"):
            case ["", "page", name]:
                self._page(name)
            case ["", "redirect"]:
                self._send(302, b"", Location=query.get("to", "/"))
            case ["", "slow"]:
                self.server.closing.wait(min(float(query.get("seconds", "1")), SLOW_LIMIT))
                self._send(200, b"<!doctype html><title>Slow</title><h1>Slow</h1>")
            case ["", "hang"]:
                self.server.closing.wait(HANG_LIMIT)
                self.close_connection = True
            case ["", "download"]:
                self._send(
                    200,
                    DOWNLOAD,
                    **{"Content-Type": "application/octet-stream", "Content-Disposition": 'attachment; filename="small.txt"'},
                )
            case _:
                self._send(404, b"<!doctype html><title>Not found</title><h1>Not found</h1>")

    do_POST = do_GET
    do_HEAD = do_GET

    def _page(self, name: str) -> None:
        known = {entry.name: entry for entry in files("ues_core.testing").joinpath("pages").iterdir()}
        if name in known:
            self._send(200, known[name].read_bytes())
        else:
            self._send(404, b"<!doctype html><title>Not found</title><h1>Not found</h1>")

    def _send(self, status: int, body: bytes, **headers: str) -> None:
        self.send_response(status)
        for header, value in {"Content-Type": "text/html; charset=utf-8", "Cache-Control": "no-store", **headers}.items():
            self.send_header(header, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


class FixtureServer:
    """One loopback server. Use it as a context manager; leaving it closes the port and ends what hangs."""

    def __init__(self) -> None:
        self._server = _Server()
        self._thread = threading.Thread(
            target=self._server.serve_forever, kwargs={"poll_interval": 0.05}, name="ues-fixture-server", daemon=True
        )

    def __enter__(self) -> FixtureServer:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.close()

    def close(self) -> None:
        """Stop serving; idempotent."""
        self._server.closing.set()
        if self._thread.is_alive():
            self._server.shutdown()
            self._thread.join(5)
        self._server.server_close()

    @property
    def origin(self) -> str:
        """``http://127.0.0.1:PORT``."""
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def page(self, name: str, **query: str) -> str:
        """The address of a page, by its file name without ``.html``."""
        tail = "&".join(f"{key}={quote(value, safe='')}" for key, value in query.items())
        return f"{self.origin}/page/{name}.html" + (f"?{tail}" if tail else "")

    def redirect(self, to: str) -> str:
        """An address that redirects to ``to``."""
        return f"{self.origin}/redirect?to={quote(to, safe='')}"

    def hits(self, path: str | None = None) -> int:
        """Requests for one path, or for anything at all."""
        with self._server.lock:
            return self._server.hits.total() if path is None else self._server.hits[path]


@dataclass(frozen=True)
class Grounds:
    """A server with pages, and a canary on an origin of its own."""

    pages: FixtureServer
    canary: FixtureServer


@contextmanager
def serve() -> Iterator[Grounds]:
    """Both servers, closed on the way out."""
    with FixtureServer() as pages, FixtureServer() as canary:
        yield Grounds(pages, canary)


def main() -> None:
    """Serve the pages until Ctrl-C, at most an hour; the first line of output is the origin."""
    with FixtureServer() as server, contextlib.suppress(KeyboardInterrupt):
        sys.stdout.write(f"{server.origin}\n")
        sys.stdout.flush()
        threading.Event().wait(SERVE_LIMIT)


if __name__ == "__main__":
    main()
