"""Consultations that outlive their process: kept redacted and bounded, listed, shown, and followed up where they were left."""

from __future__ import annotations

from ues_core.reasoning.history._attempts import earlier_attempts
from ues_core.reasoning.history._models import (
    Identity,
    KeptConsultation,
    KeptExchange,
    KeptInputs,
    KeptPanel,
    Resume,
)
from ues_core.reasoning.history._resumed import RESUME_SECONDS, check_resumable, repository_identity, resumed
from ues_core.reasoning.history._snapshot import kept_of
from ues_core.reasoning.history._store import KEPT_MOST, HistoryStore, is_consultation_id

__all__ = [
    "KEPT_MOST",
    "RESUME_SECONDS",
    "HistoryStore",
    "Identity",
    "KeptConsultation",
    "KeptExchange",
    "KeptInputs",
    "KeptPanel",
    "Resume",
    "check_resumable",
    "earlier_attempts",
    "is_consultation_id",
    "kept_of",
    "repository_identity",
    "resumed",
]
