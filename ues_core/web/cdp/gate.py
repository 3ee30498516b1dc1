"""The gate on the wire: every document request of the browser is paused before a byte leaves, judged, and continued or aborted.

It stands in the browser's own session, not in the pages': so the first request of a new page, every redirect and every frame,
in whichever process, pass it without anybody having to be quick.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

from ues_core.contract import DriverError, EventKind, RequestKind, decide
from ues_core.web.cdp.pages import Page

if TYPE_CHECKING:
    from ues_core.web.cdp.transport import CdpTransport
    from ues_core.web.deadline import Clock

PATTERNS: Final = [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}]
"""Documents only: scripts, images and data of an allowed document are its own business."""

_CHAINS_KEPT: Final = 64
_ANSWER_SECONDS: Final = 5.0
_KNOWN_SECONDS: Final = 2.0
"""How long a request waits for its page or frame to become known; then it is aborted, or let go where it is none of ours."""
_LOOK_SECONDS: Final = 0.02
_SET_UP_SECONDS: Final = 0.25
"""How long the first document of a page waits for the page to answer its set-up commands. A page that was not held at its
start cannot answer while it navigates: its first document is then met late, and said to be unguarded."""


class Gatekeeper:
    """Judges paused requests and answers them."""

    def __init__(self, transport: CdpTransport) -> None:
        self._transport = transport
        self._urls: OrderedDict[str, str] = OrderedDict()

    async def stand(self, clock: Clock) -> None:
        """Begin to judge."""
        await self._transport.connection.send("Fetch.enable", {"patterns": PATTERNS}, deadline=clock.left())

    async def answer(self, params: dict[str, Any]) -> None:
        """Take one ``Fetch.requestPaused``. Whatever goes wrong, the request does not leave."""
        request, allowed = params["requestId"], False
        try:
            allowed = await self._judge(params)
        finally:
            # "Aborted" leaves the old document where it is; other reasons would show an error page in its place.
            method = "Fetch.continueRequest" if allowed else "Fetch.failRequest"
            given = {"requestId": request} if allowed else {"requestId": request, "errorReason": "Aborted"}
            with contextlib.suppress(DriverError):
                await self._transport.connection.send(method, given, deadline=_ANSWER_SECONDS)

    def asked(self, page: Page, url: str, kind: RequestKind, deny: Callable[[str], None]) -> bool:
        """Whether a navigation that a host asked for may start; a refusal is recorded and given to ``deny``."""
        verdict = decide(self._transport.spec.gate, url, kind)
        if not verdict.allowed:
            self._record(page.id, url, str(verdict.code), verdict.reason)
            deny(verdict.reason)
        return verdict.allowed

    async def _judge(self, params: dict[str, Any]) -> bool:
        url = str(params["request"]["url"])
        frame, loader = str(params.get("frameId", "")), str(params.get("networkId", "")) or str(params["requestId"])
        page, top, ours = await self._whose(frame)
        if not ours:
            return True
        before = self._chain(loader, url)
        verdict = decide(self._transport.spec.gate, url, self._kind(page, top, before), before)
        if verdict.allowed:
            if page is not None and top:
                await self._prepared(page)
            return True
        if page is not None and top:
            page.load(loader).denied = verdict.reason
            page.denials += 1
            page.last_denial = verdict.reason
            page.notify()
        self._record(page.id if page is not None else "", url, str(verdict.code), verdict.reason)
        return False

    async def _whose(self, frame: str) -> tuple[Page | None, bool, bool]:
        """(page, is it its main frame, is it ours). What cannot be found out is judged like a main frame of ours."""
        end = asyncio.get_running_loop().time() + _KNOWN_SECONDS
        while True:
            for page in self._transport.pages_by_id.values():
                if frame == page.main or frame in page.frames:
                    return page, frame == page.main, True
            top, ours = await self._target(frame)
            if top and not ours:
                return None, True, False
            if not top and not self._transport.context:
                return None, False, True  # a frame of a page of ours, a moment before the page tells of it
            if asyncio.get_running_loop().time() > end:
                return None, top, top or not self._transport.context
            await asyncio.sleep(_LOOK_SECONDS)

    async def _target(self, frame: str) -> tuple[bool, bool]:
        answer = await self._transport.connection.send("Target.getTargets", deadline=_ANSWER_SECONDS)
        for info in answer["targetInfos"]:
            if info["targetId"] == frame and info["type"] == "page":
                return True, self._transport.context in ("", info.get("browserContextId", ""))
        return False, False

    async def _prepared(self, page: Page) -> None:
        if page.ready.done():
            return
        with contextlib.suppress(TimeoutError, DriverError):
            async with asyncio.timeout(_ANSWER_SECONDS):
                await page.sent.wait()
            async with asyncio.timeout(_SET_UP_SECONDS):
                await asyncio.shield(page.ready)

    def _record(self, page: str, url: str, code: str, reason: str) -> None:
        self._transport.events.add(EventKind.GATE_DENIED, page, level=code[:40], text=reason, url=url)

    def _chain(self, loader: str, url: str) -> str:
        before = self._urls.pop(loader, "")
        self._urls[loader] = url
        while len(self._urls) > _CHAINS_KEPT:
            self._urls.popitem(last=False)
        return before

    def _kind(self, page: Page | None, top: bool, before: str) -> RequestKind:
        if not top:
            return RequestKind.SUBFRAME
        if before:
            return RequestKind.REDIRECT
        frame = page.frames.get(page.main) if page is not None else None
        fresh = frame is None or frame.url in ("", "about:blank")
        return RequestKind.POPUP if fresh and (page is None or page.opened) else RequestKind.NAVIGATE
