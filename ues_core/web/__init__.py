"""The web room: one page-side collector and one base for every driver that drives a web page.

``WebDriver`` is the base of a driver, ``WebTransport`` what it must bring; ``cdp.CdpTransport`` is that over any connection
that speaks the Chrome DevTools Protocol.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ues_core.web.driver import WEB_CAPABILITIES, WebDriver
    from ues_core.web.session import WebDriverSession
    from ues_core.web.transport import WebTransport

__all__ = ["WEB_CAPABILITIES", "WebDriver", "WebDriverSession", "WebTransport"]

_HOMES = {
    "WEB_CAPABILITIES": "ues_core.web.driver",
    "WebDriver": "ues_core.web.driver",
    "WebDriverSession": "ues_core.web.session",
    "WebTransport": "ues_core.web.transport",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
