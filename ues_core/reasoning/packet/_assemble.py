"""Rank, compact, shed: rows become thirteen bounded sections, measured on the outbound text, with a report for each.

Essential sections are never cut: what does not fit is an error that names it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from ues_core.contract import (
    ESSENTIAL_SECTIONS,
    Code,
    PacketBudget,
    Row,
    Section,
    SectionName,
    SectionReport,
    TextRow,
    UsageError,
)
from ues_core.reasoning.packet._rows import render_row

SHED_ORDER: Final = (
    SectionName.PREVIOUS_ATTEMPTS,
    SectionName.UNRESOLVED_QUESTIONS,
    SectionName.DEPENDENCY_GRAPH,
    SectionName.ARCHITECTURE_MAP,
    SectionName.EXACT_SNIPPETS,
    SectionName.CURRENT_DIFF,
    SectionName.FAILING_EVIDENCE,
    SectionName.RELEVANT_SUBSYSTEMS,
    SectionName.RELEVANT_FILES,
)
"""Who gives way first under pressure; the order of the reasoning seed."""

ROWS: Final[Mapping[SectionName, int]] = {
    SectionName.ORIGINAL_TASK: 1,
    SectionName.REQUIREMENT_SUMMARY: 40,
    SectionName.CONSTRAINTS: 40,
    SectionName.VERIFICATION_EXPECTATIONS: 40,
    SectionName.ARCHITECTURE_MAP: 80,
    SectionName.RELEVANT_SUBSYSTEMS: 30,
    SectionName.DEPENDENCY_GRAPH: 60,
    SectionName.CURRENT_DIFF: 200,
    SectionName.PREVIOUS_ATTEMPTS: 12,
    SectionName.UNRESOLVED_QUESTIONS: 20,
}
"""Rows of a section, at most. Files, snippets and evidence have theirs in the budget."""


@dataclass(slots=True)
class Draft:
    """A section in the making: its rows in rank order, and what became of the others."""

    name: SectionName
    rows: list[Row] = field(default_factory=list)
    rows_in: int = 0
    clipped: int = 0
    shed: bool = False
    why: list[str] = field(default_factory=list)

    @property
    def essential(self) -> bool:
        return self.name in ESSENTIAL_SECTIONS

    @property
    def chars(self) -> int:
        return sum(len(render_row(row)) + 1 for row in self.rows)

    def keep(self, count: int, why: str) -> None:
        """Keep the first ``count`` rows."""
        if len(self.rows) > count:
            del self.rows[count:]
            self.note(why)

    def note(self, why: str) -> None:
        if why not in self.why:
            self.why.append(why)

    def report(self) -> SectionReport:
        return SectionReport(
            name=self.name,
            rows_in=self.rows_in,
            kept=len(self.rows),
            clipped=self.clipped,
            dropped=self.rows_in - len(self.rows),
            shed=self.shed,
            chars=self.chars if self.rows else 0,
            why="; ".join(self.why)[:300],
        )

    def section(self) -> Section:
        return Section(name=self.name, essential=self.essential, rows=tuple(self.rows), digest=rows_digest(self.rows))


def rows_digest(rows: Sequence[Row]) -> str:
    """SHA-256 over the rows as canonical JSON, 32 hex."""
    content = json.dumps(
        [row.model_dump(mode="json") for row in rows], sort_keys=True, ensure_ascii=False, separators=(",", ":")
    )
    return hashlib.sha256(content.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def fingerprint(sections: Sequence[Section]) -> str:
    """SHA-256 over the names and digests of the sections, 32 hex: content only, no provider, no time."""
    return hashlib.sha256("\n".join(f"{s.name} {s.digest}" for s in sections).encode()).hexdigest()[:32]


def fit(
    drafts: Mapping[SectionName, Draft],
    budget: PacketBudget,
    measure: Callable[[Sequence[Section]], int],
    *,
    more: Mapping[SectionName, int] | None = None,
) -> tuple[Section, ...]:
    """Bound every section, then the whole. ``measure`` gives the characters of the rendered outbound text; ``more`` are
    characters that a section may have beyond its budget.

    Raises ``UsageError`` with code ``packet-overflow`` when an essential row does not fit; it is named, never cut.
    """
    _bound_rows(drafts, budget)
    _check_essentials(drafts, budget, measure)
    for draft in drafts.values():
        if not draft.essential:
            _bound_chars(draft, _ceiling(draft.name, budget) + (more or {}).get(draft.name, 0))
    _relieve(drafts, lambda: measure(sections_of(drafts)) > budget.packet_chars)
    return sections_of(drafts)


def _relieve(drafts: Mapping[SectionName, Draft], too_large: Callable[[], bool]) -> None:
    """Compact in rounds, every section by half in turn; shed whole sections only when nothing is left to halve."""
    while too_large() and any(len(drafts[name].rows) > 1 for name in SHED_ORDER):
        for name in SHED_ORDER:
            draft = drafts[name]
            if len(draft.rows) > 1 and too_large():
                draft.keep((len(draft.rows) + 1) // 2, "halved to fit the packet")
    for name in SHED_ORDER:
        draft = drafts[name]
        if draft.rows and too_large():
            draft.rows.clear()
            draft.shed = True
            draft.note("shed to fit the packet")


def sections_of(drafts: Mapping[SectionName, Draft]) -> tuple[Section, ...]:
    """All thirteen sections, in their fixed order."""
    return tuple(drafts[name].section() for name in SectionName)


def _ceiling(name: SectionName, budget: PacketBudget) -> int:
    if name is SectionName.CURRENT_DIFF:
        return budget.diff_chars
    if name is SectionName.EXACT_SNIPPETS:
        return max(budget.section_chars, min(budget.snippets * budget.snippet_chars, budget.packet_chars // 2))
    return budget.section_chars


def _bound_rows(drafts: Mapping[SectionName, Draft], budget: PacketBudget) -> None:
    limits = {
        **ROWS,
        SectionName.RELEVANT_FILES: budget.files,
        SectionName.EXACT_SNIPPETS: budget.snippets,
        SectionName.FAILING_EVIDENCE: budget.evidence,
    }
    for name, draft in drafts.items():
        draft.rows_in = max(draft.rows_in, len(draft.rows))
        if draft.essential and len(draft.rows) > limits[name]:
            raise _overflow(name, limits[name], draft.rows[limits[name]], f"there are more than {limits[name]} of them")
        draft.keep(limits[name], f"at most {limits[name]} rows")


def _bound_chars(draft: Draft, ceiling: int) -> None:
    """Keep whole rows in rank order while they fit; one that does not is left out, and smaller ones behind it may still fit."""
    room = ceiling
    kept: list[Row] = []
    for row in draft.rows:
        size = len(render_row(row)) + 1
        if size <= room:
            kept.append(row)
            room -= size
        else:
            draft.note(f"at most {ceiling} characters")
    draft.rows = kept


def _check_essentials(
    drafts: Mapping[SectionName, Draft], budget: PacketBudget, measure: Callable[[Sequence[Section]], int]
) -> None:
    bare = {name: Draft(name) for name in SectionName}
    for name in SectionName:
        if name not in ESSENTIAL_SECTIONS:
            continue
        for number, row in enumerate(drafts[name].rows):
            bare[name].rows.append(row)
            if measure(sections_of(bare)) > budget.packet_chars:
                raise _overflow(name, number, row, f"the packet may have {budget.packet_chars} characters")


def _overflow(name: SectionName, number: int, row: Row, why: str) -> UsageError:
    quote = row.text if isinstance(row, TextRow) else render_row(row)
    quote = quote if len(quote) <= 120 else quote[:117] + "..."
    return UsageError(
        f"Number {number + 1} of the section {name} does not fit, and essential rows are never cut ({why}): {quote}",
        code=Code.PACKET_OVERFLOW,
        next_step="Shorten it, or raise the packet's budget.",
        details={"section": str(name), "row": str(number + 1), "text": quote},
    )
