"""Where every record of a host goes: redacted, into the ledger, then to the observers."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from ues_core.contract import (
    AnyReceipt,
    ConsultReceipt,
    ExtraDetector,
    GateReceipt,
    Intent,
    LedgerError,
    ObservationReceipt,
    Receipt,
    SessionReceipt,
    TargetNote,
)
from ues_core.redact import redact_text
from ues_core.seal.ledger import Ledger

Publish = Callable[[str, AnyReceipt], None]
"""Hands a frozen, redacted model to the observers of one hook; never blocks, never raises."""

_HOOKS: tuple[tuple[type, str], ...] = (
    (ObservationReceipt, "ues_observation_made"),
    (ConsultReceipt, "ues_consultation_finished"),
    (GateReceipt, "ues_gate_decided"),
)


class LedgerRecorder:
    """Redacts, appends, publishes. After the ledger failed once, :meth:`check` refuses whatever would go unrecorded."""

    def __init__(self, ledger: Ledger, publish: Publish, detectors: tuple[ExtraDetector, ...] = ()) -> None:
        self._ledger = ledger
        self._publish = publish
        self._detectors = detectors
        self.failure: LedgerError | None = None

    def check(self) -> None:
        """Raise the ledger's failure, if there was one: what cannot be recorded is not done."""
        if self.failure is not None:
            raise self.failure

    def receipt(self, receipt: AnyReceipt) -> None:
        """Keep a receipt. A failing ledger is remembered, not raised: what happened has happened."""
        clean = self._redacted(receipt)
        try:
            self._ledger.append_receipt(clean)
        except LedgerError as error:
            self.failure = error
        self._publish("ues_receipt_written", clean)
        for kind, hook in _HOOKS:
            if isinstance(clean, kind):
                self._publish(hook, clean)

    async def intent(self, intent: Intent) -> None:
        """Keep an intent; on disk when this returns, else ``LedgerError`` and nothing may happen."""
        clean = intent
        if intent.target is not None:
            clean = intent.model_copy(update={"target": self._target(intent.target)})
        await asyncio.to_thread(self._ledger.append_intent, clean)

    # Ids, codes and digests are exempt from masking; only free text is masked.

    def _redacted(self, receipt: AnyReceipt) -> AnyReceipt:
        changes: dict[str, object] = {}
        for name in ("reason", "subject"):
            text = getattr(receipt, name, "")
            if text:
                changes[name] = self._mask(text)
        if isinstance(receipt, Receipt):
            if receipt.warnings:
                changes["warnings"] = tuple(self._mask(w) for w in receipt.warnings)
            if receipt.target is not None:
                changes["target"] = self._target(receipt.target)
            for name in ("before", "after"):
                found = getattr(receipt, name)
                if found:
                    changes[name] = {k: self._mask(v) for k, v in found.items()}
        elif isinstance(receipt, SessionReceipt | ConsultReceipt | GateReceipt | ObservationReceipt):
            pass
        return receipt.model_copy(update=changes) if changes else receipt

    def _target(self, target: TargetNote) -> TargetNote:
        return target.model_copy(update={"name": self._mask(target.name)})

    def _mask(self, text: str) -> str:
        return redact_text(text, extra=self._detectors).text
