"""The observation desk: runs one observation, and remembers what may outlive it (anchor, scope, the delta's base)."""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from typing import Final

from ues_core.contract import (
    Code,
    CollectRequest,
    Coverage,
    CoverageCaps,
    CoverageReason,
    Detail,
    DriverError,
    Find,
    FrameReach,
    Identity,
    Limits,
    NodeKey,
    Observation,
    ObservationReceipt,
    RefRefusal,
    Refusal,
    Scope,
    Support,
)
from ues_core.session._text import iso, unsupported
from ues_core.session.context import SessionContext, bounded
from ues_core.session.evidence import EvidenceBook
from ues_core.session.observing import Asked, Seen, make_observation

LAST_SCOPE: Final = "last-scope"
"""Alias of the scope root that a dispatched action retained."""

MAX_NODES: Final = 500
"""Nodes that a host may ask for in one observation."""

_CURSOR = re.compile(r"c(\d{1,9})\.(\d{1,9})")
_REACH = {FrameReach.NONE: 0, FrameReach.SAME_ORIGIN: 1, FrameReach.ALL: 2}


@dataclass(frozen=True, slots=True)
class Retained:
    """A scope root kept by a dispatched action until the next observation."""

    root_ref: str
    key: NodeKey
    scope: Scope
    document: str
    identity: Identity | None


@dataclass(frozen=True, slots=True)
class Ask:
    """The arguments of ``Session.observe``."""

    page: str | None = None
    max_nodes: int | None = None
    within: str | None = None
    find: Find | None = None
    since: int | None = None
    cursor: str | None = None
    detail: Detail = Detail.CONTROLS
    frames: FrameReach | None = None
    closed_shadow: Support | None = None
    verify_coverage: bool = False
    anchor_last_action: bool = False
    boxes: bool = False


def _continued(ask: Ask, seen: Seen) -> Ask:
    """What a cursor goes on with is what the listing was asked for; only budgets and boxes may be others."""
    return replace(
        ask, page=seen.page, find=seen.find, detail=seen.detail, frames=seen.frames, closed_shadow=seen.closed_shadow
    )


