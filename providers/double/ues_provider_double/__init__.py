"""A provider that answers by rules or by a script, deterministically. For tests and demonstrations; never a default."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from ues_core.contract import WebReasoningProvider, hookimpl
from ues_provider_double._moods import Mood
from ues_provider_double._provider import DoubleProvider, Rule, from_options

__all__ = ["DoubleProvider", "Mood", "Rule", "ues_provider"]


@hookimpl
def ues_provider(options: Mapping[str, Any]) -> WebReasoningProvider:
    """Make the provider from the options of ``[providers.double]``."""
    return from_options(options)
