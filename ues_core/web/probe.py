"""Looking for closed shadow roots: counted truthfully, within a budget of nodes, time and bytes.

Script cannot see them. The page lists the elements that may have one at all, the browser describes those in slices, and hands
over the closed roots among them, whose content is looked at in turn. So a page without possible hosts costs one round trip, and
nothing of a page that is too large is transferred.
"""

from __future__ import annotations

import asyncio
import json
import time
from typing import Any, Final

from ues_core.contract import Code, Coverage, CoverageCaps, CoverageReason, DeadlineExceeded, DocumentGone, DriverError, NodeKey
from ues_core.web.deadline import Clock
from ues_core.web.transport import FrameView, WebTransport
from ues_core.web.verification import verification_service

PROBE_BYTES: Final = 700_000
"""What a probe has the browser transfer, at most, about."""

_SLICE_BYTES: Final = 60_000
_OF_THE_PAGE: Final = (Code.PAGE_UNKNOWN, Code.PAGE_CRASHED, Code.DIALOG_OPEN, Code.SESSION_CLOSED)


async def coverage(transport: WebTransport, target: NodeKey | str, caps: CoverageCaps, clock: Clock) -> Coverage:
    """Whether closed shadow roots may hide content of a page or of one node's subtree, in all its frames.

    Frames of human-verification services are left out: nobody looks into them anyway.
    """
    page, frame, n = (target.page, target.frame, target.n) if isinstance(target, NodeKey) else (target, "", 0)
    probe = Probe(transport, page, caps, PROBE_BYTES, clock)
    try:
        view = next((view for view in transport.frames(page) if view.id == frame), None)
        if view is None:
            raise DocumentGone("The document to look through is gone.", next_step="Observe again.")
        await probe.frame(view, n)
        await probe.frames_below(view)
    except DocumentGone:
        raise
    except DeadlineExceeded:
        probe.reason = CoverageReason.OVER_BUDGET
    except DriverError as error:
        if error.code in _OF_THE_PAGE:
            raise
        probe.reason = CoverageReason.ERROR
    return Coverage(
        verified=probe.reason is None and probe.closed == probe.walked,
        closed_shadow_roots=probe.closed,
        probed_nodes=probe.nodes,
        pierced=probe.walked,
        reason=probe.reason,
    )


class Probe:
    """One look for closed roots, frame by frame; what it found and spent so far."""

    def __init__(self, transport: WebTransport, page: str, caps: CoverageCaps, max_bytes: int, clock: Clock) -> None:
        self.nodes = 0
        self.closed = 0
        self.walked = 0
        """Closed roots that the latest observation went into."""
        self.reason: CoverageReason | None = None
        """Why the look is not complete."""
        self._transport = transport
        self._page = page
        self._caps = caps
        self._bytes = max_bytes
        self._clock = clock
        self._end = time.monotonic() + caps.max_seconds
        self._embedded: dict[str, set[int]] = {}

    async def frame(self, view: FrameView, n: int = 0) -> None:
        """Look through one frame, or a node's subtree in it; the closed roots found are made known to the collector there."""
        answer = await self._ask(view, "seekHosts", {"n": n, "limit": self._limit()})
        if answer.get("gone"):
            self.reason = CoverageReason.ROOT_UNRESOLVED
            return
        self._take(view, answer)
        at = 0
        while self.reason is None:
            plan = await self._ask(view, "planHosts", {"from": at, "weight": _SLICE_BYTES})
            to, weight = int(plan["to"]), int(plan["weight"])
            if to == at:
                break
            if weight > self._bytes or time.monotonic() > self._end:
                self.reason = CoverageReason.OVER_BUDGET
                break
            self._bytes -= weight
            await asyncio.gather(*(self._add(view, backend) for backend in await self._closed(view, at, to)))
            at = to
        if at:
            await self._cdp(view, "Runtime.releaseObjectGroup", {"objectGroup": "ues"})

    async def frames_below(self, view: FrameView) -> None:
        """Look through the frames in what was looked through."""
        for child in [known for known in self._transport.frames(self._page) if known.id and known.parent == view.id]:
            if self.reason is not None or verification_service(child.url):
                continue
            try:
                owner = await self._transport.frame_owner(self._page, child.id, deadline=self._left())
                if owner not in self._embedded.get(view.id, ()):
                    continue
                await self.frame(child)
                await self.frames_below(child)
            except DocumentGone:
                self.reason = CoverageReason.ERROR

    def _left(self) -> float:
        return min(self._clock.left(), max(0.05, self._end - time.monotonic()))

    def _limit(self) -> int:
        return max(0, self._caps.max_nodes - self.nodes)

    def _take(self, view: FrameView, answer: dict[str, Any]) -> None:
        self.nodes += int(answer["nodes"])
        self._embedded.setdefault(view.id, set()).update(answer["frames"])
        if self.nodes > self._caps.max_nodes:
            self.reason = CoverageReason.OVER_BUDGET

    async def _closed(self, view: FrameView, at: int, to: int) -> list[int]:
        """Backend ids of the closed roots of some of the possible hosts."""
        params = {
            "expression": f"__ues.hosts({at},{to})",
            "uniqueContextId": self._transport.world(self._page, view.id)[0],
            "objectGroup": "ues",
            "serializationOptions": {
                "serialization": "deep",
                "maxDepth": 2,
                "additionalParameters": {"maxNodeDepth": 0, "includeShadowTree": "all"},
            },
        }
        answer = await self._cdp(view, "Runtime.evaluate", params)
        found: list[int] = []
        for element in answer["result"].get("deepSerializedValue", {}).get("value", ()):
            root = (element.get("value", {}).get("shadowRoot") or {}).get("value", {})
            if root.get("mode") == "closed":
                found.append(int(root["backendNodeId"]))
        return found

    async def _add(self, view: FrameView, backend: int) -> None:
        self.closed += 1
        number = self._transport.world(self._page, view.id)[1]
        node = {"backendNodeId": backend, "executionContextId": number, "objectGroup": "ues"}
        found = await self._cdp(view, "DOM.resolveNode", node)
        call = {
            "functionDeclaration": "function(limit){return __ues.addRoot(this,limit)}",
            "objectId": found["object"]["objectId"],
            "arguments": [{"value": self._limit()}],
            "returnByValue": True,
        }
        answer = json.loads((await self._cdp(view, "Runtime.callFunctionOn", call))["result"]["value"])
        self.walked += bool(answer["walked"])
        self._take(view, answer)

    async def _ask(self, view: FrameView, function: str, argument: dict[str, Any]) -> dict[str, Any]:
        text = await self._transport.evaluate(
            self._page, view.id, function, argument, deadline=self._left(), document=view.document
        )
        answer: dict[str, Any] = json.loads(text)
        return answer

    async def _cdp(self, view: FrameView, method: str, params: dict[str, Any]) -> dict[str, Any]:
        return await self._transport.cdp(self._page, method, params, deadline=self._left(), frame=view.id)