class ObservationDesk:
    """One session's observations. Used under the session's lock only."""

    def __init__(self, ctx: SessionContext, evidence: EvidenceBook) -> None:
        self._ctx = ctx
        self._evidence = evidence
        self.seen: Seen | None = None
        self.page = ""
        """The page that calls without a page mean."""
        self._epoch = 0
        self._anchor: NodeKey | None = None
        self._retained: Retained | None = None

    # -- what an action leaves behind --------------------------------------------------------------------------------

    def dispatched(self, key: NodeKey | None) -> None:
        """An input left: suspend the refs, remember the acted node and the scope root."""
        self._ctx.refs.suspend()
        self._anchor = key
        self._retained = None
        seen = self.seen
        if seen is not None and seen.scope is not None and seen.scope_key is not None:
            self._retained = Retained(
                root_ref=seen.scope.root_ref,
                key=seen.scope_key,
                scope=seen.scope,
                document=seen.document,
                identity=seen.identities.get(seen.scope_key),
            )

    def navigated(self) -> None:
        """The page's document was replaced."""
        self._anchor = None

    # -- observing ---------------------------------------------------------------------------------------------------

    async def observe(self, ask: Ask) -> Observation:
        """One observation, or a refusal that leaves the latest one as usable as it was."""
        ctx = self._ctx
        skip = self._skip(ask)
        if skip and self.seen is not None:
            ask = _continued(ask, self.seen)
        self._check_capabilities(ask)
        page = ask.page or self.page
        limits = Limits(
            max_nodes=ctx.limits.max_nodes if ask.max_nodes is None else max(1, min(ask.max_nodes, MAX_NODES)),
            max_bytes=ctx.limits.max_bytes,
        )
        if ask.anchor_last_action and self._anchor is None:
            raise Refusal(
                "No acted node is remembered.",
                code=Code.ANCHOR_UNAVAILABLE,
                next_step="Act on a node first; navigations and actions without a node forget it.",
            )
        base = self._base(ask, page)
        listing = self.seen if skip else None
        within, scope_identity = self._within(ask) if listing is None else (listing.scope_key, None)
        if within is not None and ask.page is None:
            page = within.page
        request = CollectRequest(
            within=within,
            detail=ask.detail,
            max_nodes=limits.max_nodes,
            max_bytes=limits.max_bytes,
            find=ask.find,
            skip=skip,
            frames=ask.frames if ask.frames is not None else self._own_frames(),
            frame_origins=ctx.frame_origins,
            closed_shadow=ask.closed_shadow or Support.NONE,
            anchor=self._anchor if ask.anchor_last_action else None,
            boxes=ask.boxes,
        )
        deadline = ctx.timeouts.observe
        collected = await bounded(ctx.driver.collect(page, request, deadline=deadline), deadline, "observe the page")
        if within is not None:
            self._check_root(collected.root is not None, within.document, collected.surface.document)
        if base is not None and collected.surface.document != base.document:
            raise RefRefusal(
                "The document was replaced since that observation.",
                code=Code.DOCUMENT_GONE,
                next_step="Observe without 'since'.",
            )
        if listing is not None and collected.surface.document != listing.document:
            raise RefRefusal(
                "The document was replaced since the listing began.",
                code=Code.OBSERVATION_STALE,
                next_step="Observe from the start.",
            )
        probed = ask.verify_coverage or ask.closed_shadow in (Support.DETECT, Support.ACT)
        coverage = await self._coverage(within or page, ask.closed_shadow is Support.ACT) if probed else None
        self._evidence.take(await bounded(ctx.driver.drain(), ctx.timeouts.wait, "report its events"))
        now = ctx.now()
        self._epoch += 1
        observation, seen = make_observation(
            collected,
            Asked(
                limits=limits,
                detail=ask.detail,
                within=ask.within if listing is None or listing.scope is None else listing.scope.ref,
                scope_identity=scope_identity,
                since=ask.since,
                skip=skip,
                anchored=ask.anchor_last_action,
                find=ask.find,
                frames=ask.frames,
                closed_shadow=ask.closed_shadow,
            ),
            owner=ctx.owner,
            session=ctx.session_id,
            refs=ctx.refs,
            epoch=self._epoch,
            epoch_tag=ctx.refs.draw_epoch_tag(ctx.entropy),
            now=now,
            ttl=ctx.observation_ttl,
            before=base if base is not None else listing,
            coverage=coverage,
            dialogs=self._evidence.held(),
            detectors=ctx.detectors,
        )
        self.seen = seen
        self._retained = None
        ctx.recorder.receipt(
            ObservationReceipt(
                receipt_id=ctx.new_id("obs"),
                owner=ctx.owner,
                session=ctx.session_id,
                page=observation.page,
                document=seen.document,
                epoch=observation.epoch,
                fingerprint=observation.fingerprint,
                digest=observation.digest,
                nodes=len(collected.nodes),
                truncated=observation.truncated,
                at=iso(now),
            )
        )
        return observation

    # -- private -----------------------------------------------------------------------------------------------------

    def _own_frames(self) -> FrameReach:
        declared = self._ctx.capabilities.frames
        return FrameReach.SAME_ORIGIN if _REACH[declared] >= _REACH[FrameReach.SAME_ORIGIN] else FrameReach.NONE

    def _check_capabilities(self, ask: Ask) -> None:
        caps, name = self._ctx.capabilities, self._ctx.driver_name
        if ask.detail is Detail.CONTENT and not caps.content:
            raise unsupported("content", "detail=content", name)
        if ask.find is not None and not caps.find:
            raise unsupported("find", "find", name)
        if ask.frames is not None and _REACH[ask.frames] > _REACH[caps.frames]:
            raise unsupported(f"frames={ask.frames}", f"frames={ask.frames}", name)
        if ask.closed_shadow is Support.ACT and caps.closed_roots is not Support.ACT:
            raise unsupported("closed_roots=act", "closed_shadow=act", name)
        if (ask.verify_coverage or ask.closed_shadow is Support.DETECT) and caps.closed_roots is Support.NONE:
            raise unsupported("closed_roots=detect", "verify_coverage", name)

    def _skip(self, ask: Ask) -> int:
        if ask.cursor is None:
            return 0
        match = _CURSOR.fullmatch(ask.cursor)
        if match is None:
            raise Refusal("This is not a cursor.", code=Code.REF_INVALID, next_step="Copy it from the latest observation.")
        if self.seen is None or int(match[1]) != self.seen.epoch or int(match[2]) != self.seen.emitted:
            raise Refusal(
                "The cursor belongs to an older observation.", code=Code.OBSERVATION_STALE, next_step="Observe from the start."
            )
        if ask.since is not None or ask.within is not None:
            raise Refusal(
                "A cursor goes on with the latest observation; it takes neither 'since' nor 'within'.",
                code=Code.ACTION_INVALID,
                next_step="Pass the cursor alone.",
            )
        if self._ctx.refs.suspended:
            raise Refusal(
                "An action was dispatched since that observation.",
                code=Code.OBSERVATION_STALE,
                next_step="Observe from the start.",
            )
        return self.seen.emitted

    def _base(self, ask: Ask, page: str) -> Seen | None:
        if ask.since is None:
            return None
        seen = self.seen
        if seen is None:
            raise RefRefusal("There is no earlier observation.", code=Code.OBSERVATION_REQUIRED, next_step="Observe first.")
        if seen.epoch != ask.since or seen.page != page:
            raise RefRefusal(
                f"Epoch {ask.since} is not this page's latest observation (that is {seen.epoch}).",
                code=Code.OBSERVATION_STALE,
                next_step="Observe without 'since', or pass the latest epoch.",
            )
        if seen.scope is not None and ask.within is None:
            raise Refusal(
                "That observation was scoped.", code=Code.OBSERVATION_STALE, next_step="Pass its scope as 'within' as well."
            )
        return seen

    def _within(self, ask: Ask) -> tuple[NodeKey | None, Identity | None]:
        if ask.within is None:
            return None, None
        kept = self._retained
        if kept is not None and ask.within in (LAST_SCOPE, kept.root_ref):
            return kept.key, kept.identity
        if ask.within == LAST_SCOPE:
            raise RefRefusal(
                "No scope root is retained.",
                code=Code.SCOPE_UNAVAILABLE,
                next_step="It lives from an action dispatched on a scoped view to the next observation.",
            )
        entry = self._ctx.refs.resolve(ask.within, self._ctx.now())
        return entry.key, entry.identity

    def _check_root(self, found: bool, wanted_document: str, document: str) -> None:
        if found:
            return
        retained = self._retained is not None
        if wanted_document != document and retained:
            raise RefRefusal("The scope's document was replaced.", code=Code.SCOPE_UNAVAILABLE, next_step="Observe the page.")
        raise RefRefusal("The scope's root is no longer in the document.", code=Code.TARGET_GONE, next_step="Observe the page.")

    async def _coverage(self, target: NodeKey | str, pierced: bool) -> Coverage:
        # Who went into closed roots paid for finding them already; whether those were all is worth as much time again.
        caps = CoverageCaps(max_nodes=200_000, max_seconds=2.0) if pierced else CoverageCaps()
        try:
            return await bounded(
                self._ctx.driver.coverage(target, caps, deadline=self._ctx.timeouts.wait),
                self._ctx.timeouts.wait,
                "probe for closed shadow roots",
            )
        except DriverError:
            return Coverage(verified=False, reason=CoverageReason.ERROR)
