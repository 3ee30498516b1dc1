"""The loopback server of the conformance suites: it counts everything, is bounded, and goes away."""

from __future__ import annotations

import socket
import threading
import time
import urllib.error
import urllib.request
from importlib.resources import files

import pytest

from ues_core.testing.conformance import SceneName
from ues_core.testing.server import DOWNLOAD, FixtureServer, serve


class _Stay(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args: object) -> None:
        """Do not follow."""


def get(url: str) -> tuple[int, bytes, dict[str, str]]:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}), _Stay)
    try:
        with opener.open(url, timeout=10) as answer:
            return answer.status, answer.read(), dict(answer.headers)
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.read(), dict(error.headers)


def test_every_scene_has_its_page() -> None:
    known = {entry.name for entry in files("ues_core.testing").joinpath("pages").iterdir()}
    assert {f"{scene.value}.html" for scene in SceneName} == known
    with FixtureServer() as server:
        for scene in SceneName:
            status, body, _ = get(server.page(scene.value))
            assert (status, body[:15]) == (200, b"<!doctype html>")


def test_only_known_pages_are_served() -> None:
    with FixtureServer() as server:
        for path in ("/page/nothing.html", "/page/../server.py", "/page/..%2fserver.py", "/"):
            assert get(server.origin + path)[0] == 404


def test_a_redirect_leads_where_it_is_told_and_both_servers_count() -> None:
    with serve() as grounds:
        status, _, headers = get(grounds.pages.redirect(grounds.canary.page("second")))
        assert (status, headers["Location"]) == (302, grounds.canary.page("second"))
        assert (grounds.pages.hits("/redirect"), grounds.canary.hits()) == (1, 0)
        get(headers["Location"])
        get(grounds.canary.origin + "/favicon.ico")
        assert (grounds.canary.hits("/page/second.html"), grounds.canary.hits()) == (1, 2)
        assert grounds.pages.origin != grounds.canary.origin


def test_a_download_is_an_attachment() -> None:
    with FixtureServer() as server:
        _, body, headers = get(server.origin + "/download")
        assert body == DOWNLOAD
        assert headers["Content-Disposition"].startswith("attachment")


def test_slow_answers_in_the_end() -> None:
    with FixtureServer() as server:
        assert get(server.origin + "/slow?seconds=0.05")[0] == 200


def test_closing_ends_what_hangs_and_frees_the_port() -> None:
    server = FixtureServer()
    failed: list[BaseException] = []

    def ask() -> None:
        try:
            get(server.origin + "/hang")
        except (OSError, urllib.error.URLError) as error:
            failed.append(error)

    with server:
        thread = threading.Thread(target=ask, daemon=True)
        thread.start()
        end = time.monotonic() + 10
        while not server.hits("/hang"):
            assert time.monotonic() < end
            time.sleep(0.01)
    server.close()
    thread.join(10)
    assert failed
    with pytest.raises(OSError), socket.create_connection(("127.0.0.1", int(server.origin.rsplit(":", 1)[1])), timeout=2):
        pass
