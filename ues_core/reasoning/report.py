"""A finished consultation as JSON-shaped data: what was sent, what came back, how each claim is bound, what may be done."""

from __future__ import annotations

from typing import Any

from ues_core.contract import Advice, AdviceAction, ChannelKind, Packet, ProviderInfo
from ues_core.reasoning.consultation import Consultation
from ues_core.reasoning.exchange import Exchange
from ues_core.reasoning.panel import Panel


def packet_report(packet: Packet) -> dict[str, Any]:
    """Sizes, sections and what was left out; never the content."""
    return {
        "repository": packet.repository,
        "head": packet.head,
        "tier": str(packet.tier),
        "chars": packet.chars,
        "tokens_estimated": packet.tokens_estimated,
        "fingerprint": packet.fingerprint,
        "content_digest": packet.content,
        "redactions": packet.redactions,
        "context": [note.model_dump(mode="json") for note in packet.context],
        "sections": [report.model_dump(mode="json") for report in packet.reports],
        "left_out": [count.model_dump(mode="json") for count in packet.left_out],
    }


def advice_report(advice: Advice) -> dict[str, Any]:
    """The advice with each claim beside its binding."""
    bindings = {binding.claim: binding.model_dump(mode="json") for binding in advice.bindings}
    shape = advice.model_dump(mode="json", exclude={"bindings"})
    shape["claims"] = [{**claim, "binding": bindings.get(claim["number"])} for claim in shape["claims"]]
    return shape


def destination_of(info: ProviderInfo | None) -> str:
    """Where a prompt goes, in words; ``nowhere`` without a provider."""
    if info is None:
        return "nowhere: no provider is chosen"
    kind = "a scripted double; " if info.capabilities.deterministic else ""
    match info.channel:
        case ChannelKind.NONE:
            return f"{info.name}: {kind}it answers by itself and has no way out"
        case ChannelKind.PERSON:
            return f"{info.name}: {kind}a person carries the prompt to whoever answers"
        case _:
            origins = ", ".join(info.site.origins) if info.site is not None else "unknown"
            return f"{info.name}: {kind}a web page at {origins}"


def may_be_done(advice: Advice | None) -> str:
    """What may follow, in words; never a verdict."""
    if advice is None:
        return "Nothing: no advice came back that can be used. Go on locally."
    if advice.action is AdviceAction.IMPLEMENT_THEN_VERIFY:
        return "implement-then-verify: it may be tried, and only the local checks decide whether it is right."
    return "reject-and-retry-locally: it is kept for reading only."


def panel_report(panel: Panel) -> dict[str, Any]:
    """Several opinions: each in full, and the claims beside each other."""
    return {
        "panel": panel.id,
        "providers": list(dict.fromkeys([part.provider for part in panel.parts] + list(panel.failed))),
        "mode": str(panel.mode),
        "outcome": str(panel.outcome) if panel.outcome is not None else None,
        "code": str(panel.code),
        "reason": panel.reason,
        "next_step": panel.next_step,
        "advice": None,
        "claims": [claim.model_dump(mode="json") for claim in panel.claims],
        "failed": {name: error.as_dict() for name, error in panel.failed.items()},
        "parts": [consultation_report(part) for part in panel.parts],
    }


def exchange_report(exchange: Exchange) -> dict[str, Any]:
    """One exchange: what was sent, what was asked for, how it ended."""
    receipt = exchange.receipt
    return {
        "exchange": receipt.exchange,
        "by_itself": exchange.by_itself,
        "receipt": receipt.receipt_id,
        "request_id": receipt.request_id,
        "chars": receipt.prompt_chars,
        "digest": receipt.prompt_digest,
        "sections": [section.model_dump(mode="json") for section in exchange.sections] if receipt.request_id else [],
        "delta": exchange.delta.model_dump(mode="json") if exchange.delta is not None else None,
        "outcome": str(receipt.outcome),
        "code": str(receipt.code),
        "reason": receipt.reason,
        "evidence": [decision.model_dump(mode="json") for decision in exchange.evidence],
    }


def consultation_report(consultation: Consultation) -> dict[str, Any]:
    """Everything that a person or a host is told about a consultation."""
    decision, request = consultation.decision, consultation.request
    return {
        "consultation": consultation.id,
        "provider": consultation.provider or None,
        "destination": destination_of(consultation.provider_info),
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
        if request is None or not consultation.sent
        else {
            "request_id": request.request_id,
            "exchange": request.exchange,
            "chars": len(request.prompt),
            "digest": request.prompt_digest,
            "sections": [section.model_dump(mode="json") for section in request.sections],
        },
        "delta": consultation.delta.model_dump(mode="json") if consultation.delta is not None else None,
        "reused": consultation.reused or None,
        "exchanges": [exchange_report(exchange) for exchange in consultation.exchanges],
        "evidence": [decision.model_dump(mode="json") for decision in consultation.evidence],
        "advice": advice_report(consultation.advice) if consultation.advice is not None else None,
        "stripped": [f.model_dump(mode="json") for f in consultation.advice.authority_findings] if consultation.advice else [],
        "may": may_be_done(consultation.advice),
    }
