"""Points of frames that their parents cannot look into, carried outwards one parent after the other to the page's viewport."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

from ues_core.contract import DocumentGone, HitStatus
from ues_core.web.deadline import Clock
from ues_core.web.transport import FrameView, WebTransport


@dataclass(frozen=True, slots=True)
class Point:
    """A point in CSS pixels, and what a pointer put there would meet on its way to the frame."""

    x: float
    y: float
    status: HitStatus = HitStatus.CLEAR
    covered_by: str = ""


@dataclass(frozen=True, slots=True)
class Mapping2D:
    """How points of one frame are points of another: (u, v) is (x + a u + c v, y + b u + d v)."""

    a: float = 1.0
    b: float = 0.0
    c: float = 0.0
    d: float = 1.0
    x: float = 0.0
    y: float = 0.0

    @classmethod
    def between(cls, inner: Sequence[Sequence[float]], outer: Sequence[Point]) -> Mapping2D:
        """The one that takes the first three points of ``inner`` to those of ``outer``; only a shift where they lie on one line."""
        (x0, y0), (x1, y1), (x2, y2) = inner[:3]
        first, second, third = outer[:3]
        u1, v1, u2, v2 = x1 - x0, y1 - y0, x2 - x0, y2 - y0
        area = u1 * v2 - u2 * v1
        if abs(area) < 1e-9:
            return cls(x=first.x - x0, y=first.y - y0)
        p1, q1, p2, q2 = second.x - first.x, second.y - first.y, third.x - first.x, third.y - first.y
        a, c = (p1 * v2 - p2 * v1) / area, (p2 * u1 - p1 * u2) / area
        b, d = (q1 * v2 - q2 * v1) / area, (q2 * u1 - q1 * u2) / area
        return cls(a, b, c, d, first.x - a * x0 - c * y0, first.y - b * x0 - d * y0)

    def point(self, x: float, y: float) -> tuple[float, float]:
        """A point of the inner frame in the outer one."""
        return self.x + self.a * x + self.c * y, self.y + self.b * x + self.d * y

    def box(self, box: Mapping[str, float]) -> dict[str, float]:
        """The box around a box of the inner frame."""
        width, height = box["width"], box["height"]
        x, y = self.point(box["x"] + width / 2, box["y"] + height / 2)
        wide, high = abs(self.a) * width + abs(self.c) * height, abs(self.b) * width + abs(self.d) * height
        return {"x": x - wide / 2, "y": y - high / 2, "width": wide, "height": high}


MARKERS: Final = 3
"""So many points, of those that a frame sends outwards first, say how it is mapped."""


async def beyond(
    transport: WebTransport, page: str, view: FrameView, out: Mapping[str, Any], clock: Clock
) -> tuple[Point, ...]:
    """Points of ``view`` as points of the page.

    ``out``  ``{up, points}`` as the frame told it: how many levels of the tree its own ancestors of the same origin are, and
             the points in the viewport of the outermost of them.

    A point that anything covers on the way, or that lies outside of what a parent shows, keeps that as its status.
    Raises ``DocumentGone`` when one of the frames is gone.
    """
    views = {known.id: known for known in transport.frames(page)}
    points = [Point(float(x), float(y)) for x, y in out["points"]]
    frame, up = view, int(out["up"])
    while up >= 0:
        for _ in range(up):
            frame = _parent(views, frame)
        if not frame.id:
            break
        parent = _parent(views, frame)
        owner = await transport.frame_owner(page, frame.id, deadline=clock.left())
        argument = {"n": owner, "points": [[point.x, point.y] for point in points]}
        text = await transport.evaluate(page, parent.id, "through", argument, deadline=clock.left(), document=parent.document)
        answer = json.loads(text)
        if answer.get("gone"):
            raise _gone()
        points = [_outer(point, row) for point, row in zip(points, answer["points"], strict=True)]
        frame, up = parent, int(answer["up"])
    return tuple(points)


def first_clear(points: tuple[Point, ...]) -> Point:
    """The best of the points: the first that a pointer can reach, else the first."""
    return next((point for point in points if point.status is HitStatus.CLEAR), points[0])


async def scrolled_to(transport: WebTransport, page: str, view: FrameView, out: Mapping[str, Any], clock: Clock) -> bool:
    """Bring a frame's point into the page's view by scrolling its parents, where it is not yet; whether it is there."""
    point = (await beyond(transport, page, view, out, clock))[0]
    if point.status is not HitStatus.OFF_VIEWPORT:
        return True
    views = {known.id: known for known in transport.frames(page)}
    frame = view
    while frame.id:
        parent = _parent(views, frame)
        owner = await transport.frame_owner(page, frame.id, deadline=clock.left())
        argument = {"n": owner, "direction": "", "amount": None}
        await transport.evaluate(page, parent.id, "scroll", argument, deadline=clock.left(), document=parent.document)
        frame = parent
    return (await beyond(transport, page, view, out, clock))[0].status is not HitStatus.OFF_VIEWPORT


def _outer(point: Point, row: Mapping[str, Any]) -> Point:
    moved = replace(point, x=float(row["x"]), y=float(row["y"]))
    if point.status is not HitStatus.CLEAR:
        return moved
    return replace(moved, status=HitStatus(row["status"]), covered_by=str(row["covered_by"]))


def _parent(views: Mapping[str, FrameView], frame: FrameView) -> FrameView:
    found = views.get(frame.parent)
    if found is None:
        raise _gone()
    return found


def _gone() -> DocumentGone:
    return DocumentGone("A frame on the way to the node is gone.", next_step="Observe again.")
