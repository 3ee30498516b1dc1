"""The page-side functions that have a twin in Python or in the standard library."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING, Any

import pytest

from ues_core.web.collector import bundle

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


ASKED = {
    "page": "p1",
    "frame": "",
    "document": "D",
    "within": 0,
    "detail": "controls",
    "max_nodes": 60,
    "max_bytes": 50_000,
    "milliseconds": 20_000,
    "scan_window": 50_000,
    "find": None,
    "skip": 0,
    "boxes": False,
    "any": False,
    "origins": [],
    "base": [1, 0, 0, 1, 0, 0],
    "own": None,
    "pierce": False,
    "learned": True,
    "anchor": 0,
}


async def test_what_there_was_no_time_for_is_said_to_be_missing(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("second.html"))
    script = "document.body.innerHTML = '<button>One more</button>'.repeat(3000); 1"
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)

    async def collected(**asked: object) -> dict[str, Any]:
        answer = await tab.transport.evaluate("p1", "", "collect", {**ASKED, **asked}, deadline=20)
        found: dict[str, Any] = json.loads(answer.rpartition("\n")[2])
        return found

    whole = await collected()
    assert (len(whole["nodes"]), whole["reasons"], whole["candidates"]) == (60, ["node-budget-exceeded"], 3000)
    late = await collected(milliseconds=-1)
    assert "time-budget-exceeded" in late["reasons"]
    assert late["hidden_matches_partial"]
    assert len(late["nodes"]) < 60
    assert [node["key"]["n"] for node in late["nodes"]] == [node["key"]["n"] for node in whole["nodes"]][: len(late["nodes"])]
    sought = await collected(milliseconds=-1, find={"text": "more", "role": ""})
    assert (sought["nodes"], sought["hidden_matches_partial"]) == ([], True)


async def test_slots_that_cannot_be_resolved_are_said_to_be_missing(opened: Opener, site: Site) -> None:
    tab = await opened(site.url("shadow.html"))

    async def ask(method: str, **params: Any) -> Any:
        return await tab.transport.cdp("p1", method, params, deadline=20)

    tree = await ask("Page.getFrameTree")
    world = await ask("Page.createIsolatedWorld", frameId=tree["frameTree"]["frame"]["id"], worldName="broken")
    where = {"contextId": world["executionContextId"], "returnByValue": True}
    broken = "HTMLSlotElement.prototype.assignedNodes = () => { throw new Error('no'); };"
    await ask("Runtime.evaluate", expression=broken + bundle(), **where)
    answer = await ask("Runtime.evaluate", expression=f"__ues.collect({json.dumps(ASKED)})", **where)
    seen = json.loads(answer["result"]["value"])
    assert seen["reasons"] == ["slot-unresolved"]
    names = {node.get("name") for node in seen["nodes"]}
    assert {"Shadow", "Inner", "Deep", "After"} <= names
    assert not {"Slotted first", "Unslotted"} & names
