"""Pixels and boxes."""

from __future__ import annotations

import base64
import json
import struct
from dataclasses import dataclass
from typing import Any

from ues_core.contract import (
    Box,
    Captured,
    CapturedNode,
    CaptureKind,
    CaptureRequest,
    Code,
    DocumentGone,
    DriverError,
    Fault,
    HitStatus,
    NodeKey,
    OmitReason,
)
from ues_core.web.crossing import MARKERS, Mapping2D, beyond, first_clear
from ues_core.web.deadline import Clock
from ues_core.web.transport import WebTransport


@dataclass(frozen=True, slots=True)
class _Area:
    """What is pictured, in CSS pixels of the page; ``origin`` is its corner in the viewport."""

    x: float
    y: float
    width: float
    height: float
    origin_x: float
    origin_y: float
    beyond: bool


async def capture(transport: WebTransport, page: str, request: CaptureRequest, clock: Clock) -> Captured:
    """A PNG of the viewport, the whole page or one node, with the boxes of the nodes asked for."""
    found = await _boxes(transport, page, request.keys, clock)
    area = await _area(transport, page, request, clock)
    surface = json.loads(await transport.evaluate(page, "", "surface", {"page": page, "document": "-"}, deadline=clock.left()))
    density = float(surface["viewport"]["scale"]) * request.scale
    if area.width < 1 or area.height < 1:
        raise DriverError("There is nothing to picture.", code=Code.CAPTURE_EMPTY, fault=Fault.PAGE)
    if area.width * area.height * density * density > request.max_pixels:
        raise _too_large("pixels")
    params: dict[str, Any] = {
        "format": "png",
        "captureBeyondViewport": area.beyond,
        "clip": {"x": area.x, "y": area.y, "width": area.width, "height": area.height, "scale": request.scale},
    }
    shot = await transport.cdp(page, "Page.captureScreenshot", params, deadline=clock.left())
    png = base64.b64decode(shot["data"])
    if len(png) > request.max_bytes:
        raise _too_large("bytes")
    width, height = struct.unpack(">II", png[16:24])
    return Captured(
        png=png,
        width=width,
        height=height,
        scale_x=width / area.width,
        scale_y=height / area.height,
        origin_x=area.origin_x,
        origin_y=area.origin_y,
        nodes=tuple(_pictured(node, area, request.kind) for node in found),
    )


@dataclass(frozen=True, slots=True)
class _Found:
    """A node with its box, and whether only the page's own scrolling keeps it out of view."""

    node: CapturedNode
    beyond: bool = False


def _pictured(found: _Found, area: _Area, kind: CaptureKind) -> CapturedNode:
    """The node as the picture shows it.

    What is out of view but in the picture, of a whole page or of one node, has no hit test: nothing was scrolled for it.
    """
    node, box = found.node, found.node.box
    if box is None:
        return node
    if (
        box.x >= area.origin_x + area.width
        or box.y >= area.origin_y + area.height
        or box.x + box.width <= area.origin_x
        or box.y + box.height <= area.origin_y
    ):
        outside = OmitReason.OFF_PAGE if kind is CaptureKind.FULL_PAGE else OmitReason.OFF_VIEWPORT
        return node.model_copy(update={"omitted": outside})
    if node.omitted == OmitReason.OFF_VIEWPORT and found.beyond and kind is not CaptureKind.VIEWPORT:
        return node.model_copy(update={"omitted": ""})
    return node


async def _area(transport: WebTransport, page: str, request: CaptureRequest, clock: Clock) -> _Area:
    metrics = await transport.cdp(page, "Page.getLayoutMetrics", {}, deadline=clock.left())
    view, content = metrics["cssLayoutViewport"], metrics["cssContentSize"]
    left, top = float(view["pageX"]), float(view["pageY"])
    if request.kind is CaptureKind.FULL_PAGE:
        return _Area(0, 0, float(content["width"]), float(content["height"]), -left, -top, True)
    if request.kind is CaptureKind.NODE:
        if request.key is None:
            raise DriverError("No node to picture was named.", code=Code.ACTION_INVALID, fault=Fault.HOST)
        node = (await _boxes(transport, page, (request.key,), clock))[0].node
        if node.box is None:
            raise DriverError(f"The node cannot be pictured: {node.omitted}.", code=Code.CAPTURE_EMPTY, fault=Fault.PAGE)
        box = node.box
        return _Area(box.x + left, box.y + top, box.width, box.height, box.x, box.y, True)
    return _Area(left, top, float(view["clientWidth"]), float(view["clientHeight"]), 0, 0, False)


async def _boxes(transport: WebTransport, page: str, keys: tuple[NodeKey, ...], clock: Clock) -> tuple[_Found, ...]:
    frames: dict[tuple[str, str], list[NodeKey]] = {}
    for key in keys:
        frames.setdefault((key.frame, key.document), []).append(key)
    found: dict[NodeKey, _Found] = {}
    for (frame, document), group in frames.items():
        try:
            argument = {"ns": [key.n for key in group]}
            answer = await transport.evaluate(page, frame, "boxes", argument, deadline=clock.left(), document=document)
        except DocumentGone:
            found.update({key: _Found(CapturedNode(key=key, omitted=OmitReason.DETACHED)) for key in group})
            continue
        for key, row in zip(group, json.loads(answer), strict=True):
            if row.get("out"):
                await _carry_out(transport, key, row, clock)
            node = CapturedNode(key=key, box=Box(**row["box"]) if "box" in row else None, omitted=row["omitted"])
            found[key] = _Found(node, bool(row.get("beyond")))
    return tuple(found[key] for key in keys)


async def _carry_out(transport: WebTransport, key: NodeKey, row: dict[str, Any], clock: Clock) -> None:
    """A box in a frame of another origin, in the page's coordinates and with what its parents draw over it."""
    out = row["out"]
    try:
        (view,) = [view for view in transport.frames(key.page) if view.id == key.frame]
        points = await beyond(transport, key.page, view, out, clock)
    except (DocumentGone, ValueError):
        row.update(omitted=OmitReason.DETACHED)
        row.pop("box", None)
        return
    row["box"] = Mapping2D.between(out["points"], points).box(row["box"])
    if clear := points[MARKERS:]:
        status = first_clear(clear).status
        row["omitted"] = {HitStatus.OCCLUDED: OmitReason.OCCLUDED, HitStatus.OFF_VIEWPORT: OmitReason.OFF_VIEWPORT}.get(
            status, ""
        )


def _too_large(of: str) -> DriverError:
    return DriverError(
        f"The picture would have more {of} than allowed.",
        code=Code.CAPTURE_TOO_LARGE,
        fault=Fault.HOST,
        next_step="Picture the viewport or one node, or use a smaller scale.",
    )
