"""Plugins: found without importing, loaded one at a time, checked, and never able to take the host or each other down."""

from __future__ import annotations

from ues_core.plugins._book import PluginBook
from ues_core.plugins._context import ContextDesk
from ues_core.plugins._contributions import HookPackages, Observer, load_hooks
from ues_core.plugins._observers import ObserverBus, ObserverFailure, ObserverReport
from ues_core.plugins._rows import GROUPS, HOOK_GROUP, HookRow, PluginRow

__all__ = [
    "GROUPS",
    "HOOK_GROUP",
    "ContextDesk",
    "HookPackages",
    "HookRow",
    "Observer",
    "ObserverBus",
    "ObserverFailure",
    "ObserverReport",
    "PluginBook",
    "PluginRow",
    "load_hooks",
]
