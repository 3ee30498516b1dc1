"""Waiting inside an in-memory surface: woken by changes, never polling."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from ues_core.contract import DocumentGone, NodeKey, WatchCondition, WatchKind, WatchOutcome
from ues_core.testing._document import LiveNode
from ues_core.testing._world import World


@dataclass(slots=True)
class _Seen:
    """What a condition on a node compares with."""

    state: object
    since: float


async def wait_for(world: World, page: str, conditions: tuple[WatchCondition, ...], deadline: float) -> WatchOutcome:
    """Wait until a condition holds; ``met`` is ``None`` when the deadline comes first."""
    clock = asyncio.get_running_loop().time
    started = clock()
    first = {index: _look(world, page, condition) for index, condition in enumerate(conditions)}
    stable = {index: _Seen(state, started) for index, state in first.items()}
    while True:
        now = clock()
        wake = started + deadline
        for index, condition in enumerate(conditions):
            state = _look(world, page, condition)
            if condition.kind in (WatchKind.QUIET, WatchKind.NODE_TEXT_STABLE):
                if state != stable[index].state:
                    stable[index] = _Seen(state, now)
                if now - stable[index].since >= condition.seconds:
                    return WatchOutcome(met=index, seconds=now - started)
                wake = min(wake, stable[index].since + condition.seconds)
            elif _holds(condition, state, first[index]):
                return WatchOutcome(met=index, seconds=now - started)
        if now - started >= deadline:
            return WatchOutcome(seconds=now - started)
        await world.next_change(wake - now)


def _look(world: World, page: str, condition: WatchCondition) -> object:
    """The part of the surface that a condition is about."""
    match condition.kind:
        case WatchKind.URL:
            return world.document(page).location
        case WatchKind.TEXT_PRESENT | WatchKind.TEXT_ABSENT:
            return world.document(page).text(None)
        case WatchKind.QUIET:
            return world.changes
        case WatchKind.DOCUMENT_READY:
            return True
        case _:
            return _node_state(world, condition.key)


def _node_state(world: World, key: NodeKey | None) -> object:
    live = _live(world, key)
    return None if live is None else (live.data, world.document(live_page(key)).text(live))


def live_page(key: NodeKey | None) -> str:
    """The page of a key."""
    return "" if key is None else key.page


def _live(world: World, key: NodeKey | None) -> LiveNode | None:
    if key is None:
        return None
    try:
        live = world.find(key)
    except DocumentGone:
        return None
    return live if live.connected else None


def _holds(condition: WatchCondition, state: object, first: object) -> bool:
    match condition.kind:
        case WatchKind.URL:
            return str(state).startswith(condition.text)
        case WatchKind.TEXT_PRESENT:
            return condition.text.casefold() in str(state).casefold()
        case WatchKind.TEXT_ABSENT:
            return condition.text.casefold() not in str(state).casefold()
        case WatchKind.NODE_GONE:
            return state is None
        case WatchKind.NODE_CHANGED:
            return state != first
        case _:
            return True
