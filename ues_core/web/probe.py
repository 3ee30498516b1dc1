"""Looking for closed shadow roots: counted truthfully, within a budget of nodes and of time."""

from __future__ import annotations

import time
from typing import Any

from ues_core.contract import Code, Coverage, CoverageCaps, CoverageReason, DeadlineExceeded, DocumentGone, DriverError, NodeKey
from ues_core.web.deadline import Clock
from ues_core.web.transport import WebTransport


async def coverage(transport: WebTransport, target: NodeKey | str, caps: CoverageCaps, clock: Clock) -> Coverage:
    """Whether closed shadow roots may hide content of a page or of one node's subtree."""
    page, frame, n = (target.page, target.frame, target.n) if isinstance(target, NodeKey) else (target, "", 0)
    end = time.monotonic() + caps.max_seconds
    try:
        # The size is asked first, so that a document that is too large is never transferred.
        size = int(
            await transport.evaluate(page, frame, "countNodes", {"n": n, "limit": caps.max_nodes}, deadline=clock.left())
        )
        if size > caps.max_nodes:
            return Coverage(reason=CoverageReason.OVER_BUDGET, probed_nodes=caps.max_nodes + 1)
        root = await _tree(transport, page, frame, n, min(clock.left(), max(0.01, end - time.monotonic())))
    except DocumentGone:
        raise
    except DeadlineExceeded:
        return Coverage(reason=CoverageReason.OVER_BUDGET)
    except DriverError as error:
        if error.code in (Code.PAGE_UNKNOWN, Code.PAGE_CRASHED, Code.DIALOG_OPEN, Code.SESSION_CLOSED):
            raise
        return Coverage(reason=CoverageReason.ERROR)
    if root is None:
        return Coverage(reason=CoverageReason.ROOT_UNRESOLVED)
    return _count(root, caps, end)


async def _tree(transport: WebTransport, page: str, frame: str, n: int, seconds: float) -> dict[str, Any] | None:
    if n == 0:
        answer = await transport.cdp(page, "DOM.getDocument", {"depth": -1, "pierce": True}, deadline=seconds)
        root: dict[str, Any] = answer["root"]
        return root
    handle = await transport.object_of(page, frame, n, deadline=seconds)
    if not handle:
        return None
    params = {"objectId": handle, "depth": -1, "pierce": True}
    answer = await transport.cdp(page, "DOM.describeNode", params, deadline=seconds)
    await transport.cdp(page, "Runtime.releaseObjectGroup", {"objectGroup": "ues"}, deadline=seconds)
    node: dict[str, Any] = answer["node"]
    return node


def _count(root: dict[str, Any], caps: CoverageCaps, end: float) -> Coverage:
    nodes = closed = 0
    stack = [root]
    while stack:
        node = stack.pop()
        nodes += 1
        if node.get("shadowRootType") == "closed":
            closed += 1
        if nodes > caps.max_nodes or (nodes % 256 == 0 and time.monotonic() > end):
            return Coverage(reason=CoverageReason.OVER_BUDGET, closed_shadow_roots=closed, probed_nodes=nodes)
        stack.extend(node.get("children", ()))
        stack.extend(shadow for shadow in node.get("shadowRoots", ()) if shadow.get("shadowRootType") != "user-agent")
        if "contentDocument" in node:
            stack.append(node["contentDocument"])
    return Coverage(verified=closed == 0, closed_shadow_roots=closed, probed_nodes=nodes, reason=None)
