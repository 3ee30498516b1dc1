"""The driver ``cdp-raw``. Importing this module starts nothing and imports no websocket library; opening a session does."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ues_core.contract import hookimpl

if TYPE_CHECKING:
    from ues_core.contract import Driver

__all__ = ["ues_driver"]


@hookimpl
def ues_driver() -> Driver:
    """The driver, for the kit's plugin loader."""
    from ues_driver_cdp_raw.driver import CdpRawDriver

    return CdpRawDriver()
