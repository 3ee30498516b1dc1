"""One exchange with a consultant: how it ended, what is kept of it, and its receipt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from ues_core.contract import (
    Advice,
    Code,
    ConsultOutcome,
    ConsultReceipt,
    ConsultRequest,
    DeltaReport,
    EvidenceDecision,
    Packet,
    PromptSection,
    ProviderError,
    RawAnswer,
    UesError,
)
from ues_core.reasoning.grant import Grant
from ues_core.reasoning.inputs import Tools
from ues_core.reasoning.judge import Judged

HELD: Final = frozenset({ConsultOutcome.ANSWERED, ConsultOutcome.REJECTED})
"""Outcomes of an exchange that really took place: its session may be followed up."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One exchange that has ended: what was sent, what came back, which evidence was asked for."""

    receipt: ConsultReceipt
    sections: tuple[PromptSection, ...] = ()
    delta: DeltaReport | None = None
    evidence: tuple[EvidenceDecision, ...] = ()
    by_itself: bool = False
    """A follow-up that the consultation sent because its consultant asked for evidence."""


class Standing(NamedTuple):
    """How a consultation stood before it served evidence."""

    outcome: ConsultOutcome | None
    code: Code
    reason: str
    next_step: str
    advice: Advice | None


class Unheld(ProviderError):
    """An exchange that was not held, with its outcome."""

    def __init__(
        self,
        outcome: ConsultOutcome,
        code: Code,
        reason: str,
        next_step: str = "",
        raw: RawAnswer | None = None,
        judged: Judged | None = None,
    ) -> None:
        super().__init__(reason, code=code, next_step=next_step)
        self.outcome = outcome
        self.raw = raw
        self.judged = judged


def outcome_of(error: UesError) -> ConsultOutcome:
    if error.code is Code.ANSWER_IS_PROMPT:
        return ConsultOutcome.REJECTED
    return ConsultOutcome.TIMED_OUT if error.code is Code.DEADLINE_EXCEEDED else ConsultOutcome.UNAVAILABLE


def receipt_of(
    tools: Tools,
    *,
    consultation: str,
    exchange: int,
    owner: str,
    provider: str,
    outcome: ConsultOutcome,
    code: Code,
    reason: str,
    request: ConsultRequest | None,
    packet: Packet | None,
    model: str,
    raw: RawAnswer | None,
    judged: Judged | None,
    asked: Sequence[EvidenceDecision],
    reused: str,
    grant: Grant | None,
    started: float,
    started_at: str,
) -> ConsultReceipt:
    """The receipt of an exchange that has ended: sizes and digests, never the text. ``request`` is what was really sent."""
    advice = judged.advice if judged is not None else None
    return ConsultReceipt(
        receipt_id=tools.new_id("rcp"),
        owner=owner,
        consultation=consultation,
        exchange=exchange,
        provider=provider or "none",
        outcome=outcome,
        code=code,
        reason=reason,
        request_id=request.request_id if request is not None else "",
        packet_fingerprint=packet.fingerprint if packet is not None else "",
        prompt_digest=request.prompt_digest if request is not None else "",
        prompt_chars=len(request.prompt) if request is not None else 0,
        sections=tuple(str(s.name) for s in request.sections) if request is not None else (),
        answer_digest=judged.raw_digest if judged is not None else "",
        answer_chars=len(raw.text) if raw is not None else 0,
        model_requested=model,
        model_observed=raw.model_observed if raw is not None else "",
        claims=len(advice.claims) if advice is not None else 0,
        present=judged.present if judged is not None else 0,
        absent=judged.absent if judged is not None else 0,
        rejected=judged.rejected if judged is not None else 0,
        authority_claims=tuple(sorted({str(f.category) for f in judged.findings})) if judged is not None else (),
        evidence_asked=len(asked),
        evidence_granted=sum(d.granted for d in asked),
        evidence_denied=tuple(str(d.denial) for d in asked if d.denial is not None),
        reused=reused,
        approval=grant.approval.approval_id if grant is not None else "",
        approval_used=grant is not None and grant.used,
        repository=tools.repository,
        started_at=started_at,
        duration_ms=max(0.0, (tools.clock() - started) * 1_000) if started else 0.0,
    )
