"""Both web drivers hand over identical facts of every page in ``fixtures/``, and less of it where less is asked for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from ues_core.contract import (
    CollectRequest,
    Detail,
    Driver,
    DriverSession,
    Launch,
    OpenSpec,
    TruncationReason,
    WaitUntil,
    WatchCondition,
    WatchKind,
)
from ues_core.web.browsers import running_as_root

if TYPE_CHECKING:
    from tests.browser.conftest import Site

pytestmark = pytest.mark.browser

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures"
PAGES = sorted(path.relative_to(FIXTURES).as_posix() for path in FIXTURES.rglob("*.html"))


def without_ids(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: without_ids(item) for key, item in value.items() if key not in ("document", "frame")}
    return [without_ids(item) for item in value] if isinstance(value, list | tuple) else value


async def cut_anywhere(session: DriverSession, detail: Detail) -> None:
    """Whatever the budget, what is listed is the beginning of the whole, and parents come before their children."""
    whole = (await session.collect("p1", CollectRequest(max_nodes=500, max_bytes=1_000_000, detail=detail), deadline=20)).nodes
    assert all(node.parent is None or 0 <= node.parent < at for at, node in enumerate(whole))
    for cut in ({"max_nodes": 1}, {"max_nodes": max(1, len(whole) * 2 // 3)}, {"max_bytes": 1500}):
        part = await session.collect("p1", CollectRequest(**{"max_nodes": 500, "detail": detail, **cut}), deadline=20)
        assert part.nodes == whole[: len(part.nodes)], cut
        assert len(part.nodes) <= cut.get("max_nodes", 500)
        short = {TruncationReason.NODE_BUDGET_EXCEEDED, TruncationReason.BYTE_BUDGET_EXCEEDED}
        assert bool(short & set(part.reasons)) is (len(part.nodes) < len(whole))


async def test_the_same_page_gives_the_same_facts(site: Site, chromium: str, both_drivers: list[Driver]) -> None:
    sessions = []
    try:
        for driver in both_drivers:
            target = Launch(executable=chromium, no_sandbox=running_as_root())
            sessions.append(await driver.open(OpenSpec(target=target)))
        for page in PAGES:
            for detail in Detail:
                facts = []
                for session in sessions:
                    await session.navigate("p1", site.url(page), wait_until=WaitUntil.LOAD, deadline=20)
                    await session.watch("p1", (WatchCondition(kind=WatchKind.DOCUMENT_READY),), deadline=20)
                    ask = CollectRequest(max_nodes=500, detail=detail, boxes=True)
                    facts.append(without_ids((await session.collect("p1", ask, deadline=20)).model_dump(mode="json")))
                assert facts[0] == facts[1], page
                assert facts[0]["nodes"], page
                await cut_anywhere(sessions[-1], detail)
    finally:
        for session in sessions:
            await session.close()
