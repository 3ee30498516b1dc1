"""The composition root and its faces: ``open_host``, ``Host``, the lane."""

from __future__ import annotations

from ues_core.host.host import Host, open_host
from ues_core.host.lane import Lane

__all__ = ["Host", "Lane", "open_host"]
