"""The order of a listing, its budgets, its cursor and its search."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

from ues_core.contract import Find, ScrollGesture, TruncationReason

Opener = Callable[[str], Awaitable[Any]]
ALL = 306


async def test_the_viewport_comes_first_with_what_is_around_it(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("shape.html"))
    seen = await tab.look(max_nodes=2000, max_bytes=1_000_000)
    names = [node.name for node in seen.nodes]
    assert names[:7] == ["First", "Tall", "Early", "Fixed", "Always seen", "Edit 1", "Archive 1"]
    assert len(names) == ALL - 1 == seen.candidates
    assert [node.in_viewport for node in seen.nodes[:6]] == [True, True, True, True, True, False]
    assert all(node.parent is None or node.parent < at for at, node in enumerate(seen.nodes))
    assert seen.nodes[4].parent == 3


async def test_smaller_budgets_are_prefixes_whatever_is_cut(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("shape.html"))
    full = await tab.look(max_nodes=2000, max_bytes=1_000_000)
    for budget in (1, 3, 4, 60, 200):
        cut = await tab.look(max_nodes=budget, max_bytes=1_000_000)
        assert cut.nodes == full.nodes[:budget]
        assert (cut.candidates, cut.hidden_matches) == (full.candidates, full.hidden_matches)
        assert cut.reasons == (TruncationReason.NODE_BUDGET_EXCEEDED,)
    small = await tab.look(max_bytes=3000)
    assert small.nodes == full.nodes[: len(small.nodes)]
    assert 0 < len(small.nodes) < 60
    assert small.reasons == (TruncationReason.BYTE_BUDGET_EXCEEDED,)


async def test_a_cursor_neither_skips_nor_repeats_although_the_page_is_scrolled(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("shape.html"))
    script = "document.getElementById('rows').setAttribute('role', 'rowgroup'); 1"
    await tab.transport.cdp("p1", "Runtime.evaluate", {"expression": script}, deadline=20)
    full = await tab.look(max_nodes=2000, max_bytes=1_000_000)
    first = await tab.look(max_nodes=100)
    await tab.session.dispatch(ScrollGesture(page="p1", key=full.nodes[-1].key), expect=None, deadline=20)
    pages = [first]
    while len(pages[-1].nodes) == 100:
        pages.append(await tab.look(max_nodes=100, skip=100 * len(pages)))
    assert [node.key for page in pages for node in page.nodes] == [node.key for node in full.nodes]
    parents = [full.nodes[node.parent].key if node.parent is not None else None for node in full.nodes]
    told = [
        page.nodes[node.parent].key if node.parent is not None else node.parent_key for page in pages for node in page.nodes
    ]
    assert told == parents, "a parent of an earlier page is named by its key"
    anew = await tab.look(max_nodes=5)
    assert anew.nodes[0].name != "First", "a new listing begins with what is seen now"


async def test_the_last_row_is_found_in_one_call(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("shape.html"))
    found = await tab.look(find=Find(text="archive  150"))
    assert [node.name for node in found.nodes] == ["Archive 150"]
    assert (found.candidates, found.reasons) == (1, ())
    some = await tab.look(find=Find(text="archive", role="button"), max_nodes=10)
    assert [node.name for node in some.nodes] == [f"Archive {n}" for n in range(1, 11)]
    assert some.candidates == 150
    assert (await tab.look(find=Find(text="nowhere to be found"))).nodes == ()
    assert (await tab.look(find=Find(text="archive", role="link"))).nodes == ()


async def test_the_search_knows_every_way_in_which_a_node_is_named(opened: Opener, site: Any) -> None:
    tab = await opened(site.url("names.html"))
    for node in (await tab.look(max_nodes=200)).nodes:
        if node.name:
            found = await tab.look(find=Find(text=node.name), max_nodes=200)
            assert node.key in {one.key for one in found.nodes}, node
