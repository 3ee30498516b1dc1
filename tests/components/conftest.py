"""Component libraries out of their own packages, served on loopback, and a hand that operates them through the public API.

The packages (npm: ``package.json``, PyPI: ``wheels.txt``, exact versions) are installed once into ``.cache/components`` of the
repository and used again until a version changes. Without npm, pip or a registry the tests are skipped with that reason.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import os
import posixpath
import re
import shutil
import subprocess
import sys
import tarfile
import threading
import time
import zipfile
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, ClassVar, Final
from urllib.parse import unquote, urlsplit

import pytest

from ues_core import open_host
from ues_core.contract import Node, Observation, Receipt
from ues_core.host import Host
from ues_core.session import Session

HERE: Final = Path(__file__).parent
CACHE: Final = HERE.parents[1] / ".cache" / "components"
INSTALL_LIMIT: Final = 90
"""Seconds that an installation may take, below the time that a test is given; another worker waits for as long."""
SETTLE: Final = 10.0
"""Seconds within which a component must show what it was asked for."""
MOVING: Final = ("target-occluded", "target-off-viewport", "target-changed", "landed-elsewhere", "target-gone")
"""Refusals after which an agent looks again: a menu was still opening, a dialog still closing. Nothing was done."""
UNREACHABLE: Final = re.compile(
    r"ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|ERR_SOCKET_TIMEOUT|EIDLETIMEOUT|"
    r"NewConnectionError|ConnectTimeout|Max retries exceeded|No matching distribution"
)
"""What npm and pip say when there is no registry to be reached."""


# -- packages --------------------------------------------------------------------------------------------------------


class Unavailable(Exception):
    """A package cannot be had here, and why."""


def _run(command: list[str], folder: Path) -> None:
    name = Path(command[0]).name
    try:
        done = subprocess.run(
            command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=INSTALL_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        raise Unavailable(f"{name} did not finish within {INSTALL_LIMIT} s") from None
    if done.returncode == 0:
        return
    said = f"{done.stdout}\n{done.stderr}".strip()
    if UNREACHABLE.search(said):
        raise Unavailable(f"{name} cannot reach its registry")
    pytest.fail(f"{name} failed:\n{said[-2_000:]}", pytrace=False)


def _npm(folder: Path) -> None:
    npm = shutil.which("npm")
    if npm is None:
        raise Unavailable("npm is not installed")
    shutil.copy(HERE / "package.json", folder)
    quiet = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--no-update-notifier", "--logs-max=0"]
    _run([npm, "install", *quiet, "--fetch-retries=1", "--cache", str(folder / "npm")], folder)
    shutil.rmtree(folder / "npm")


def _wheels(folder: Path) -> None:
    """JupyterLite's wheel holds the built application of JupyterLab as an archive of its own."""
    quiet = ["--quiet", "--disable-pip-version-check", "--no-cache-dir", "--no-deps", "--retries=1"]
    _run([sys.executable, "-m", "pip", "download", *quiet, "-r", str(HERE / "wheels.txt"), "-d", str(folder)], folder)
    (wheel,) = folder.glob("jupyterlite_core-*.whl")
    with zipfile.ZipFile(wheel) as opened:
        (name,) = [name for name in opened.namelist() if name.endswith(".tgz")]
        with opened.open(name) as stream, tarfile.open(fileobj=stream, mode="r:gz") as archive:
            archive.extractall(folder, filter="data")
    wheel.unlink()


@contextlib.contextmanager
def _alone(lock: Path) -> Iterator[None]:
    """One worker at a time; a lock that outlived its owner's time is broken."""
    ends = time.monotonic() + INSTALL_LIMIT + 10
    while True:
        try:
            os.close(os.open(lock, os.O_CREAT | os.O_EXCL))
            break
        except FileExistsError:
            with contextlib.suppress(FileNotFoundError):
                if time.time() - lock.stat().st_mtime > INSTALL_LIMIT + 5:
                    lock.unlink()
            if time.monotonic() > ends:
                raise Unavailable("another worker holds the installation") from None
            time.sleep(0.2)
    try:
        yield
    finally:
        lock.unlink(missing_ok=True)


def _installed(kind: str, listed: Path, install: Callable[[Path], None]) -> Path:
    """The folder with what ``listed`` says; made at once or not at all, older versions removed."""
    digest = hashlib.sha256(listed.read_bytes()).hexdigest()[:12]
    ready = CACHE / f"{kind}-{digest}"
    if ready.exists():
        return ready
    CACHE.mkdir(parents=True, exist_ok=True)
    with _alone(CACHE / f"{kind}.lock"):
        if not ready.exists():
            for old in CACHE.glob(f"{kind}-*"):
                shutil.rmtree(old, ignore_errors=True)
            draft = CACHE / f"{kind}-{digest}.draft"
            draft.mkdir()
            try:
                install(draft)
                draft.rename(ready)
            finally:
                shutil.rmtree(draft, ignore_errors=True)
    return ready


