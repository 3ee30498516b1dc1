"""The lane: gate and receipt around tool calls that a host dispatches by itself. It never dispatches anything."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ues_core.contract import (
    ActionClass,
    Check,
    Code,
    DispatchStatus,
    Expectation,
    ExpectKind,
    GateReceipt,
    Landed,
    Need,
    OriginGate,
    Receipt,
    RequestKind,
    UesError,
    UsageError,
    decide,
)
from ues_core.policy.budgets import SessionBudget
from ues_core.policy.taxonomy import traits
from ues_core.redact import redact_text
from ues_core.session import Recorder
from ues_core.session._text import iso, sha
from ues_core.session.drafting import parse_expectations
from ues_core.session.verifying import verdict

PENDING = 256
"""Calls that may be open at once; the oldest is forgotten."""


@dataclass(slots=True)
class _Open:
    verb: str
    started: float
    at: str
    target: str


class Lane:
    """One owner's lane. ``gate`` before the host's tool runs, ``receipt`` after it."""

    def __init__(
        self,
        owner: str,
        *,
        recorder: Recorder,
        origins: OriginGate,
        budget: SessionBudget,
        now: Callable[[], float],
        new_id: Callable[[str], str],
    ) -> None:
        self.owner = owner
        self._recorder = recorder
        self._origins = origins
        self._budget = budget
        self._now = now
        self._new_id = new_id
        self._open: dict[str, _Open] = {}
        self._attempts: dict[str, int] = {}

    def gate(
        self, call_id: str, verb: str, arguments: Mapping[str, Any] | None = None, *, approved: bool = False
    ) -> GateReceipt:
        """Whether the host may run the tool call. The verdict is data: ``allowed``, ``code``, ``reason``.

        ``verb`` is a verb of the taxonomy (``ues schema action`` lists them); an unknown one is the riskiest class.
        ``approved`` says that the host itself approved this one external side effect. A call that was blocked is not open.
        """
        _must_be_texts("gate", call_id=call_id, verb=verb)
        if arguments is not None and not (isinstance(arguments, Mapping) and all(isinstance(k, str) for k in arguments)):
            raise UsageError(
                "The arguments of lane.gate are no mapping of names to values.", next_step="Give a dict, or None for none."
            )
        arguments = dict(arguments or {})
        kind = traits(verb)
        target = sha((verb, *(f"{k}={arguments[k]}" for k in sorted(arguments))), 24)
        code, reason = Code.OK, "allowed"
        if kind.unknown:
            code, reason = Code.UNKNOWN_VERB, f"'{verb[:80]}' is no verb of the taxonomy; it is never dispatched."
        elif kind.action_class is ActionClass.EXTERNAL_SIDE_EFFECT and not approved:
            code, reason = Code.APPROVAL_REQUIRED, "This has an effect outside the surface and was not approved."
        elif self._attempts.get(target, 0) > kind.max_retries:
            code, reason = Code.BUDGET_EXHAUSTED, "The same call was tried as often as its class allows."
        elif "url" in arguments:
            judged = decide(self._origins, str(arguments["url"]), RequestKind.NAVIGATE)
            if not judged.allowed:
                code, reason = judged.code, judged.reason
        if code is Code.OK:
            try:
                self._budget.spend(verb)
            except UesError as error:
                code, reason = error.code, error.sentence
        receipt = GateReceipt(
            receipt_id=self._new_id("gat"),
            owner=self.owner,
            subject=f"{verb[:80]} {target}",
            allowed=code is Code.OK,
            code=code,
            reason=redact_text(reason).text[:500],
            at=iso(self._now()),
        )
        if receipt.allowed:
            self._attempts[target] = self._attempts.get(target, 0) + 1
            self._open[call_id] = _Open(verb, time.monotonic(), iso(self._now()), target)
            while len(self._open) > PENDING:
                del self._open[next(iter(self._open))]
        self._recorder.receipt(receipt)
        return receipt

    def receipt(
        self,
        call_id: str,
        *,
        result: str = "",
        error: str | None = None,
        location: str = "",
        expect: Expectation | Mapping[str, Any] | Sequence[Any] | None = None,
    ) -> Receipt:
        """The receipt of a call that ran: tool success alone is never ``verified``.

        ``result`` is the tool's text and ``location`` the URL that the host saw; expectations about text and URL are held
        against them, all others stay unobserved. A call that was never allowed is recorded as rejected.
        """
        _must_be_texts("receipt", call_id=call_id, result=result, error=error or "", location=location)
        opened = self._open.pop(call_id, None)
        verb = opened.verb if opened is not None else "unknown"
        kind = traits(verb)
        checks = [_check(e, result, location) for e in parse_expectations(expect)]
        if opened is None:
            status, code, reason = DispatchStatus.REJECTED, Code.USAGE, "No open call has this id."
        elif error is not None:
            status, code, reason = DispatchStatus.FAILED, Code.DRIVER_FAILED, redact_text(error).text[:500]
        else:
            status, code, reason = DispatchStatus.CONFIRMED, Code.OK, ""
            if kind.max_retries and kind.action_class is not ActionClass.EXTERNAL_SIDE_EFFECT:
                self._attempts.pop(opened.target, None)
        receipt = Receipt(
            receipt_id=self._new_id("act"),
            owner=self.owner,
            session="",
            driver="host",
            verb=verb[:80],
            action_class=kind.action_class,
            risk=kind.risk,
            status=status,
            code=code,
            reason=reason,
            dispatched=opened is not None,
            landed=Landed.UNKNOWN if opened is not None else Landed.NOWHERE,
            verification=verdict(checks, needed=kind.post_verification is Need.REQUIRED),
            started_at=opened.at if opened is not None else iso(self._now()),
            duration_ms=0.0 if opened is None else min((time.monotonic() - opened.started) * 1000, 600_000.0),
        )
        self._recorder.receipt(receipt)
        return receipt


def _must_be_texts(method: str, **values: object) -> None:
    for name, value in values.items():
        if not isinstance(value, str):
            raise UsageError(
                f"'{name}' of lane.{method} is a {type(value).__name__}, not a text.", next_step=f"Give {name} as a str."
            )


def _check(expectation: Expectation, result: str, location: str) -> Check:
    seen: bool | None = None
    text = expectation.text.casefold()
    if expectation.kind is ExpectKind.URL and location:
        seen = location.startswith(expectation.text)
    elif expectation.kind is ExpectKind.TEXT_PRESENT and result:
        seen = text in result.casefold()
    elif expectation.kind is ExpectKind.TEXT_ABSENT and result:
        seen = text not in result.casefold()
    return Check(kind=expectation.kind, required=expectation.required, observed=seen)
