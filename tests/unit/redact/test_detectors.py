"""Contributed detectors: only the linear-time subset passes, and what passes masks."""

from __future__ import annotations

import pytest

from ues_core.contract import Code, ExtraDetector, PluginError
from ues_core.redact import redact_structure, redact_text, validate_detector


def detector(pattern: str) -> ExtraDetector:
    return ExtraDetector(name="acme", pattern=pattern)


@pytest.mark.parametrize(
    "pattern", [r"ACME-\d{8}", r"(?:acme|ACME)_[A-Za-z0-9]{16,64}", r"\bkey\-[a-f0-9]{32}", r"corp[._]?secret"]
)
def test_patterns_of_the_subset_are_accepted(pattern: str) -> None:
    assert validate_detector(detector(pattern)).name == "acme"


@pytest.mark.parametrize(
    "pattern",
    [
        r"(a+)+b",
        r"ACME-.*",
        r"ACME-\d+",
        r"(?=x)ACME",
        r"(?i)acme",
        r"(acme)\1",
        r"(?:ab){2,3}cd",
        r"a{0,9}",
        r"a[bc]?",
        r"[a-z]{4,900}",
        r"ACME-\d{4,}",
        r"(?P<x>acme)",
        r"ACME[",
        r"(acme",
        r"acme)",
        r"x{4}{4}",
        r"a{4}?b",
        r"[]]abc",
        r"[z-a]abc",
    ],
)
def test_patterns_outside_of_the_subset_are_refused_with_a_reason(pattern: str) -> None:
    with pytest.raises(PluginError) as refused:
        validate_detector(detector(pattern))
    assert refused.value.code is Code.CONTRIBUTION_INVALID
    assert "acme" in refused.value.sentence


def test_an_extra_detector_masks_also_in_short_texts() -> None:
    extra = (detector(r"ACME-\d{4}"),)
    assert redact_text("id ACME-1234", extra=extra).text == "id [REDACTED]"
    assert redact_structure({"id": "ACME-1234"}, extra=extra)[0] == {"id": "[REDACTED]"}
    assert redact_text("id ACME-1234").text == "id ACME-1234"


def test_many_bounded_repetitions_cannot_backtrack() -> None:
    """Would take ages with ordinary backtracking; the suite's own timeout is the judge."""
    extra = (validate_detector(detector("a{0,200}" * 5 + "bbbb")),)
    redact_text("a" * 20_000, extra=extra)
