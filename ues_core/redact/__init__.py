"""Secrets never leave: detectors for texts and structures, secret paths, scrubbed locations. Pure functions, linear time."""

from __future__ import annotations

from ues_core.redact._credential_words import is_credential_key
from ues_core.redact._live import LiveValues, live_values
from ues_core.redact._model import MASK, Finding, Redacted
from ues_core.redact._paths import is_secret_path
from ues_core.redact._structure import redact_structure
from ues_core.redact._subset import Detector, validate_detector
from ues_core.redact._text import clip_text, cut_text, redact_and_clip, redact_text
from ues_core.redact._urls import scrub_url

__all__ = [
    "MASK",
    "Detector",
    "Finding",
    "LiveValues",
    "Redacted",
    "clip_text",
    "cut_text",
    "is_credential_key",
    "is_secret_path",
    "live_values",
    "redact_and_clip",
    "redact_structure",
    "redact_text",
    "scrub_url",
    "validate_detector",
]
