"""The gate on the wire: every document request is paused before a byte leaves, judged, and continued or aborted."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from ues_core.contract import EventKind, OriginGate, RequestKind, decide
from ues_core.web.cdp.pages import Page
from ues_core.web.events import EventRing

PATTERNS: Final = [{"urlPattern": "*", "resourceType": "Document", "requestStage": "Request"}]
"""Documents only: scripts, images and data of an allowed document are its own business."""

_CHAINS_KEPT: Final = 64

Answer = tuple[str, dict[str, Any]]
"""Method and parameters with which a paused request is answered."""


class Gatekeeper:
    """Judges paused requests. It sends nothing itself: it says what to answer."""

    def __init__(self, gate: OriginGate, events: EventRing) -> None:
        self.gate = gate
        self._events = events
        self._urls: OrderedDict[str, str] = OrderedDict()

    def judge(self, page: Page | None, params: dict[str, Any]) -> Answer:
        """The answer to one ``Fetch.requestPaused``; a request of no known page is aborted."""
        request = params["requestId"]
        url = str(params["request"]["url"]) + str(params["request"].get("urlFragment", ""))
        if page is None:
            return _abort(request)
        loader = str(params.get("networkId", ""))
        before = self._chain(loader or request, url)
        verdict = decide(self.gate, url, self._kind(page, params, before), before)
        if verdict.allowed:
            return "Fetch.continueRequest", {"requestId": request}
        top = params.get("frameId") == page.main
        if top:
            page.load(loader).denied = verdict.reason
            page.denials += 1
            page.last_denial = verdict.reason
        self.record(page.id, url, str(verdict.code), verdict.reason)
        page.notify()
        return _abort(request)

    def asked(self, page: Page, url: str, kind: RequestKind, deny: Callable[[str], None]) -> bool:
        """Whether a navigation that a host asked for may start; a refusal is recorded and given to ``deny``."""
        verdict = decide(self.gate, url, kind)
        if not verdict.allowed:
            self.record(page.id, url, str(verdict.code), verdict.reason)
            deny(verdict.reason)
        return verdict.allowed

    def record(self, page: str, url: str, code: str, reason: str) -> None:
        """One refusal, as an event."""
        self._events.add(EventKind.GATE_DENIED, page, level=code[:40], text=reason, url=url)

    def _chain(self, loader: str, url: str) -> str:
        before = self._urls.pop(loader, "")
        self._urls[loader] = url
        while len(self._urls) > _CHAINS_KEPT:
            self._urls.popitem(last=False)
        return before

    def _kind(self, page: Page, params: dict[str, Any], before: str) -> RequestKind:
        if params.get("frameId") != page.main:
            return RequestKind.SUBFRAME
        if before or params.get("redirectedRequestId"):
            return RequestKind.REDIRECT
        frame = page.frames.get(page.main)
        fresh = frame is None or frame.url in ("", "about:blank")
        return RequestKind.POPUP if page.opened and fresh else RequestKind.NAVIGATE


def _abort(request: str) -> Answer:
    # "Aborted" leaves the old document where it is; other reasons would show an error page in its place.
    return "Fetch.failRequest", {"requestId": request, "errorReason": "Aborted"}
