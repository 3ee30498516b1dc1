"""What changed between two packets: a follow-up sends exactly that, and says what it had to leave out."""

from __future__ import annotations

from typing import Final, NamedTuple

from ues_core.contract import ESSENTIAL_SECTIONS, DeltaReport, Packet, Section, SectionName
from ues_core.reasoning.packet import render_row

CRITICAL: Final = (
    *ESSENTIAL_SECTIONS,
    SectionName.FAILING_EVIDENCE,
    SectionName.CURRENT_DIFF,
    SectionName.UNRESOLVED_QUESTIONS,
)
"""Sections without which a follow-up misleads: a consultant that does not see the new failure answers the old one."""

_FIRST: Final = (SectionName.UNRESOLVED_QUESTIONS, SectionName.FAILING_EVIDENCE, SectionName.CURRENT_DIFF, *ESSENTIAL_SECTIONS)


class Delta(NamedTuple):
    """The sections to send, in packet order, and the report about them."""

    sections: tuple[Section, ...]
    report: DeltaReport


def delta_of(before: Packet, after: Packet, *, limit: int) -> Delta:
    """Changed sections in full, critical ones first, within ``limit`` characters; one that does not fit is named as omitted."""
    if before.fingerprint == after.fingerprint:
        return Delta((), DeltaReport(identical=True, saved_chars=after.chars))
    known = {section.name: section.digest for section in before.sections}
    changed = [section for section in after.sections if known.get(section.name) != section.digest]
    room = limit
    sent: set[SectionName] = set()
    for section in sorted(changed, key=lambda s: (s.name not in _FIRST, _FIRST.index(s.name) if s.name in _FIRST else 0)):
        size = section_chars(section)
        if size <= room:
            sent.add(section.name)
            room -= size
    omitted = tuple(s.name for s in changed if s.name not in sent)
    kept = tuple(s for s in changed if s.name in sent)
    return Delta(
        kept,
        DeltaReport(
            sent=tuple(s.name for s in kept),
            omitted=omitted,
            critical_omitted=tuple(name for name in omitted if name in CRITICAL),
            chars=limit - room,
            saved_chars=max(0, after.chars - (limit - room)),
        ),
    )


def section_chars(section: Section) -> int:
    """Characters of a section's rendered rows."""
    return sum(len(render_row(row)) + 1 for row in section.rows)
