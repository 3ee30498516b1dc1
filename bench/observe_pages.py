"""The pages that ``observe_page`` measures on, made here and served over loopback."""

from __future__ import annotations

import http.server
import threading
from typing import Final, Self

STYLE: Final = "<style>body{font:14px sans-serif} td{padding:2px 6px}</style>"


def _page(title: str, body: str) -> bytes:
    return f"<!doctype html><html lang=en><meta charset=utf-8><title>{title}</title>{STYLE}{body}</html>".encode()


def table(rows: int) -> bytes:
    """A table of ``rows`` rows with two buttons each."""
    body = "".join(
        f"<tr><td>{n}</td><td>Customer {n}</td><td>{n * 7 % 997}.00</td>"
        f"<td><button>Edit {n}</button></td><td><button>Archive {n}</button></td></tr>"
        for n in range(1, rows + 1)
    )
    return _page(
        "Orders", f"<h1>Orders</h1><table><thead><tr><th>No<th>Who<th>Sum<th><th></tr></thead><tbody>{body}</tbody></table>"
    )


def wide(cards: int) -> bytes:
    """``cards`` cards of ten elements, of which four can be operated."""
    body = "".join(
        f"<section class=card><h3>Item {n}</h3><p>About <b>item</b> number {n}.</p><div><a href=/i/{n}>Open {n}</a>"
        f"<button>Add {n}</button><span>in stock</span></div><label><input type=checkbox> Compare</label></section>"
        for n in range(1, cards + 1)
    )
    return _page("Catalogue", f"<main>{body}</main>")


def form(fields: int) -> bytes:
    """A form of ``fields`` text fields and a button."""
    body = "".join(f"<label for=f{n}>Field {n}</label> <input id=f{n} name=n{n}>" for n in range(fields))
    return _page("Form", f"<form action=/send>{body}<button>Send</button></form>")


def closed_away(sections: int) -> bytes:
    """Sections of which all but a few are folded: most candidates are hidden."""
    body = "".join(
        f"<details{' open' if n % 20 == 0 else ''}><summary>Part {n}</summary><ul>"
        + "".join(f"<li><a href=/{n}/{m}>Chapter {n}.{m}</a></li>" for m in range(10))
        + "</ul></details>"
        for n in range(sections)
    )
    return _page("Book", body)


TABLE, WIDE, FORM, SMALL, FOLDED = "/table", "/wide", "/form", "/small", "/folded"
LONG, PROBED = "/long", "/probed"
PAGES: Final = {
    TABLE: table(500),
    WIDE: wide(6000),
    FORM: form(39),
    SMALL: wide(500),
    FOLDED: closed_away(250),
    LONG: table(7500),
    PROBED: wide(2000),
}


class _Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        body = PAGES.get(self.path, b"")
        self.send_response(200 if body else 404)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet."""


class Site:
    """The pages over loopback, for the time of a ``with``."""

    def __enter__(self) -> Self:
        """Start serving."""
        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.05})
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        """Stop."""
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()

    def url(self, path: str) -> str:
        """The address of one page."""
        return f"http://127.0.0.1:{self._server.server_port}{path}"
