"""A provider in a sealed process: its code runs where it can read its own packages, reach nobody, and say data only."""

from __future__ import annotations

from ues_core.reasoning.sealed._models import AREAS, EntryPointFacts, ProviderFacts, SealLimits, SealReport
from ues_core.reasoning.sealed._provider import SealedProvider, open_sealed

__all__ = ["AREAS", "EntryPointFacts", "ProviderFacts", "SealLimits", "SealReport", "SealedProvider", "open_sealed"]