@pytest.fixture(scope="session")
def npm_packages() -> Path:
    """The folder ``node_modules``."""
    try:
        return _installed("npm", HERE / "package.json", _npm) / "node_modules"
    except Unavailable as reason:
        pytest.skip(f"component libraries are not available: {reason}")


@pytest.fixture(scope="session")
def jupyterlite() -> Path:
    """The folder with JupyterLab's static application."""
    try:
        return _installed("wheels", HERE / "wheels.txt", _wheels) / "package"
    except Unavailable as reason:
        pytest.skip(f"JupyterLab's application is not available: {reason}")


def import_map(modules: Path, packages: tuple[str, ...]) -> str:
    """An import map for a browser, out of the packages' own ``exports``."""
    imports: dict[str, str] = {}
    for package in packages:
        for entry, target in json.loads((modules / package / "package.json").read_text())["exports"].items():
            path = _condition(target)
            if path is not None and "*" not in entry and entry != "./":
                imports[package + entry.removeprefix(".")] = "/" + posixpath.normpath(posixpath.join("npm", package, path))
    return json.dumps({"imports": imports})


def _condition(target: Any) -> str | None:
    if isinstance(target, str):
        return target
    return next((_condition(target[word]) for word in ("browser", "import", "default") if word in target), None)


# -- serving ---------------------------------------------------------------------------------------------------------


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128

    def __init__(self, roots: dict[str, Path], import_map: str) -> None:
        self.roots = {name: root.resolve() for name, root in roots.items()}
        self.import_map = f'<script type="importmap">{import_map}</script>'.encode()
        self.pets = {"7": "Momo"}
        super().__init__(("127.0.0.1", 0), _Handler)

    def handle_error(self, request: object, client_address: object) -> None:
        """A browser that hangs up midway is no news."""


