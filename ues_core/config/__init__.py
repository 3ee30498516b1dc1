"""Configuration: one frozen ``Settings``, built as defaults < operator's file < environment < arguments.

A repository's own ``ues.toml`` is untrusted: it can only narrow, and choose among plugins that the operator allowed.
"""

from __future__ import annotations

from ues_core.config._keys import SettingKey, setting_keys
from ues_core.config._load import load_settings, narrow_to_repository, override_settings
from ues_core.config._settings import (
    BrowserSettings,
    BudgetSettings,
    Ignored,
    Isolation,
    ProfileSettings,
    Settings,
    TimeoutSettings,
)

__all__ = [
    "BrowserSettings",
    "BudgetSettings",
    "Ignored",
    "Isolation",
    "ProfileSettings",
    "SettingKey",
    "Settings",
    "TimeoutSettings",
    "load_settings",
    "narrow_to_repository",
    "override_settings",
    "setting_keys",
]
