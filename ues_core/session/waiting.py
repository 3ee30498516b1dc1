"""Waiting for expected states, bounded."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import Final

from ues_core.contract import (
    Collected,
    CollectRequest,
    Detail,
    DriverError,
    DriverEvent,
    Events,
    Expectation,
    FrameReach,
    Verification,
    VerificationStatus,
)
from ues_core.session.context import SessionContext, bounded
from ues_core.session.evidence import EvidenceBook
from ues_core.session.verifying import check, needs_nodes, verdict

POLL_SECONDS: Final = 0.1
"""Between two looks at the surface while an expected state has not been seen."""
LOOK_NODES: Final = 1_000
"""Nodes looked at for an expected state."""


class Watcher:
    """Looks at the surface until the expected states are seen or time is up."""

    def __init__(self, ctx: SessionContext, evidence: EvidenceBook) -> None:
        self._ctx = ctx
        self._evidence = evidence

    async def verify(
        self,
        expectations: Sequence[Expectation],
        page: str,
        *,
        own: Sequence[bool],
        needed: bool,
        seconds: float | None = None,
    ) -> Verification:
        """The verdict. ``own`` are facts that the driver saw by itself (a filled value, a chosen option)."""
        if not expectations:
            if own:
                status = VerificationStatus.VERIFIED if all(own) else VerificationStatus.CONTRADICTED
                return Verification(status=status)
            return verdict((), needed=needed)
        limit = self._ctx.timeouts.wait if seconds is None else seconds
        until = time.monotonic() + limit
        happened: list[DriverEvent] = []
        while True:
            found = await self._look(expectations, page, happened)
            if found.status is VerificationStatus.VERIFIED or time.monotonic() >= until:
                return found
            await asyncio.sleep(POLL_SECONDS)

    async def _look(self, expectations: Sequence[Expectation], page: str, happened: list[DriverEvent]) -> Verification:
        ctx = self._ctx
        collected: Collected | None = None
        location = title = ""
        try:
            happened.extend(self._evidence.take(await bounded(ctx.driver.drain(), ctx.timeouts.wait, "report its events")))
            surface = await bounded(ctx.driver.surface(page, deadline=ctx.timeouts.wait), ctx.timeouts.wait, "say where it is")
            location, title = surface.location, surface.title
            if needs_nodes(expectations):
                request = CollectRequest(
                    detail=Detail.CONTENT if ctx.capabilities.content else Detail.CONTROLS,
                    max_nodes=LOOK_NODES,
                    max_bytes=1_048_576,
                    frames=FrameReach.NONE if ctx.capabilities.frames is FrameReach.NONE else FrameReach.SAME_ORIGIN,
                )
                collected = await bounded(
                    ctx.driver.collect(page, request, deadline=ctx.timeouts.wait), ctx.timeouts.wait, "look at the page"
                )
        except DriverError:
            collected = None
        keys = {entry.ref: entry.key for entry in ctx.refs.entries()}
        checks = [check(e, collected, Events(events=tuple(happened)), location, title, keys) for e in expectations]
        return verdict(checks, needed=True)