class _Handler(BaseHTTPRequestHandler):
    server: _Server
    timeout = 20
    protocol_version = "HTTP/1.1"
    types: ClassVar = {
        ".html": "text/html; charset=utf-8",
        ".js": "text/javascript; charset=utf-8",
        ".mjs": "text/javascript; charset=utf-8",
        ".css": "text/css; charset=utf-8",
        ".json": "application/json",
        ".ipynb": "application/json",
        ".webmanifest": "application/manifest+json",
        ".svg": "image/svg+xml",
        ".png": "image/png",
        ".ico": "image/x-icon",
        ".woff": "font/woff",
        ".woff2": "font/woff2",
        ".ttf": "font/ttf",
        ".wasm": "application/wasm",
    }

    def do_GET(self) -> None:
        """A file below one of the roots, or a pet."""
        first, *rest = unquote(urlsplit(self.path).path).removeprefix("/").split("/")
        if first == "pets":
            self._pet("/".join(rest))
            return
        root = self.server.roots.get(first)
        found = root.joinpath(*rest).resolve() if root is not None else None
        if found is not None and found.is_dir():
            found = found / "index.html"
        if root is None or found is None or root not in found.parents or not found.is_file():
            self._send(404, "text/plain", b"not found")
            return
        body = found.read_bytes()
        if first == "pages":
            body = body.replace(b"<!-- import map -->", self.server.import_map)
        self._send(200, self.types.get(found.suffix, "application/octet-stream"), body)

    do_HEAD = do_GET

    def do_POST(self) -> None:
        """Keep the name of a pet."""
        said = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        try:
            pet = json.loads(said)
            self.server.pets[str(pet["id"])] = str(pet["name"])
        except (ValueError, KeyError, TypeError):
            self._send(400, "application/json", b'{"error": "a pet has an id and a name"}')
            return
        self._send(201, "application/json", json.dumps(pet).encode())

    def _pet(self, number: str) -> None:
        name = self.server.pets.get(number)
        if name is None:
            self._send(404, "application/json", b'{"error": "there is no such pet"}')
        else:
            self._send(200, "application/json", json.dumps({"id": int(number), "name": name}).encode())

    def _send(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Cache-Control", "no-store")
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Keep the test's output clean."""


@contextlib.contextmanager
def _serving(roots: dict[str, Path], import_map: str = "{}") -> Iterator[str]:
    server = _Server(roots, import_map)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, name="components", daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join(5)
        server.server_close()


@pytest.fixture(scope="session")
def origin(npm_packages: Path) -> Iterator[str]:
    """Origin of a server with ``/pages``, ``/npm`` and a small service at ``/pets``."""
    lit = ("lit", "lit-html", "lit-element", "@lit/reactive-element", "tslib")
    with _serving({"pages": HERE / "pages", "npm": npm_packages}, import_map(npm_packages, lit)) as address:
        yield address


@pytest.fixture(scope="session")
def lab_origin(jupyterlite: Path) -> Iterator[str]:
    """Origin of a server with JupyterLab's application at ``/jupyter``."""
    with _serving({"jupyter": jupyterlite}) as address:
        yield address


# -- operating -------------------------------------------------------------------------------------------------------


@dataclass
class Hand:
    """Operates a page as an agent would: looks, finds by role and name, acts, looks again."""

    host: Host
    session: Session
    seen: Observation | None = None
    settle: float = SETTLE

    async def look(self, detail: str = "controls") -> Observation:
        """Observe the page."""
        self.seen = await self.session.observe(detail=detail)
        return self.seen

    def nodes(self, role: str, name: str | None = None) -> list[Node]:
        """The nodes seen last with this role and exactly this name."""
        seen = self.seen.nodes if self.seen is not None else ()
        return [node for node in seen if node.role == role and (name is None or node.name == name)]

    async def find(
        self, role: str, name: str, when: Callable[[Node], bool] = lambda _: True, *, detail: str = "controls"
    ) -> Node:
        """The only node with this role, exactly this name and in this state, as soon as the page shows it."""
        ends = asyncio.get_running_loop().time() + self.settle
        while True:
            seen = await self.look(detail)
            found = self.nodes(role, name)
            if len(found) == 1 and when(found[0]):
                return found[0]
            if asyncio.get_running_loop().time() > ends:
                pytest.fail(f"no single {role} {name!r} as wanted; found: {found}\n{seen.render()}")
            await asyncio.sleep(0.1)

    async def gone(self, role: str, name: str) -> None:
        """Wait until no such node is shown."""
        ends = asyncio.get_running_loop().time() + self.settle
        while (await self.look()) and self.nodes(role, name):
            assert asyncio.get_running_loop().time() < ends, f"{role} {name!r} is still there"
            await asyncio.sleep(0.1)

    async def do(self, verb: str, role: str, name: str, **arguments: Any) -> Receipt:
        """Find a node and act on it; again while something that moves is in the way. The receipt must be confirmed."""
        ends = asyncio.get_running_loop().time() + self.settle
        while True:
            node = await self.find(role, name)
            if not node.in_viewport:
                await self.session.act({"verb": "scroll", "ref": node.ref})
                node = await self.find(role, name)
            receipt = await self.session.act({"verb": verb, "ref": node.ref, **arguments})
            if receipt.ok:
                return receipt
            said = f"{verb} {role} {name!r}: {receipt.status} {receipt.code}: {receipt.reason} {receipt.changed}"
            assert receipt.code in MOVING, said
            assert asyncio.get_running_loop().time() < ends, said
            await asyncio.sleep(0.1)

    async def press(self, key: str) -> Receipt:
        """Press a key that needs no node."""
        receipt = await self.session.act({"verb": "press", "key": key})
        assert receipt.ok, f"{key}: {receipt.code}: {receipt.reason}"
        return receipt

    async def text(self) -> str:
        """The visible text of the page, as it is read, and as it is observed."""
        read = await self.session.extract(kind="text", limit=40_000)
        seen = await self.look("content")
        return "\n".join([read.text, *(node.name for node in seen.nodes)])

    async def says(self, wanted: str) -> None:
        """Wait until the page's visible text has ``wanted`` in it."""
        ends = asyncio.get_running_loop().time() + self.settle
        while wanted not in (text := await self.text()):
            assert asyncio.get_running_loop().time() < ends, f"{wanted!r} is not in: {text}"
            await asyncio.sleep(0.1)


Opener = Callable[[str, str], AbstractAsyncContextManager[Hand]]


DRIVERS = ["playwright", "cdp-raw"] if os.environ.get("UES_TEST_EVERY_DRIVER") else ["cdp-raw"]
"""Both drivers share one collector, which parity tests hold; UES_TEST_EVERY_DRIVER=1 operates the libraries through both."""


@pytest.fixture(params=DRIVERS)
def driver(request: pytest.FixtureRequest) -> str:
    """Each driver in turn."""
    return str(request.param)


@pytest.fixture
def open_page(tmp_path: Path, driver: str) -> Opener:
    """``open_page(origin, path)``: a session of its own on the page, locked to the origin."""

    @asynccontextmanager
    async def opened(origin: str, path: str) -> AsyncIterator[Hand]:
        settings: dict[str, Any] = {"state_dir": str(tmp_path), "budgets": {"max_nodes": 400, "max_bytes": 400_000}}
        async with open_host(**settings) as host:
            session = await host.session(
                "components", driver=driver, url=f"{origin}{path}", allowed_origins=[origin], timeouts={"navigation": 45}
            )
            yield Hand(host, session)

    return opened
