"""``DriverSession`` over a ``WebTransport``: what both web drivers are above their transports."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any, Final, TypeVar

from pydantic import ValidationError

from ues_core.contract import (
    Captured,
    CaptureRequest,
    Collected,
    CollectRequest,
    Coverage,
    CoverageCaps,
    DocumentGone,
    DriverError,
    Events,
    Gesture,
    Identity,
    Inspection,
    Landing,
    Navigation,
    NodeKey,
    NodeText,
    OpenSpec,
    ReadRequest,
    Surface,
    Viewport,
    WaitUntil,
    WatchCondition,
    WatchOutcome,
)
from ues_core.web.capture import capture
from ues_core.web.crossing import MARKERS, Mapping2D, beyond, first_clear
from ues_core.web.deadline import Clock
from ues_core.web.gestures import Gestures
from ues_core.web.observe import collect
from ues_core.web.probe import coverage
from ues_core.web.transport import WebTransport, Went
from ues_core.web.waiting import watch

_T = TypeVar("_T")

_ATTEMPTS: Final = 5
_PAUSE: Final = 0.02
_LIST_SECONDS: Final = 5.0
"""How long the browser may take to list its pages."""


class WebDriverSession:
    """One session of a web driver."""

    def __init__(self, transport: WebTransport, spec: OpenSpec) -> None:
        self._transport = transport
        self._spec = spec
        self._gestures = Gestures(transport)

    async def surface(self, page: str, *, deadline: float) -> Surface:
        clock = Clock(deadline)
        await self._transport.ready(page, deadline=clock.left())

        async def ask() -> str:
            document = self._document(page)
            argument = {"page": page, "document": document}
            return await self._transport.evaluate(page, "", "surface", argument, deadline=clock.left(), document=document)

        return Surface.model_validate_json(await _once_more(ask))

    async def collect(self, page: str, request: CollectRequest, *, deadline: float) -> Collected:
        clock = Clock(deadline)
        await self._transport.ready(page, deadline=clock.left())
        if request.within is not None:
            return await collect(self._transport, page, request, clock)
        return await _once_more(lambda: collect(self._transport, page, request, clock))

    async def inspect(self, key: NodeKey, *, deadline: float) -> Inspection:
        argument = {
            "page": key.page,
            "frame": key.frame,
            "document": key.document,
            "n": key.n,
            "main": self._document(key.page),
        }
        clock = Clock(deadline)
        answer = await self._evaluate(key, "inspect", argument, clock.left())
        found = json.loads(answer)
        out = found.pop("out", None)
        if out:
            await self._carry_out(key, found, out, clock)
            answer = json.dumps(found)
        try:
            return Inspection.model_validate_json(answer)
        except ValidationError as error:
            raise DriverError(
                f"The page-side collector answered something that is no inspection: {str(error)[:300]}"
            ) from error

    async def dispatch(self, gesture: Gesture, *, expect: Identity | None, deadline: float) -> Landing:
        return await self._gestures.dispatch(gesture, expect, Clock(deadline))

    async def read(self, target: NodeKey | str, request: ReadRequest, *, deadline: float) -> NodeText:
        argument = {"n": 0, "kind": str(request.kind), "limit": request.limit, "max_items": request.max_items}
        if isinstance(target, NodeKey):
            answer = await self._evaluate(target, "read", {**argument, "n": target.n}, deadline)
        else:
            clock = Clock(deadline)
            answer = await _once_more(lambda: self._transport.evaluate(target, "", "read", argument, deadline=clock.left()))
        if answer == '{"gone":true}':
            raise DocumentGone("The node to read is gone.", next_step="Observe again.")
        return NodeText.model_validate_json(answer)

    async def coverage(self, target: NodeKey | str, caps: CoverageCaps, *, deadline: float) -> Coverage:
        if isinstance(target, NodeKey):
            self._require(target)
        return await coverage(self._transport, target, caps, Clock(deadline))

    async def capture(self, page: str, request: CaptureRequest, *, deadline: float) -> Captured:
        return await capture(self._transport, page, request, Clock(deadline))

    async def navigate(self, page: str, url: str, *, wait_until: WaitUntil, deadline: float) -> Navigation:
        clock = Clock(deadline)
        went = await self._transport.navigate(page, url, wait_until=wait_until, deadline=clock.left())
        return await self._arrived(page, went, clock)

    async def back(self, page: str, *, deadline: float) -> Navigation:
        clock = Clock(deadline)
        return await self._arrived(page, await self._transport.history(page, -1, deadline=clock.left()), clock)

    async def forward(self, page: str, *, deadline: float) -> Navigation:
        clock = Clock(deadline)
        return await self._arrived(page, await self._transport.history(page, 1, deadline=clock.left()), clock)

    async def reload(self, page: str, *, deadline: float) -> Navigation:
        clock = Clock(deadline)
        return await self._arrived(page, await self._transport.reload(page, deadline=clock.left()), clock)

    async def pages(self) -> tuple[Surface, ...]:
        titles = await self._transport.titles(deadline=_LIST_SECONDS)
        return tuple(self._known(page, titles.get(page, "")) for page in self._transport.pages())

    async def close_page(self, page: str, *, deadline: float) -> None:
        await self._transport.close_page(page, deadline=deadline)

    async def watch(self, page: str, conditions: tuple[WatchCondition, ...], *, deadline: float) -> WatchOutcome:
        return await watch(self._transport, page, conditions, deadline)

    async def answer_dialog(self, dialog: str, accept: bool, text: str, *, deadline: float) -> None:
        await self._transport.answer_dialog(dialog, accept, text, deadline=deadline)

    async def drain(self) -> Events:
        return self._transport.drain()

    async def close(self) -> None:
        await self._transport.close()

    async def empty_evaluation(self, page: str, *, deadline: float) -> None:
        """One evaluation in the isolated world that does nothing: the unit of cost in benchmarks."""
        await self._transport.evaluate(page, "", "nothing", {}, deadline=deadline)

    async def _carry_out(self, key: NodeKey, found: dict[str, Any], out: dict[str, Any], clock: Clock) -> None:
        """What was measured in a frame of another origin, in the page's coordinates and with what its parents draw over it."""
        (view,) = [view for view in self._transport.frames(key.page) if view.id == key.frame]
        points = await beyond(self._transport, key.page, view, out, clock)
        mapped, hit, facts = Mapping2D.between(out["points"], points), found["hit"], found["facts"]
        if facts.get("box") is not None:
            facts["box"] = mapped.box(facts["box"])
        if clear := points[MARKERS:]:
            best = first_clear(clear)
            hit.update(status=best.status, x=best.x, y=best.y, covered_by=best.covered_by)
        elif "x" in hit:
            hit["x"], hit["y"] = mapped.point(hit["x"], hit["y"])
        if hit["status"] == "off-viewport":
            found["facts"]["in_viewport"] = False

    # -- inside ------------------------------------------------------------------------------------------------------

    def _document(self, page: str) -> str:
        frames = self._transport.frames(page)
        return frames[0].document if frames else ""

    def _known(self, page: str, title: str) -> Surface:
        """A page as it is known without asking it: it may be hung, crashed, or wait for an answer to a dialog."""
        frames = self._transport.frames(page)
        document, url = (frames[0].document or "initial", frames[0].url) if frames else ("initial", "")
        view = self._spec.viewport
        return Surface(
            page=page,
            document=document,
            location=url[:8192],
            title=title[:2000],
            viewport=Viewport(width=view.width, height=view.height, scale=view.scale),
        )

    async def _arrived(self, page: str, went: Went, clock: Clock) -> Navigation:
        try:
            surface = await self.surface(page, deadline=clock.left())
        except DocumentGone:
            # The page went on by itself at once; what it is now is known from the browser.
            surface = self._known(page, "")
        return Navigation(
            kind=went.kind, surface=surface, status=went.status, redirects=went.redirects, denied=went.denied[:400]
        )

    async def _evaluate(self, key: NodeKey, function: str, argument: dict[str, object], deadline: float) -> str:
        self._require(key)
        return await self._transport.evaluate(key.page, key.frame, function, argument, deadline=deadline, document=key.document)

    def _require(self, key: NodeKey) -> None:
        """The key's document must still be there; a page that is gone took it along."""
        if key.page not in self._transport.pages():
            raise DocumentGone(f"Page {key.page} is closed.", next_step="Observe another page.")
        if not any(view.id == key.frame and view.document == key.document for view in self._transport.frames(key.page)):
            raise DocumentGone("The document that this node lived in was replaced.", next_step="Observe again.")


async def _once_more(work: Callable[[], Awaitable[_T]]) -> _T:
    """Do it again when the page goes on to another document meanwhile: whoever asks for a page means the one that is there."""
    for _ in range(_ATTEMPTS - 1):
        try:
            return await work()
        except DocumentGone:
            await asyncio.sleep(_PAUSE)
    return await work()
