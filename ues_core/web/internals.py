"""Roles and states in the internals of custom elements: no script sees them, the browser's accessibility tree does.

The tree is asked only about elements whose kind the page left open, at most ``MOST`` of a frame, and only for as long as the
observation lasts: with it switched on, every change of a page costs the browser more.
"""

from __future__ import annotations

import asyncio
from typing import Any, Final

from ues_core.contract import DocumentGone, DriverError
from ues_core.web.deadline import Clock
from ues_core.web.transport import FrameView, WebTransport

_STATES: Final = ("checked", "pressed", "selected", "expanded")


async def learn_internals(transport: WebTransport, page: str, view: FrameView, clock: Clock) -> bool:
    """Ask about the elements that the collector wonders about and tell it; whether there is anything to tell.

    A browser that does not answer costs the observation nothing but what it would not have known: such nodes have no role.
    """
    world = transport.world(page, view.id)[0]

    async def cdp(method: str, **params: Any) -> dict[str, Any]:
        return await transport.cdp(page, method, params, deadline=clock.left(), frame=view.id)

    try:
        answer = await cdp(
            "Runtime.evaluate",
            expression="__ues.askedAbout()",
            uniqueContextId=world,
            serializationOptions={
                "serialization": "deep",
                "maxDepth": 2,
                "additionalParameters": {"maxNodeDepth": 0, "includeShadowTree": "none"},
            },
        )
        elements = answer["result"].get("deepSerializedValue", {}).get("value", ())
        ids = [int(element["value"]["backendNodeId"]) for element in elements]
        await cdp("Accessibility.enable")
        try:
            trees = await asyncio.gather(
                *(cdp("Accessibility.getPartialAXTree", backendNodeId=one, fetchRelatives=False) for one in ids)
            )
        finally:
            await cdp("Accessibility.disable")
    except DocumentGone:
        raise
    except (DriverError, KeyError, TypeError, ValueError):
        return False
    facts = [_facts(tree) for tree in trees]
    if not any(facts):
        return False
    await transport.evaluate(page, view.id, "learn", {"facts": facts}, deadline=clock.left(), document=view.document)
    return True


def _facts(tree: dict[str, Any]) -> dict[str, Any]:
    """``{role, checked, ...}`` of the one node in the answer; empty for what is left out of the tree."""
    nodes = tree.get("nodes") or [{}]
    node = nodes[0]
    if node.get("ignored"):
        return {}
    facts: dict[str, Any] = {"role": str(node.get("role", {}).get("value", ""))}
    for found in node.get("properties", ()):
        if found.get("name") in _STATES:
            facts[found["name"]] = found.get("value", {}).get("value")
    return facts
