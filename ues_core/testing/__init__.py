"""What plugin authors and this project's own tests import: an in-memory driver, and (in ``.conformance``) suites to subclass.

Importing this package needs nothing beyond ``ues-core``; the suites need ``pip install "ues-core[testing]"``.
"""

from __future__ import annotations

from ues_core.testing._data import (
    AddNode,
    After,
    GoTo,
    Increment,
    Log,
    MemoryEffect,
    MemoryFaults,
    MemoryNode,
    MemoryPage,
    OpenPage,
    RemoveNode,
    SetState,
    SetText,
    ShowDialog,
)
from ues_core.testing.memory import MEMORY_CAPABILITIES, MemoryDriver, MemorySession, MemorySite

__all__ = [
    "MEMORY_CAPABILITIES",
    "AddNode",
    "After",
    "GoTo",
    "Increment",
    "Log",
    "MemoryDriver",
    "MemoryEffect",
    "MemoryFaults",
    "MemoryNode",
    "MemoryPage",
    "MemorySession",
    "MemorySite",
    "OpenPage",
    "RemoveNode",
    "SetState",
    "SetText",
    "ShowDialog",
]
