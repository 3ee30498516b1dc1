"""Collecting: one round trip for the main frame, one for each same-origin frame in it, merged into one answer."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import astuple
from typing import Any, Final, NamedTuple

from pydantic import ValidationError

from ues_core.contract import (
    AnchorFacts,
    Code,
    Collected,
    CollectRequest,
    CoverageCaps,
    DeadlineExceeded,
    DocumentGone,
    DriverError,
    FrameNote,
    FrameReach,
    NodeFacts,
    NodeKey,
    Support,
    TruncationReason,
    origin_of,
)
from ues_core.web.crossing import Mapping2D, beyond
from ues_core.web.deadline import Clock
from ues_core.web.internals import learn_internals
from ues_core.web.probe import Probe
from ues_core.web.transport import FrameView, WebTransport
from ues_core.web.verification import verification_service

Base = tuple[float, float, float, float, float, float]
"""How points of a frame's viewport are points of the page's, as a ``Mapping2D``."""
UNMOVED: Final[Base] = (1.0, 0.0, 0.0, 1.0, 0.0, 0.0)


class _Place(NamedTuple):
    """Where a frame is, as its parent saw it: how the outermost ancestor of the parent's origin is mapped, how the frame itself."""

    around: Base
    own: Base
    same: bool


FRAMES_LIMIT: Final = 20
"""Frames entered in one observation, at most."""

PIERCE_CAPS: Final = CoverageCaps(max_nodes=200_000, max_seconds=3.0)
"""How far closed shadow roots are looked for before an observation that goes into them."""
PIERCE_BYTES: Final = 8_000_000

_SHARE: Final = 0.6
"""Of the time that is left for an observation, so much may go by in the page: then it tells what it has."""
_FOREIGN: Final = '{"foreign":true}'
"""The answer of a frame that turned out to be of another origin than its parent."""

NOT_TRAVERSED: Final = TruncationReason.FRAME_NOT_TRAVERSED
_OF_THE_PAGE: Final = (Code.PAGE_UNKNOWN, Code.PAGE_CRASHED, Code.DIALOG_OPEN, Code.SESSION_CLOSED)


async def collect(transport: WebTransport, page: str, request: CollectRequest, clock: Clock) -> Collected:
    """Facts of the observable nodes of a page or subtree."""
    within = request.within
    frame = within.frame if within is not None else ""
    view = _view(transport, page, frame)
    if within is not None and within.document != view.document:
        raise _gone()
    base: Base = UNMOVED
    if frame and request.boxes:
        base = await _base(transport, page, view, clock)
    if _reaches_beyond(request):
        await transport.frames_ready(page, deadline=clock.left())
    n = within.n if within is not None else 0
    complete = await _pierce(transport, page, view, request, n, clock)
    frames, body = await _ask(transport, page, view, request, n, base, clock)
    if body in ('{"gone":true}', _FOREIGN):
        raise DriverError("The node to look within is gone.", code=Code.TARGET_GONE, next_step="Observe the whole page.")
    collected = _unverified(parse(body), complete)
    return await _with_frames(transport, page, request, collected, frames, view, base, clock) if frames else collected


def parse(text: str) -> Collected:
    """The collector's answer, validated. Raises ``DriverError`` for what is none."""
    try:
        return Collected.model_validate_json(text)
    except ValidationError as error:
        raise DriverError(
            f"The page-side collector answered something that is no observation: {str(error)[:300]}",
            next_step="This is a bug of the kit; the page's address helps to find it.",
        ) from error


async def _ask(
    transport: WebTransport,
    page: str,
    view: FrameView,
    request: CollectRequest,
    within: int,
    base: Base,
    clock: Clock,
    own: Base | None = None,
) -> tuple[list[dict[str, Any]], str]:
    """The frames in a frame, and what it shows. Where custom elements may have roles in their internals, it is looked at twice."""
    anchor = request.anchor
    argument = {
        "page": page,
        "frame": view.id,
        "document": view.document,
        "within": within,
        "detail": str(request.detail),
        "max_nodes": request.max_nodes,
        "max_bytes": request.max_bytes,
        "milliseconds": clock.left() * _SHARE * 1000,
        "scan_window": request.scan_window,
        "find": {"text": request.find.text, "role": request.find.role} if request.find is not None else None,
        "skip": request.skip,
        "boxes": request.boxes,
        "any": request.frames is FrameReach.ALL or within > 0,
        "origins": _origins(transport, page, request),
        "base": base,
        "own": own,
        "pierce": request.closed_shadow is Support.ACT,
        "learned": False,
        "anchor": anchor.n if anchor is not None and (anchor.frame, anchor.document) == (view.id, view.document) else 0,
    }
    answer = await transport.evaluate(page, view.id, "collect", argument, deadline=clock.left(), document=view.document)
    frames, asked, body = _apart(answer)
    if asked and await learn_internals(transport, page, view, clock):
        argument |= {"learned": True, "milliseconds": clock.left() * _SHARE * 1000}
        answer = await transport.evaluate(page, view.id, "collect", argument, deadline=clock.left(), document=view.document)
        frames, _, body = _apart(answer)
    return frames, body


