"""Waiting inside the page, across navigations, bounded."""

from __future__ import annotations

import asyncio
import time
from typing import Any, Final

from ues_core.contract import DocumentGone, WatchCondition, WatchKind, WatchOutcome
from ues_core.web.transport import WebTransport

_SLICE: Final = 0.25
"""Seconds after which an address is looked at again while the page is watched."""
_MARGIN: Final = 1.0
_SETTLE: Final = 0.05


async def watch(transport: WebTransport, page: str, conditions: tuple[WatchCondition, ...], deadline: float) -> WatchOutcome:
    """Wait until one of the conditions holds or the time is over."""
    start = time.monotonic()
    end = start + deadline
    while True:
        met = await _once(transport, page, conditions, end)
        now = time.monotonic()
        if met is not None or now >= end:
            return WatchOutcome(met=met, seconds=round(now - start, 3))


async def _once(transport: WebTransport, page: str, conditions: tuple[WatchCondition, ...], end: float) -> int | None:
    url = transport.frames(page)[0].url
    for index, condition in enumerate(conditions):
        if condition.kind is WatchKind.URL and url.startswith(condition.text):
            return index
    groups = _groups(conditions)
    left = max(0.0, end - time.monotonic())
    if any(condition.kind is WatchKind.URL for condition in conditions):
        left = min(left, _SLICE)
    if not groups:
        await asyncio.sleep(min(left, _SETTLE))
        return None
    tasks = [
        asyncio.ensure_future(_in_frame(transport, page, frame, document, members, left))
        for (frame, document), members in groups.items()
    ]
    try:
        while tasks:
            done, _ = await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                tasks.remove(task)
                met = task.result()
                if met is not None:
                    return met
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
    return None


def _groups(
    conditions: tuple[WatchCondition, ...],
) -> dict[tuple[str, str], list[tuple[int, WatchCondition]]]:
    groups: dict[tuple[str, str], list[tuple[int, WatchCondition]]] = {}
    for index, condition in enumerate(conditions):
        if condition.kind is WatchKind.URL:
            continue
        key = condition.key
        groups.setdefault((key.frame, key.document) if key is not None else ("", ""), []).append((index, condition))
    return groups


async def _in_frame(
    transport: WebTransport,
    page: str,
    frame: str,
    document: str,
    members: list[tuple[int, WatchCondition]],
    seconds: float,
) -> int | None:
    argument: dict[str, Any] = {
        "ms": seconds * 1000,
        "conditions": [
            {
                "kind": str(condition.kind),
                "text": condition.text,
                "n": condition.key.n if condition.key is not None else 0,
                "seconds": condition.seconds,
            }
            for _, condition in members
        ],
    }
    try:
        found = int(await transport.evaluate(page, frame, "watchFor", argument, deadline=seconds + _MARGIN, document=document))
    except DocumentGone:
        # A node goes with its document; anything else is looked for in the next one.
        for index, condition in members:
            if condition.kind in (WatchKind.NODE_GONE, WatchKind.NODE_CHANGED):
                return index
        if document:
            await asyncio.sleep(seconds)
            return None
        await asyncio.sleep(min(seconds, _SETTLE))
        return None
    return None if found < 0 else members[found][0]
