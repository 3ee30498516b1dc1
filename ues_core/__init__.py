"""UES Kit: a browser that a coding-agent host can drive, and a second opinion that it can ask for.

One rule: an external system may inform a decision, never make it. Importing this package loads no plugin, no browser
library and no command-line library; names are resolved on first use.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ues_core.config import Settings
    from ues_core.contract import CONTRACT_VERSION, UesError
    from ues_core.host import Host, open_host
    from ues_core.reasoning import Consultation
    from ues_core.session import Session

__version__ = "0.1.0"

__all__ = [
    "CONTRACT_VERSION",
    "Consultation",
    "Host",
    "Session",
    "Settings",
    "UesError",
    "__version__",
    "open_host",
]

_HOMES = {
    "CONTRACT_VERSION": "ues_core.contract",
    "Consultation": "ues_core.reasoning",
    "Host": "ues_core.host",
    "Session": "ues_core.session",
    "Settings": "ues_core.config",
    "UesError": "ues_core.contract",
    "open_host": "ues_core.host",
}


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(home), name)


def __dir__() -> list[str]:
    return sorted(__all__)