def _apart(answer: str) -> tuple[list[dict[str, Any]], int, str]:
    """The collector's answer: frames, how many elements it wonders about, and the observation itself."""
    head, _, body = answer.rpartition("\n")
    told: dict[str, Any] = json.loads(head) if head else {}
    return told.get("frames", []), int(told.get("asked", 0)), body


async def _with_frames(
    transport: WebTransport,
    page: str,
    request: CollectRequest,
    collected: Collected,
    found: list[dict[str, Any]],
    parent: FrameView,
    base: Base,
    clock: Clock,
    room: int = FRAMES_LIMIT,
) -> Collected:
    """The page with its frames, ``room`` of them at most, however they nest."""
    reasons = set(collected.reasons)
    notes: list[FrameNote] = list(collected.frames)
    nodes: list[NodeFacts] = list(collected.nodes)
    size = {"candidates": collected.candidates, "hidden_matches": collected.hidden_matches, "pierced": collected.pierced}
    partial, anchor = collected.hidden_matches_partial, collected.anchor
    children = await _children(transport, page, parent, clock) if request.frames is not FrameReach.NONE else {}
    for note in found:
        url = str(note["src"])
        child = children.get(int(note["n"]))
        service = verification_service(url) or (verification_service(child.url) if child is not None else "")
        origin = (origin_of(child.url) if child is not None else origin_of(url)) or ""
        if service:
            reasons.add(TruncationReason.HUMAN_VERIFICATION_FRAME)
            notes.append(FrameNote(origin=origin, reason=TruncationReason.HUMAN_VERIFICATION_FRAME, service=service))
            continue
        if not note["shown"]:
            continue
        barred = _barred(transport, page, request, child, bool(note["same"])) if len(notes) < room else NOT_TRAVERSED
        if barred is not None or child is None:
            reasons.add(barred or NOT_TRAVERSED)
            notes.append(FrameNote(origin=origin, reason=barred or NOT_TRAVERSED))
            continue
        left = request.max_nodes - len(nodes)
        if left <= 0 or TruncationReason.BYTE_BUDGET_EXCEEDED in reasons:
            reasons.add(TruncationReason.NODE_BUDGET_EXCEEDED)
            notes.append(FrameNote(origin=origin, reason=TruncationReason.FRAME_NOT_TRAVERSED))
            partial = True
            continue
        place = _Place(base, tuple(note["map"]), bool(note["same"]))
        # A cursor counts the nodes of the whole listing, of which those of this frame come after all before them.
        listed = size["candidates"] - size["hidden_matches"]
        rest = request.model_copy(update={"skip": max(0, request.skip - listed)})
        inner = await _inner(transport, page, rest, child, left, nodes, place, clock, room - len(notes) - 1)
        if isinstance(inner, TruncationReason):
            reasons.add(inner)
            notes.append(FrameNote(origin=origin, reason=inner))
            continue
        notes.append(FrameNote(origin=origin, entered=True))
        notes.extend(inner.frames)
        first = len(nodes)
        nodes.extend(_moved(node, first, note) for node in inner.nodes)
        reasons.update(inner.reasons)
        size = {name: value + getattr(inner, name) for name, value in size.items()}
        partial = partial or inner.hidden_matches_partial
        if inner.anchor is not None and inner.anchor.connected:
            index = inner.anchor.index
            anchor = AnchorFacts(connected=True, index=None if index is None else index + first)
    order = [reason for reason in TruncationReason if reason in reasons]
    return collected.model_copy(
        update={
            "nodes": tuple(nodes),
            "reasons": tuple(order),
            "frames": tuple(notes),
            "hidden_matches_partial": partial,
            "anchor": anchor,
            **size,
        }
    )


