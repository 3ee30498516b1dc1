"""The decision packet: what a consultant is told, in thirteen bounded sections."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ues_core.contract._base import Model
from ues_core.contract.consulting_words import ContextState, EvidenceKind, LeftOut, PacketTier, SectionName


class PacketBudget(Model):
    """Bounds of a packet, in characters and rows (reference: packet table of the reasoning seed)."""

    packet_chars: int = Field(default=48_000, ge=2_000, le=2_000_000)
    """Characters of the whole rendered packet."""
    files: int = Field(default=24, ge=1, le=200)
    """Relevant files listed."""
    snippets: int = Field(default=12, ge=1, le=100)
    """Snippets of code."""
    evidence: int = Field(default=10, ge=1, le=100)
    """Pieces of evidence."""
    diff_chars: int = Field(default=12_000, ge=500, le=400_000)
    """Characters of the current change."""
    section_chars: int = Field(default=6_000, ge=500, le=200_000)
    """Characters of any other section."""
    snippet_chars: int = Field(default=1_600, ge=100, le=40_000)
    """Characters of one snippet."""
    evidence_chars: int = Field(default=2_000, ge=100, le=40_000)
    """Characters of one piece of evidence."""
    delta_chars: int = Field(default=16_000, ge=1_000, le=400_000)
    """Characters of a follow-up."""


class TextRow(Model):
    """A line of text: a task, a requirement, a constraint, a question, an attempt, a map line."""

    kind: Literal["text"] = "text"
    text: str


class FileRow(Model):
    """A relevant file."""

    kind: Literal["file"] = "file"
    path: str
    score: float = 0.0
    size: int = 0
    """Bytes."""
    digest: str = ""
    """SHA-256 of the local content, 64 hex."""
    symbols: tuple[str, ...] = ()
    why: str = ""


class SnippetRow(Model):
    """Exact lines of a file."""

    kind: Literal["snippet"] = "snippet"
    path: str
    start: int = Field(ge=1)
    end: int = Field(ge=1)
    text: str
    digest: str = ""
    """SHA-256 of the whole local file, 64 hex."""


class EdgeRow(Model):
    """One edge of the dependency or change graph."""

    kind: Literal["edge"] = "edge"
    source: str
    target: str
    relation: str = "imports"


class DiffRow(Model):
    """The current change of one file."""

    kind: Literal["diff"] = "diff"
    path: str
    text: str


class EvidenceRow(Model):
    """One piece of local evidence."""

    kind: Literal["evidence"] = "evidence"
    evidence: EvidenceKind
    source: str = ""
    text: str = ""
    digest: str = ""


Row = Annotated[TextRow | FileRow | SnippetRow | EdgeRow | DiffRow | EvidenceRow, Field(discriminator="kind")]
"""One row of a section."""


class SectionReport(Model):
    """What became of a section's rows, and why."""

    name: SectionName
    rows_in: int = 0
    kept: int = 0
    clipped: int = 0
    dropped: int = 0
    shed: bool = False
    chars: int = 0
    """Rendered."""
    why: str = Field(default="", max_length=300)


class Section(Model):
    """One section."""

    name: SectionName
    essential: bool = False
    rows: tuple[Row, ...] = ()
    digest: str = ""
    """SHA-256 over the rows, 32 hex."""


class LeftOutCount(Model):
    """How many things were left out for one reason, with a few examples."""

    reason: LeftOut
    count: int
    examples: tuple[str, ...] = ()


class ContextNote(Model):
    """What became of one hook package that was asked for sections of the host's own."""

    distribution: str
    state: ContextState
    sections: int = 0
    """Sections that are in the packet, before its budget."""
    chars: int = 0
    cause: str = Field(default="", max_length=300)


class Packet(Model):
    """A decision packet: bounded, redacted, fingerprinted over its content."""

    sections: tuple[Section, ...]
    tier: PacketTier = PacketTier.LARGE
    budget: PacketBudget = PacketBudget()
    fingerprint: str = ""
    """SHA-256 over the thirteen sections' contents, 32 hex; no provider, no time."""
    chars: int = 0
    """Size of the rendered outbound text."""
    tokens_estimated: int = 0
    """chars / 4, rounded up; an estimate and labelled so."""
    reports: tuple[SectionReport, ...] = ()
    left_out: tuple[LeftOutCount, ...] = ()
    redactions: int = 0
    context: tuple[ContextNote, ...] = ()
    """Who was asked for sections of the host's own, and what came of it."""
    content: str = ""
    """SHA-256 over everything that the packet was made from *before* it was bounded, 64 hex: what the host said, every file that
    was read, the whole diff. Equal means that nothing changed, also in what is not shown."""
    repository: str = ""
    """Name of the repository's folder, never its path."""
    head: str = ""
    """Commit the packet was built at; empty without one."""

    def section(self, name: SectionName) -> Section:
        """The section of that name (every packet has all thirteen)."""
        return next(s for s in self.sections if s.name is name)


class DeltaReport(Model):
    """What a follow-up sends: exactly this, and nothing else."""

    identical: bool = False
    sent: tuple[SectionName, ...] = ()
    omitted: tuple[SectionName, ...] = ()
    critical_omitted: tuple[SectionName, ...] = ()
    chars: int = 0
    saved_chars: int = 0
