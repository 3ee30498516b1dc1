"""A finished consultation as JSON-shaped data: what was sent, what came back, how each claim is bound, what may be done."""

from __future__ import annotations

from typing import Any

from ues_core.contract import Advice, Packet
from ues_core.reasoning.consultation import Consultation


def packet_report(packet: Packet) -> dict[str, Any]:
    """Sizes, sections and what was left out; never the content."""
    return {
        "repository": packet.repository,
        "head": packet.head,
        "tier": str(packet.tier),
        "chars": packet.chars,
        "tokens_estimated": packet.tokens_estimated,
        "fingerprint": packet.fingerprint,
        "redactions": packet.redactions,
        "sections": [report.model_dump(mode="json") for report in packet.reports],
        "left_out": [count.model_dump(mode="json") for count in packet.left_out],
    }


def advice_report(advice: Advice) -> dict[str, Any]:
    """The advice with each claim beside its binding."""
    bindings = {binding.claim: binding.model_dump(mode="json") for binding in advice.bindings}
    shape = advice.model_dump(mode="json", exclude={"bindings"})
    shape["claims"] = [{**claim, "binding": bindings.get(claim["number"])} for claim in shape["claims"]]
    return shape


def consultation_report(consultation: Consultation) -> dict[str, Any]:
    """Everything that a person or a host is told about a consultation."""
    decision, request = consultation.decision, consultation.request
    return {
        "consultation": consultation.id,
        "provider": consultation.provider or None,
        "mode": str(consultation.mode),
        "outcome": str(consultation.outcome) if consultation.outcome is not None else None,
        "cause": str(consultation.cause) if consultation.cause is not None else None,
        "code": str(consultation.code),
        "reason": consultation.reason,
        "next_step": consultation.next_step,
        "decision": None
        if decision is None
        else {
            "escalate": decision.escalate,
            "basis": str(decision.basis),
            "signals": [str(s) for s in decision.signals],
            "skips": [str(s) for s in decision.skips],
            "reasons": list(decision.reasons),
        },
        "packet": packet_report(consultation.packet) if consultation.packet is not None else None,
        "sent": None
        if request is None
        else {
            "request_id": request.request_id,
            "exchange": request.exchange,
            "chars": len(request.prompt),
            "digest": request.prompt_digest,
            "sections": [section.model_dump(mode="json") for section in request.sections],
        },
        "advice": advice_report(consultation.advice) if consultation.advice is not None else None,
    }
