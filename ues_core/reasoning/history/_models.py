"""What is kept of a consultation. Never the prompt and never the raw answer: sizes, digests, claims and what became of them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from ues_core.contract import (
    Advice,
    AuthorityFinding,
    Code,
    ConsultOutcome,
    ConsultReceipt,
    DeltaReport,
    EvidenceDecision,
    EvidenceRow,
    Model,
    Packet,
    PromptSection,
    ReasoningMode,
)


class Identity(Model):
    """Which provider held a conversation. Any difference refuses to resume it."""

    name: str
    distribution: str = ""
    version: str = ""
    entry_point: str = ""


class Resume(Model):
    """How a conversation is taken up again. Opaque to everybody but its provider."""

    handle: str = Field(min_length=1, max_length=400)
    generation: int = 1
    profile: str = ""
    at: float
    """When it was last used; seconds since the epoch."""


class KeptInputs(Model):
    """What the packet was built from, redacted: a follow-up builds it again and sends what changed."""

    task: str
    constraints: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    questions: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    evidence: tuple[EvidenceRow, ...] = ()
    granted: tuple[EvidenceRow, ...] = ()
    """What the consultant asked for and got last: without it, a follow-up would seem to have changed."""
    failing_log: str | None = None
    files: tuple[str, ...] = ()
    seen_evidence: tuple[str, ...] = ()
    """Digests of the evidence that was already brought."""


class KeptExchange(Model):
    """One exchange: what was sent and what came back."""

    receipt: ConsultReceipt
    question: str = ""
    sent: tuple[PromptSection, ...] = ()
    delta: DeltaReport | None = None
    evidence: tuple[EvidenceDecision, ...] = ()
    by_itself: bool = False
    """Sent because the consultant had asked for evidence."""
    advice: Advice | None = None
    stripped: tuple[AuthorityFinding, ...] = ()


class KeptConsultation(Model):
    """One consultation."""

    format: Literal[1] = 1
    consultation: str
    panel: str = ""
    """Id of the panel that it was part of."""
    owner: str = ""
    provider: Identity
    destination: str = ""
    model: str = ""
    mode: ReasoningMode
    outcome: ConsultOutcome | None = None
    cause: ConsultOutcome | None = None
    code: Code = Code.OK
    reason: str = ""
    next_step: str = ""
    decision: str = ""
    repository: str = ""
    """Identity of the repository's folder; empty without one."""
    packet: Packet | None = None
    """Without its rows: names, digests and reports of the sections."""
    inputs: KeptInputs
    exchanges: tuple[KeptExchange, ...] = ()
    resume: Resume | None = None
    """``None`` when it cannot be followed up."""
    changed_at: float = 0.0
    """Seconds since the epoch."""


class KeptPanel(Model):
    """Several consultations about one task."""

    format: Literal[1] = 1
    panel: str
    task: str = ""
    parts: tuple[str, ...] = ()
    failed: dict[str, str] = {}
    """Provider -> what failed, in words."""
    changed_at: float = 0.0
