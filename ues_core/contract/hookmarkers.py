"""The markers with which a plugin says: this function is a hook implementation of the kit."""

from __future__ import annotations

from typing import Final

import pluggy

PROJECT: Final = "ues"
"""pluggy's project name for every hook of the kit."""

hookspec: Final = pluggy.HookspecMarker(PROJECT)
hookimpl: Final = pluggy.HookimplMarker(PROJECT)
