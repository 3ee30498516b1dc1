"""The Chrome DevTools Protocol side of the web room."""

from __future__ import annotations

from ues_core.web.cdp.connection import CdpConnection, EventHandler
from ues_core.web.cdp.transport import CdpTransport

__all__ = ["CdpConnection", "CdpTransport", "EventHandler"]
