"""The bundled page, served on loopback for as long as the demo runs."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.resources import files

_PAGES = {"/": "index.html", "/help": "help.html"}


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    timeout = 10

    def do_GET(self) -> None:
        name = _PAGES.get(self.path.split("?", 1)[0])
        body = files("ues_core.cli.demo").joinpath("site", name).read_bytes() if name else b"not here"
        self.send_response(200 if name else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing: the demo's own lines are what a person reads."""


@contextmanager
def serve() -> Iterator[str]:
    """The origin under which the page is served; the server ends with the block."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
    server.daemon_threads = True
    thread = threading.Thread(target=server.serve_forever, name="ues-demo-page", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=5)