async def _inner(
    transport: WebTransport,
    page: str,
    request: CollectRequest,
    child: FrameView,
    left: int,
    nodes: list[NodeFacts],
    place: _Place,
    clock: Clock,
    room: int,
) -> Collected | TruncationReason:
    """What one frame shows, or why it is left out."""
    spent = sum(len(node.name) + 60 for node in nodes)
    smaller = request.model_copy(update={"max_nodes": left, "max_bytes": max(256, request.max_bytes - spent), "within": None})
    try:
        # A frame that hangs in a process of its own must not cost the page its observation.
        share = Clock(clock.left() / 2)
        complete = await _pierce(transport, page, child, smaller, 0, share)
        frames, body = await _ask(transport, page, child, smaller, 0, place.around, share, place.own)
        if body == _FOREIGN:
            return NOT_TRAVERSED
        collected = _unverified(parse(body), complete)
        inside = place.around if place.same else place.own
        return (
            await _with_frames(transport, page, smaller, collected, frames, child, inside, clock, room) if frames else collected
        )
    except DocumentGone:
        return TruncationReason.FRAME_UNREADABLE
    except DriverError as error:
        if error.code in _OF_THE_PAGE:
            raise
        return TruncationReason.FRAME_UNREADABLE


async def _pierce(transport: WebTransport, page: str, view: FrameView, request: CollectRequest, n: int, clock: Clock) -> bool:
    """Have the browser hand over the closed shadow roots of a frame, when they are asked for; whether those are all."""
    if request.closed_shadow is not Support.ACT:
        return True
    probe = Probe(transport, page, PIERCE_CAPS, PIERCE_BYTES, clock)
    try:
        await probe.frame(view, n)
    except DeadlineExceeded:
        if clock.left() < PIERCE_CAPS.max_seconds / 10:
            raise
        return False
    return probe.reason is None


def _unverified(collected: Collected, complete: bool) -> Collected:
    if complete:
        return collected
    return collected.model_copy(update={"reasons": (*collected.reasons, TruncationReason.SHADOW_COVERAGE_UNVERIFIED)})


def _reaches_beyond(request: CollectRequest) -> bool:
    return request.frames is FrameReach.ALL or (bool(request.frame_origins) and request.frames is not FrameReach.NONE)


def _origins(transport: WebTransport, page: str, request: CollectRequest) -> list[str]:
    """Origins whose frames may be entered although their parents cannot look into them."""
    if request.frames is FrameReach.NONE or not request.frame_origins:
        return []
    own = next((origin_of(view.url) for view in transport.frames(page) if not view.id), None)
    return [*request.frame_origins, *([own] if own else [])]


def _barred(
    transport: WebTransport, page: str, request: CollectRequest, child: FrameView | None, same: bool
) -> TruncationReason | None:
    """Why a frame is not entered; ``None`` when it is."""
    if request.frames is FrameReach.NONE:
        return NOT_TRAVERSED
    if same or request.frames is FrameReach.ALL:
        allowed = True
    else:
        allowed = child is not None and origin_of(child.url) in _origins(transport, page, request)
    if not allowed:
        return NOT_TRAVERSED
    if child is None:
        return TruncationReason.FRAME_UNREADABLE if _reaches_beyond(request) else NOT_TRAVERSED
    return None


async def _base(transport: WebTransport, page: str, view: FrameView, clock: Clock) -> Base:
    """Where the outermost ancestor of the frame's own origin begins in the page's viewport, and how it is turned and stretched."""
    answer = json.loads(await transport.evaluate(page, view.id, "outward", {}, deadline=clock.left(), document=view.document))
    out = answer.get("out")
    if not out:
        return UNMOVED
    return astuple(Mapping2D.between(out["points"], await beyond(transport, page, view, out, clock)))


async def _children(transport: WebTransport, page: str, parent: FrameView, clock: Clock) -> dict[int, FrameView]:
    found: dict[int, FrameView] = {}
    for view in transport.frames(page):
        if view.id and view.parent == parent.id and len(found) < FRAMES_LIMIT:
            try:
                found[await transport.frame_owner(page, view.id, deadline=clock.left())] = view
            except DocumentGone:
                continue
    return found


def _moved(node: NodeFacts, first: int, note: Mapping[str, Any]) -> NodeFacts:
    """A frame's node in the list of the page: below what is around the frame, and in view only if the frame is."""
    update: dict[str, Any] = {"in_viewport": node.in_viewport and bool(note["seen"])}
    if node.parent is not None:
        update["parent"] = node.parent + first
    elif node.parent_key is None:
        around = note.get("parent_key")
        update["parent"], update["parent_key"] = note["parent"], NodeKey(**around) if around else None
    return node.model_copy(update=update)


def _view(transport: WebTransport, page: str, frame: str) -> FrameView:
    for view in transport.frames(page):
        if view.id == frame:
            return view
    raise _gone()


def _gone() -> DocumentGone:
    return DocumentGone("The document that this call meant was replaced.", next_step="Observe again.")
