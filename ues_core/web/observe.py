"""Collecting: one round trip for the main frame, one for each same-origin frame in it, merged into one answer."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from pydantic import ValidationError

from ues_core.contract import (
    AnchorFacts,
    Code,
    Collected,
    CollectRequest,
    DocumentGone,
    DriverError,
    FrameNote,
    FrameReach,
    NodeFacts,
    TruncationReason,
    origin_of,
)
from ues_core.web.deadline import Clock
from ues_core.web.transport import FrameView, WebTransport

FRAMES_LIMIT: Final = 20
"""Frames entered in one observation, at most."""

_FOREIGN: Final = '{"foreign":true}'
"""The answer of a frame that turned out to be of another origin than its parent."""

# Services that tell people from programs: their frames are named and never entered.
_HUMAN_VERIFICATION: Final = (
    ("recaptcha", ("google.com", "recaptcha.net"), "/recaptcha/"),
    ("hcaptcha", ("hcaptcha.com",), ""),
    ("turnstile", ("challenges.cloudflare.com",), ""),
    ("arkose", ("arkoselabs.com", "funcaptcha.com"), ""),
    ("geetest", ("geetest.com",), ""),
    ("datadome", ("captcha-delivery.com",), ""),
)


@dataclass(slots=True)
class _Entered:
    note: dict[str, Any]
    view: FrameView


async def collect(transport: WebTransport, page: str, request: CollectRequest, clock: Clock) -> Collected:
    """Facts of the observable nodes of a page or subtree."""
    within = request.within
    frame = within.frame if within is not None else ""
    view = _view(transport, page, frame)
    if within is not None and within.document != view.document:
        raise _gone()
    answer = await _ask(transport, page, view, request, within.n if within is not None else 0, clock)
    head, _, body = answer.rpartition("\n")
    if body in ('{"gone":true}', _FOREIGN):
        raise DriverError("The node to look within is gone.", code=Code.TARGET_GONE, next_step="Observe the whole page.")
    collected = parse(body)
    return await _with_frames(transport, page, request, collected, json.loads(head), view, clock) if head else collected


def parse(text: str) -> Collected:
    """The collector's answer, validated. Raises ``DriverError`` for what is none."""
    try:
        return Collected.model_validate_json(text)
    except ValidationError as error:
        raise DriverError(
            f"The page-side collector answered something that is no observation: {str(error)[:300]}",
            next_step="This is a bug of the kit; the page's address helps to find it.",
        ) from error


async def _ask(transport: WebTransport, page: str, view: FrameView, request: CollectRequest, within: int, clock: Clock) -> str:
    anchor = request.anchor
    argument = {
        "page": page,
        "frame": view.id,
        "document": view.document,
        "within": within,
        "detail": str(request.detail),
        "max_nodes": request.max_nodes,
        "max_bytes": request.max_bytes,
        "scan_window": request.scan_window,
        "find": {"text": request.find.text, "role": request.find.role} if request.find is not None else None,
        "skip": request.skip,
        "boxes": request.boxes,
        "anchor": anchor.n if anchor is not None and (anchor.frame, anchor.document) == (view.id, view.document) else 0,
    }
    return await transport.evaluate(page, view.id, "collect", argument, deadline=clock.left(), document=view.document)


