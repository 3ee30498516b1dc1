"""A UES Kit driver for a stockroom terminal. The entry point ``stockroom`` of the group ``ues.drivers`` names this module."""

from __future__ import annotations

from ues_core.contract import hookimpl
from ues_driver_stockroom.driver import StockroomDriver, StockroomSession

__all__ = ["StockroomDriver", "StockroomSession", "ues_driver"]


@hookimpl
def ues_driver() -> StockroomDriver:
    """The factory that the kit calls."""
    return StockroomDriver()
