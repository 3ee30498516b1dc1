"""What a web driver must bring: about twelve primitives. ``WebDriverSession`` is everything above them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, Protocol

from ues_core.contract import Events, NavigationKind, WaitUntil

PointerEvent = Literal["mouseMoved", "mousePressed", "mouseReleased"]
KeyEvent = Literal["keyDown", "rawKeyDown", "keyUp"]


@dataclass(frozen=True, slots=True)
class FrameView:
    """One frame of a page, now."""

    id: str
    """Empty for the main frame."""
    parent: str
    document: str
    """Changes with every document of the frame."""
    url: str
    reopened: bool
    """The page called ``document.open`` in it, or the collector came late: listeners of the page may run first."""


@dataclass(frozen=True, slots=True)
class Went:
    """What a navigation did, before anybody looked at the page."""

    kind: NavigationKind
    status: int | None = None
    redirects: int = 0
    denied: str = ""


class WebTransport(Protocol):
    """Twelve primitives over one browser. Every wait has a deadline in seconds; errors are ``DriverError`` and below."""

    def pages(self) -> tuple[str, ...]:
        """Open pages, oldest first. Ids are never reused."""
        ...

    async def ready(self, page: str, *, deadline: float) -> None:
        """Wait until a page that was opened a moment ago can be asked."""
        ...

    def frames(self, page: str) -> tuple[FrameView, ...]:
        """The page's frames that this transport can evaluate in; the main frame first."""
        ...

    async def titles(self, *, deadline: float) -> dict[str, str]:
        """Titles of the open pages, without asking the pages themselves."""
        ...

    async def evaluate(
        self, page: str, frame: str, function: str, argument: Mapping[str, Any], *, deadline: float, document: str = ""
    ) -> str:
        """Call one function of the collector in the frame's isolated world; one round trip.

        ``document``  the document that is meant; ``DocumentGone`` when the frame has another one by now.
        """
        ...

    async def frame_owner(self, page: str, frame: str, *, deadline: float) -> int:
        """The collector's number, in the parent frame, of the element that holds the frame."""
        ...

    async def mouse(
        self,
        page: str,
        event: PointerEvent,
        x: float,
        y: float,
        *,
        button: str = "none",
        buttons: int = 0,
        count: int = 0,
        modifiers: int = 0,
        deadline: float,
    ) -> None:
        """One pointer event at a point of the page's viewport."""
        ...

    async def key(self, page: str, event: KeyEvent, fields: Mapping[str, Any], *, deadline: float) -> None:
        """One key event."""
        ...

    async def insert_text(self, page: str, text: str, *, deadline: float) -> None:
        """Insert text where the focus is, as an input method would."""
        ...

    async def object_of(self, page: str, frame: str, n: int, *, deadline: float) -> str:
        """The protocol's object id of a node, in the group ``ues``; release the group after use."""
        ...

    async def navigate(self, page: str, url: str, *, wait_until: WaitUntil, deadline: float) -> Went:
        """Go to a URL that the gate allows."""
        ...

    async def history(self, page: str, delta: int, *, deadline: float) -> Went:
        """Go back (-1) or forward (1)."""
        ...

    async def reload(self, page: str, *, deadline: float) -> Went:
        """Load the document again."""
        ...

    async def cdp(
        self, page: str, method: str, params: Mapping[str, Any], *, deadline: float, frame: str = ""
    ) -> dict[str, Any]:
        """One raw protocol command to the page, or to the process that draws one of its frames."""
        ...

    def world(self, page: str, frame: str) -> tuple[str, int]:
        """The context of the collector in a frame: unique id and number; empty before the first evaluation there."""
        ...

    async def frames_ready(self, page: str, *, deadline: float) -> None:
        """Wait, a little, for frames that have just got a process of their own."""
        ...

    def landed(self, page: str) -> tuple[str, str]:
        """What the guard said last, at the moment of landing: ``(landed, canonical identity)``; forgotten by ``expect_landing``."""
        ...

    def expect_landing(self, page: str) -> None:
        """Forget what the guard said before."""
        ...

    def dialog(self, page: str) -> str:
        """The id of a held dialog of the page, or empty."""
        ...

    async def answer_dialog(self, dialog: str, accept: bool, text: str, *, deadline: float) -> None:
        """Answer a held dialog."""
        ...

    async def close_page(self, page: str, *, deadline: float) -> None:
        """Close one page."""
        ...

    def drain(self) -> Events:
        """Events since the last call."""
        ...

    async def close(self) -> None:
        """Release everything. Idempotent, bounded, never raises."""
        ...
