"""What the web room needs of a Chrome DevTools Protocol connection. Two drivers bring transports, one code path uses them."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import Any, Protocol, runtime_checkable

EventHandler = Callable[[str, str, dict[str, Any]], None]
"""``(session id, method, params)``; the session id of the browser itself is ``""``."""


@runtime_checkable
class CdpConnection(Protocol):
    """One connection to a browser, with flat sessions."""

    closed: asyncio.Future[str]
    """Resolves, once, to the reason why the connection ended. It never holds an exception."""

    async def send(
        self, method: str, params: Mapping[str, Any] | None = None, *, session: str = "", deadline: float
    ) -> dict[str, Any]:
        """Send one command and return its ``result``.

        ``session``   the flat session to send it to; ``""`` is the browser itself.
        ``deadline``  seconds from now within which the answer must be here.

        Raises ``DeadlineExceeded`` when it is not, and ``DriverError`` otherwise: code ``page-unknown`` when the session or
        its target is gone, ``page-crashed`` when its renderer crashed, ``session-closed`` when the connection is. The
        protocol's own error is in ``details['cdp_code']`` and ``details['cdp_message']``, the method in
        ``details['method']``.
        """
        ...

    def on_event(self, handler: EventHandler) -> None:
        """Call ``handler`` for every event, on the loop, in the order of arrival.

        The handler must not block. What it raises is recorded by the connection and goes no further.
        """
        ...

    async def close(self) -> None:
        """End the connection: idempotent, bounded, raises nothing but a cancellation of the caller."""
        ...
