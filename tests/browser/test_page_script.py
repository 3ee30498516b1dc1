"""The page-side functions that have a twin in Python or in the standard library."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from tests.browser.conftest import Opener, Site

pytestmark = pytest.mark.browser


async def test_the_digest_is_sha256(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    transport = tab.transport
    for text in ("", "abc", "x" * 55, "x" * 56, "x" * 63, "x" * 64, "x" * 65, "ünï 👩", "y" * 10_000):
        answer = await transport.evaluate("p1", "", "sha256", {"text": text}, deadline=20)
        assert answer == hashlib.sha256(text.encode()).hexdigest()


async def test_the_normaliser_is_idempotent_and_leaves_nothing_that_cannot_be_shown(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    transport = tab.transport
    for text in (
        "a\u200bb",
        " a \n b ",
        "\u202eevil",
        "x" * 500,
        "\ud83d",
        "e\u0301" * 120,
        "a\u0000b",
        "👩‍👩‍👧" * 60,
        "\ufeff",
    ):
        once = await transport.evaluate("p1", "", "normalise", {"text": text}, deadline=20)
        again = await transport.evaluate("p1", "", "normalise", {"text": once}, deadline=20)
        assert once == again
        assert len(once.encode("utf-16-le")) // 2 <= 180
        json.dumps(once).encode("utf-8")
        assert not set(once) & {"\u200b", "\u202e", "\u0000", "\ufeff", "\n"}