async def _with_frames(
    transport: WebTransport,
    page: str,
    request: CollectRequest,
    collected: Collected,
    found: list[dict[str, Any]],
    parent: FrameView,
    clock: Clock,
) -> Collected:
    reasons = set(collected.reasons)
    notes: list[FrameNote] = list(collected.frames)
    nodes: list[NodeFacts] = list(collected.nodes)
    size = {"candidates": collected.candidates, "hidden_matches": collected.hidden_matches}
    partial, anchor = collected.hidden_matches_partial, collected.anchor
    children = await _children(transport, page, parent, clock) if request.frames is not FrameReach.NONE else {}
    for note in found:
        url = str(note["src"])
        service = verification_service(url)
        child = children.get(int(note["n"]))
        origin = (origin_of(child.url) if child is not None else origin_of(url)) or ""
        if service:
            reasons.add(TruncationReason.HUMAN_VERIFICATION_FRAME)
            notes.append(FrameNote(origin=origin, reason=TruncationReason.HUMAN_VERIFICATION_FRAME, service=service))
            continue
        if not note["shown"]:
            continue
        if not note["same"] or child is None or len(notes) >= FRAMES_LIMIT:
            reasons.add(TruncationReason.FRAME_NOT_TRAVERSED)
            notes.append(FrameNote(origin=origin, reason=TruncationReason.FRAME_NOT_TRAVERSED))
            continue
        left = request.max_nodes - len(nodes)
        if left <= 0 or TruncationReason.BYTE_BUDGET_EXCEEDED in reasons:
            reasons.add(TruncationReason.NODE_BUDGET_EXCEEDED)
            notes.append(FrameNote(origin=origin, reason=TruncationReason.FRAME_NOT_TRAVERSED))
            partial = True
            continue
        inner = await _inner(transport, page, request, child, left, nodes, clock)
        if isinstance(inner, TruncationReason):
            reasons.add(inner)
            notes.append(FrameNote(origin=origin, reason=inner))
            continue
        notes.append(FrameNote(origin=origin, entered=True))
        notes.extend(inner.frames)
        base = len(nodes)
        nodes.extend(_moved(node, base, note["parent"]) for node in inner.nodes)
        reasons.update(inner.reasons)
        size = {name: value + getattr(inner, name) for name, value in size.items()}
        partial = partial or inner.hidden_matches_partial
        if inner.anchor is not None and inner.anchor.connected:
            index = inner.anchor.index
            anchor = AnchorFacts(connected=True, index=None if index is None else index + base)
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
    clock: Clock,
) -> Collected | TruncationReason:
    """What one frame shows, or why it is left out."""
    spent = sum(len(node.name) + 60 for node in nodes)
    smaller = request.model_copy(
        update={"max_nodes": left, "max_bytes": max(256, request.max_bytes - spent), "within": None, "skip": 0}
    )
    try:
        answer = await _ask(transport, page, child, smaller, 0, clock)
        head, _, body = answer.rpartition("\n")
        if body == _FOREIGN:
            return TruncationReason.FRAME_NOT_TRAVERSED
        collected = parse(body)
        return await _with_frames(transport, page, smaller, collected, json.loads(head), child, clock) if head else collected
    except DocumentGone:
        return TruncationReason.FRAME_UNREADABLE


async def _children(transport: WebTransport, page: str, parent: FrameView, clock: Clock) -> dict[int, FrameView]:
    found: dict[int, FrameView] = {}
    for view in transport.frames(page):
        if view.id and view.parent == parent.id and len(found) < FRAMES_LIMIT:
            try:
                found[await transport.frame_owner(page, view.id, deadline=clock.left())] = view
            except DocumentGone:
                continue
    return found


def _moved(node: NodeFacts, base: int, parent: int | None) -> NodeFacts:
    return node.model_copy(update={"parent": parent if node.parent is None else node.parent + base})


def verification_service(url: str) -> str:
    """The name of the known human-verification service that a frame's address belongs to; empty for all others."""
    try:
        parts = urlsplit(url)
        host = (parts.hostname or "").lower()
    except ValueError:
        return ""
    for name, hosts, path in _HUMAN_VERIFICATION:
        if any(host == known or host.endswith("." + known) for known in hosts) and path in parts.path:
            return name
    return ""


def _view(transport: WebTransport, page: str, frame: str) -> FrameView:
    for view in transport.frames(page):
        if view.id == frame:
            return view
    raise _gone()


def _gone() -> DocumentGone:
    return DocumentGone("The document that this call meant was replaced.", next_step="Observe again.")
