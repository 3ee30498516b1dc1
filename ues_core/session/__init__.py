"""One owner's browser session: observe, act, read, evidence. Made by ``host.session``."""

from __future__ import annotations

from ues_core.session.context import Recorder, SessionContext
from ues_core.session.session import Session

__all__ = ["Recorder", "Session", "SessionContext"]
