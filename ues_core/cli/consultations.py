"""``ues consultations``: what was asked, what was sent, what came back; also of hosts that have ended."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click

from ues_core.cli._output import json_option, print_json, print_table, say

if TYPE_CHECKING:
    from ues_core.reasoning.history import HistoryStore, KeptConsultation


@click.group("consultations")
def command() -> None:
    """Look at the second opinions that were asked for."""


@command.command("list")
@click.option("--limit", type=click.IntRange(1, 200), default=50, show_default=True, help="How many, latest first.")
@json_option
def list_(limit: int, as_json: bool) -> None:
    """List the kept consultations."""
    kept = _store().all()[:limit]
    if as_json:
        print_json([_line(one) for one in kept])
        return
    if not kept:
        say("No consultation is kept here.")
        return
    rows = [
        (
            one.consultation,
            _when(one.changed_at),
            one.provider.name or "none",
            str(one.outcome),
            len(one.exchanges),
            one.inputs.task[:60],
        )
        for one in kept
    ]
    print_table(("consultation", "when", "provider", "outcome", "exchanges", "task"), rows)


@command.command("show")
@click.argument("consultation")
@json_option
def show(consultation: str, as_json: bool) -> None:
    """Show one consultation, or a panel of several, by its id."""
    store = _store()
    if consultation.startswith("pan-"):
        _show_panel(store, consultation, as_json)
        return
    kept = store.get(consultation)
    if as_json:
        print_json(_shape(kept))
    else:
        _show(kept)


def _store() -> HistoryStore:
    from ues_core.config import load_settings
    from ues_core.reasoning.history import HistoryStore

    return HistoryStore(load_settings().state_dir)


def _line(kept: KeptConsultation) -> dict[str, Any]:
    return {
        "consultation": kept.consultation,
        "panel": kept.panel or None,
        "at": _when(kept.changed_at),
        "provider": kept.provider.name or None,
        "mode": kept.mode,
        "outcome": kept.outcome,
        "code": kept.code,
        "exchanges": len(kept.exchanges),
        "can_be_followed_up": kept.resume is not None,
        "task": kept.inputs.task[:200],
    }


def _shape(kept: KeptConsultation) -> dict[str, Any]:
    from ues_core.reasoning.report import advice_report, may_be_done, packet_report

    return _line(kept) | {
        "provider_identity": kept.provider,
        "destination": kept.destination,
        "reason": kept.reason,
        "next_step": kept.next_step,
        "decision": kept.decision,
        "packet": packet_report(kept.packet) if kept.packet is not None else None,
        "sent": [
            {
                "exchange": e.receipt.exchange,
                "question": e.question,
                "request_id": e.receipt.request_id,
                "chars": e.receipt.prompt_chars,
                "digest": e.receipt.prompt_digest,
                "sections": e.sent,
                "delta": e.delta,
                "evidence": e.evidence,
                "receipt": e.receipt.receipt_id,
                "outcome": e.receipt.outcome,
                "code": e.receipt.code,
                "advice": advice_report(e.advice) if e.advice is not None else None,
                "stripped": e.stripped,
                "may": may_be_done(e.advice),
            }
            for e in kept.exchanges
        ],
    }


def _show(kept: KeptConsultation) -> None:
    from ues_core.cli._opinion import show_consultation
    from ues_core.reasoning.exchange import Exchange
    from ues_core.reasoning.report import advice_report, exchange_report, may_be_done

    say(f"Task: {kept.inputs.task}")
    say(f"Asked in mode {kept.mode}: {kept.decision}")
    for number, exchange in enumerate(kept.exchanges, 1):
        receipt, advice = exchange.receipt, exchange.advice
        say(f"\nExchange {receipt.exchange}, {receipt.started_at}" + (f": {exchange.question}" if exchange.question else ""))
        last = number == len(kept.exchanges)
        show_consultation(
            {
                "consultation": kept.consultation,
                "provider": receipt.provider,
                "outcome": str(receipt.outcome),
                "cause": str(kept.cause) if last and kept.cause else None,
                "code": str(receipt.code),
                "reason": receipt.reason,
                "next_step": kept.next_step if last else "",
                "destination": kept.destination,
                "exchanges": [
                    exchange_report(Exchange(receipt, exchange.sent, exchange.delta, exchange.evidence, exchange.by_itself))
                ],
                "advice": advice_report(advice) if advice is not None else None,
                "stripped": [found.model_dump(mode="json") for found in exchange.stripped],
                "may": may_be_done(advice),
            }
        )
    if kept.resume is not None:
        say(f'It can be followed up: ues consult --follow-up {kept.consultation} "your question"')


def _show_panel(store: HistoryStore, name: str, as_json: bool) -> None:
    from ues_core.cli._opinion import show_panel_claims
    from ues_core.reasoning.panel import Opinion, compare

    panel = store.panel(name)
    parts = [store.get(part) for part in panel.parts]
    opinions = [
        Opinion(part.provider.name, part.consultation, advice)
        for part in parts
        if part.exchanges and (advice := part.exchanges[-1].advice) is not None
    ]
    claims = [claim.model_dump(mode="json") for claim in compare(opinions)]
    if as_json:
        print_json(
            {
                "panel": name,
                "task": panel.task,
                "parts": [_shape(part) for part in parts],
                "failed": panel.failed,
                "claims": claims,
            }
        )
        return
    say(f"Task: {panel.task}")
    rows = [(part.consultation, part.provider.name, str(part.outcome), part.reason) for part in parts]
    print_table(("consultation", "provider", "outcome", "reason"), rows)
    for provider, sentence in panel.failed.items():
        say(f"{provider} could not be asked: {sentence}")
    show_panel_claims(claims)


def _when(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")
