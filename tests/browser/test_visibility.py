"""What a person would see: what is clipped, folded, faded or skipped counts as hidden; what is scrolled away is out of view."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

Opener = Callable[[str], Awaitable[Any]]

SHOWN = {"plain", "escaped", "cut", "at-top", "below", "summary", "boxless", "zero", "inert"}
HIDDEN = {"skip-link", "folded", "inset", "circle", "faded", "closed", "skipped", "until"}


async def test_what_is_not_drawn_is_counted_and_not_listed(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("visibility.html"))
    seen = await tab.look(max_nodes=100)
    assert {node.dom_id for node in seen.nodes} == SHOWN
    assert seen.hidden_matches == len(HIDDEN)
    assert not seen.hidden_matches_partial
    assert seen.candidates == len(SHOWN) + len(HIDDEN)


async def test_what_is_scrolled_out_of_a_scroller_is_not_in_the_viewport(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("visibility.html"))
    nodes = {node.dom_id: node for node in (await tab.look(max_nodes=100)).nodes}
    assert nodes["at-top"].in_viewport
    assert nodes["escaped"].in_viewport
    assert not nodes["below"].in_viewport
    live = await tab.session.inspect(nodes["below"].key, deadline=20)
    assert live.facts is not None
    assert not live.facts.in_viewport


async def test_what_is_inert_is_seen_and_cannot_be_used(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("visibility.html"))
    nodes = {node.dom_id: node for node in (await tab.look(max_nodes=100)).nodes}
    assert nodes["inert"].disabled
    assert not nodes["plain"].disabled
