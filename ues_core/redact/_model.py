"""What redaction returns: the masked text, and where something was masked; never the secret itself."""

from __future__ import annotations

from typing import Final, NamedTuple

MASK: Final = "[REDACTED]"
"""Stands where a secret stood. A masked span keeps its line breaks, so line numbers stay true."""


class Finding(NamedTuple):
    """One masked place: the half-open span ``start..end`` of the *original* characters; in a structure also its ``path``."""

    detector: str
    """Name of the detector, for instance ``github-token`` or ``credential-field``."""
    start: int = 0
    end: int = 0
    path: str = ""
    """For structures: keys and indexes from the root, joined by ``/``; keys are redacted too."""


class Redacted(NamedTuple):
    """A text without its secrets, and what was found in it."""

    text: str
    findings: tuple[Finding, ...] = ()


class Span(NamedTuple):
    """A place to mask, as a detector reports it."""

    start: int
    end: int
    detector: str
    quoted: bool = False
    """A bare JSON number: its mask is put into quotes, so that JSON stays JSON."""


def word_set(words: str) -> frozenset[str]:
    """A set of words, written as a text with blanks between."""
    return frozenset(words.split())
