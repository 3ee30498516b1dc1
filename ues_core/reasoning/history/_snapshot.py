"""From a consultation in memory to what is kept of it."""

from __future__ import annotations

from typing import Final

from ues_core.contract import ConsultReceipt, Packet
from ues_core.reasoning.consultation import Consultation
from ues_core.reasoning.exchange import HELD
from ues_core.reasoning.history._models import Identity, KeptConsultation, KeptExchange, KeptInputs, Resume

EXCHANGES_KEPT: Final = 17
"""The first exchange and the most follow-ups that the contract allows."""
TEXT_KEPT: Final = 20_000
"""Characters of one input that are kept."""


def kept_of(
    consultation: Consultation,
    *,
    provider: Identity,
    destination: str,
    repository: str,
    now: float,
    earlier: KeptConsultation | None = None,
    panel: str = "",
) -> KeptConsultation:
    """What is kept now, after the latest exchange; ``earlier`` is what was kept before it."""
    receipt = consultation.receipts[-1]
    exchanges = (*(earlier.exchanges if earlier is not None else ()), _exchange(consultation, receipt))
    return KeptConsultation(
        consultation=consultation.id,
        panel=panel or (earlier.panel if earlier is not None else ""),
        owner=receipt.owner,
        provider=provider,
        destination=destination,
        model=receipt.model_requested,
        mode=consultation.mode,
        outcome=consultation.outcome,
        cause=consultation.cause,
        code=consultation.code,
        reason=consultation.reason,
        next_step=consultation.next_step,
        decision=consultation.decision.reason if consultation.decision is not None else "",
        repository=repository,
        packet=_bare(consultation.packet),
        inputs=_inputs(consultation),
        exchanges=exchanges[-EXCHANGES_KEPT:],
        resume=_resume(consultation, now),
        changed_at=now,
    )


def _exchange(consultation: Consultation, receipt: ConsultReceipt) -> KeptExchange:
    request, advice = consultation.request, consultation.advice
    questions = consultation._inputs.questions
    return KeptExchange(
        receipt=receipt,
        question=questions[0] if questions and receipt.exchange > 1 and not consultation.exchanges[-1].by_itself else "",
        sent=request.sections if request is not None and consultation.sent else (),
        delta=consultation.delta,
        evidence=consultation.exchanges[-1].evidence,
        by_itself=consultation.exchanges[-1].by_itself,
        advice=advice,
        stripped=advice.authority_findings if advice is not None else (),
    )


def _resume(consultation: Consultation, now: float) -> Resume | None:
    session, consultant = consultation._session, consultation._consultant
    if session is None or consultant is None or consultation.outcome not in HELD:
        return None
    capabilities = consultant.info.capabilities
    if not (capabilities.resume and capabilities.follow_up and consultation._resume_handle):
        return None
    return Resume(handle=consultation._resume_handle, generation=session.generation, profile=session.profile, at=now)


def _bare(packet: Packet | None) -> Packet | None:
    if packet is None:
        return None
    return packet.model_copy(update={"sections": tuple(s.model_copy(update={"rows": ()}) for s in packet.sections)})


def _inputs(consultation: Consultation) -> KeptInputs:
    inputs = consultation._inputs
    return KeptInputs(
        task=inputs.task[:TEXT_KEPT],
        constraints=inputs.constraints,
        requirements=inputs.requirements,
        verification=inputs.verification,
        questions=inputs.questions,
        attempts=inputs.attempts,
        history=inputs.history,
        granted=inputs.granted,
        evidence=tuple(row.model_copy(update={"text": row.text[:TEXT_KEPT]}) for row in inputs.evidence[:20]),
        failing_log=inputs.failing_log[-TEXT_KEPT:] if inputs.failing_log is not None else None,
        files=inputs.files,
        seen_evidence=tuple(sorted(consultation._desk.seen))[:200],
    )
