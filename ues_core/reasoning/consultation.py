"""One consultation: decide, build, probe, consult, parse, bind, receipt; follow up; close. It never sends anything twice.

Everything that it needs is handed in: the wrapped provider, a channel, a clock, random words, a place for receipts. It knows no
host. Every exit has an outcome, a code and a receipt; every wait is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import math
import time
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from ues_core.contract import (
    Advice,
    CapabilityState,
    Code,
    ConsultOutcome,
    ConsultReceipt,
    ConsultRequest,
    DeltaReport,
    EvidenceRow,
    ExtraDetector,
    Fault,
    Packet,
    PacketBudget,
    PacketTier,
    PluginError,
    ProviderError,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    ReasoningMode,
    SectionReport,
    UesError,
    UsageError,
)
from ues_core.reasoning.channels import Channel
from ues_core.reasoning.delta import delta_of
from ues_core.reasoning.escalate import Decision, EscalationFacts, decide
from ues_core.reasoning.judge import Judged, judge_answer
from ues_core.reasoning.packet import BUILD_SECONDS, build_packet
from ues_core.reasoning.render import Rendered, check_outbound, render_delta, render_prompt
from ues_core.reasoning.wrap import CLOSE_SECONDS, GRACE_SECONDS, PROBE_SECONDS, START_SECONDS, ConsultantOnly, forget

HELD: Final = frozenset({ConsultOutcome.ANSWERED, ConsultOutcome.REJECTED})
"""Outcomes of an exchange that really took place: its session may be followed up."""


@dataclass(frozen=True, slots=True)
class PacketInputs:
    """What a packet is built from; see ``build_packet``."""

    task: str
    repo: Path | None = None
    constraints: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    evidence: tuple[EvidenceRow, ...] = ()
    questions: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()
    failing_log: str | None = None
    files: tuple[str, ...] = ()
    budget: PacketBudget | None = None
    tier: PacketTier | None = None


@dataclass(frozen=True, slots=True)
class ConsultLimits:
    """Bounds of a consultation; seconds and counts."""

    exchange: float = 180.0
    """One exchange with the provider."""
    probe: float = PROBE_SECONDS
    start: float = START_SECONDS
    close: float = CLOSE_SECONDS
    build: float = BUILD_SECONDS
    follow_ups: int = 2


@dataclass(frozen=True, slots=True)
class Tools:
    """What the outside world lends to a consultation."""

    record: Callable[[ConsultReceipt], None]
    clock: Callable[[], float]
    """Seconds, monotonic."""
    now: Callable[[], str]
    """The time of day, ISO 8601."""
    new_id: Callable[[str], str]
    """A fresh id with a prefix."""
    nonce: Callable[[], str]
    """A fresh unguessable word of ``NONCE_CHARS`` characters."""


class Consultation:
    """A second opinion in the making, and then its result. One caller at a time."""

    def __init__(
        self,
        *,
        provider: ConsultantOnly | None,
        mode: ReasoningMode,
        inputs: PacketInputs,
        tools: Tools,
        open_channel: Callable[[], Channel],
        facts: EscalationFacts | None = None,
        limits: ConsultLimits | None = None,
        detectors: Sequence[ExtraDetector] = (),
        owner: str = "",
        model: str = "",
    ) -> None:
        self.id = tools.new_id("con")
        self.provider = provider.info.name if provider is not None else ""
        """Name of the provider; empty when there is none."""
        self.provider_info: ProviderInfo | None = provider.info if provider is not None else None
        self.mode = mode
        self.outcome: ConsultOutcome | None = None
        """``None`` until the first exchange has ended."""
        self.cause: ConsultOutcome | None = None
        """For ``fallback-local``: what happened."""
        self.code = Code.OK
        self.reason = ""
        self.next_step = ""
        self.decision: Decision | None = None
        self.packet: Packet | None = None
        self.advice: Advice | None = None
        self.request: ConsultRequest | None = None
        """The latest request; its prompt is what was sent, or would have been."""
        self.delta: DeltaReport | None = None
        """What the latest follow-up sent."""
        self.receipts: list[ConsultReceipt] = []
        self._consultant = provider
        self._inputs = inputs
        self._tools = tools
        self._open_channel = open_channel
        self._facts = facts or EscalationFacts(task=inputs.task)
        self._limits = limits or ConsultLimits()
        self._detectors = tuple(detectors)
        self._owner = owner
        self._model = model
        self._channel: Channel | None = None
        self._session: ProviderSession | None = None
        self._resume_handle = ""
        self._exchange = 0
        self._work: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._closed = False
        self._stopped = False
        self._seen_evidence = {_evidence_digest(row) for row in inputs.evidence}
        self._started = 0.0
        self._started_at = ""

    @property
    def reports(self) -> tuple[SectionReport, ...]:
        """What became of each section of the packet."""
        return self.packet.reports if self.packet is not None else ()

    @property
    def session_handle(self) -> str:
        """The provider's opaque handle of the conversation; empty when none is open."""
        return self._session.handle if self._session is not None else ""

    async def run(self) -> Consultation:
        """Hold the first exchange. Returns itself.

        With mode ``force`` a consultation that could not be held raises ``UesError`` (``WEB_REASONING_UNAVAILABLE``). Input that
        does not fit (``packet-overflow``, an unreadable repository) is the caller's and is raised in every mode.
        """
        if self._exchange or self._work is not None or self.outcome is not None:
            raise UsageError("This consultation has already run.", next_step="Use follow_up(), or start another one.")
        self._must_be_open()
        await self._do(self._first())
        return self

    async def follow_up(self, question: str, *, evidence: Sequence[EvidenceRow] = ()) -> Consultation:
        """Ask once more in the same conversation; only what changed is sent. Returns itself.

        A second follow-up needs evidence that this consultation has not seen (``fresh-evidence-required``). When nothing changed
        and nothing is asked, nothing is sent.
        """
        self._must_be_open()
        if self._work is not None:
            raise UsageError("This consultation is already busy.", next_step="Wait for it.")
        if self.outcome not in HELD or self._session is None or self.packet is None:
            raise UsageError(
                "There is no finished exchange to follow up.",
                code=Code.CONSULTATION_CLOSED,
                next_step="Start another consultation.",
            )
        done = self._exchange - 1
        allowed = self._limits.follow_ups
        if self._consultant is not None:
            capabilities = self._consultant.info.capabilities
            allowed = min(allowed, capabilities.max_follow_ups if capabilities.follow_up else 0)
        if done >= allowed:
            raise UsageError(
                f"This consultation has used its {allowed} follow-ups.",
                code=Code.BUDGET_EXHAUSTED,
                fault=Fault.POLICY,
                next_step="Start another consultation.",
            )
        fresh = {_evidence_digest(row) for row in evidence} - self._seen_evidence
        if done >= 1 and not fresh:
            raise UsageError(
                "A second follow-up needs evidence that this consultation has not seen.",
                code=Code.FRESH_EVIDENCE_REQUIRED,
                next_step="Pass the output of a new run as evidence.",
            )
        self._seen_evidence |= fresh
        await self._do(self._again(question.strip(), tuple(evidence)))
        return self

    async def cancel(self) -> None:
        """Stop what is running; its outcome is ``cancelled``. Idempotent, bounded."""
        self._stopped = True
        if self._channel is not None:
            self._channel.cancel()
        work = self._work
        if work is not None and not work.done():
            work.cancel()
        if work is not None:
            # the runner writes the receipt and releases the session; both are bounded
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._idle.wait(), timeout=2 * (self._limits.close + GRACE_SECONDS))
        elif self.outcome is None:
            self._end(ConsultOutcome.CANCELLED, Code.CANCELLED, "the host cancelled it before it ran")

    async def close(self) -> None:
        """Release the provider's conversation. Idempotent, bounded; failures of the provider are of no consequence here."""
        self._closed = True
        if self._work is not None and self._work is not asyncio.current_task():
            await self.cancel()
        await self._release()

    # -- one exchange ------------------------------------------------------------------------------------------------

    async def _do(self, step: Coroutine[Any, Any, None]) -> None:
        """Run one exchange as a task of its own, so that ``cancel`` can end it and every exit is recorded."""
        self._started, self._started_at = self._tools.clock(), self._tools.now()
        self._idle.clear()
        self._work = asyncio.ensure_future(step)
        self._work.add_done_callback(forget)
        try:
            await asyncio.shield(self._work)
        except asyncio.CancelledError:
            self._stopped = True
            if self._channel is not None:
                self._channel.cancel()
            if not self._work.done():
                self._work.cancel()
                await asyncio.wait({self._work}, timeout=self._limits.close)
            self._end(ConsultOutcome.CANCELLED, Code.CANCELLED, "the host cancelled it")
            await self._release()
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
        except UsageError as error:
            self._end(ConsultOutcome.FALLBACK_LOCAL, error.code, error.sentence, error.next_step)
            raise
        except UesError as error:
            await self._failed(error)
        except Exception as error:  # noqa: BLE001 - a fault of the kit must not take the host's work down in mode auto
            await self._failed(UesError(f"The consultation failed inside of the kit: {type(error).__name__}: {error}"))
        finally:
            self._work = None
            self._idle.set()

    async def _first(self) -> None:
        self.decision = decide(self.mode, self._facts)
        if not self.decision.escalate:
            self._end(ConsultOutcome.SKIPPED, Code.OK, self.decision.reason)
            return
        self.packet = await self._build(self._inputs)
        if self._consultant is None:
            raise _Unheld(
                ConsultOutcome.UNAVAILABLE, Code.NO_PROVIDER, "no provider is configured", "Choose one: --provider NAME."
            )
        rendered = render_prompt(self.packet.sections, nonce=(nonce := self._tools.nonce()))
        self.request = self._request(rendered, nonce)
        self._check(rendered)
        await self._probe(self._consultant)
        self._channel = self._open_channel()
        if self._stopped:
            self._channel.cancel()
        self._session = await self._consultant.start_session(self._channel, seconds=self._limits.start)
        raw = await self._consultant.consult(self._session, self.request, self._limits.exchange)
        await self._read(raw)

    async def _again(self, question: str, evidence: tuple[EvidenceRow, ...]) -> None:
        assert self._consultant is not None
        assert self._session is not None
        assert self.packet is not None
        inputs = replace(
            self._inputs,
            evidence=(*evidence, *self._inputs.evidence),
            questions=(*((question,) if question else ()), *self._inputs.questions),
        )
        after = await self._build(replace(inputs, budget=self.packet.budget, tier=self.packet.tier))
        delta = delta_of(self.packet, after, limit=after.budget.delta_chars)
        self.delta = delta.report
        if delta.report.identical:
            self.reason = "nothing changed, so nothing was sent"
            return
        nonce = self._tools.nonce()
        rendered = render_delta(delta.sections, delta.report, nonce=nonce)
        self._inputs, self.packet = inputs, after
        self.request = self._request(rendered, nonce)
        self.advice = None
        self._check(rendered)
        raw = await self._consultant.follow_up(self._session, self.request, self._limits.exchange)
        await self._read(raw)

    async def _build(self, inputs: PacketInputs) -> Packet:
        return await asyncio.to_thread(
            build_packet,
            inputs.task,
            inputs.repo,
            constraints=inputs.constraints,
            requirements=inputs.requirements,
            verification=inputs.verification,
            evidence=inputs.evidence,
            questions=inputs.questions,
            attempts=inputs.attempts,
            failing_log=inputs.failing_log,
            files=inputs.files,
            budget=inputs.budget,
            tier=inputs.tier,
            detectors=self._detectors,
            seconds=self._limits.build,
            # a thread cannot be cancelled, but it looks at the clock between its steps: for a stopped one time is over
            clock=lambda: math.inf if self._stopped else time.monotonic(),
        )

    def _request(self, rendered: Rendered, nonce: str) -> ConsultRequest:
        self._exchange += 1
        return ConsultRequest(
            request_id=self._tools.new_id("req"),
            nonce=nonce,
            exchange=self._exchange,
            prompt=rendered.text,
            prompt_digest=rendered.digest,
            sections=rendered.sections,
            model=self._model,
        )

    def _check(self, rendered: Rendered) -> None:
        check_outbound(rendered, detectors=self._detectors)
        assert self._consultant is not None
        limit = self._consultant.info.capabilities.max_prompt_chars
        if len(rendered.text) > limit:
            raise UsageError(
                f"The prompt has {len(rendered.text)} characters; the provider takes {limit}.",
                code=Code.PACKET_OVERFLOW,
                next_step="Choose a smaller tier or budget.",
            )

    async def _probe(self, consultant: ConsultantOnly) -> None:
        report = await consultant.capability(seconds=self._limits.probe)
        if report.state is CapabilityState.READY:
            return
        outcome = {
            CapabilityState.NEEDS_AUTH: ConsultOutcome.NEEDS_AUTH,
            CapabilityState.LOGGED_OUT: ConsultOutcome.NEEDS_AUTH,
            CapabilityState.TIMEOUT: ConsultOutcome.TIMED_OUT,
        }.get(report.state, ConsultOutcome.UNAVAILABLE)
        reason = f"the provider is {report.state}" + (f": {report.reason}" if report.reason else "")
        raise _Unheld(outcome, Code.WEB_REASONING_UNAVAILABLE, reason, report.next_step)

    async def _read(self, raw: RawAnswer) -> None:
        """What came back: whose is it, what does it say, what of it stands in the repository."""
        assert self.request is not None
        assert self._session is not None
        judged = await asyncio.to_thread(
            judge_answer, raw, self.request, session=self._session, provider=self.provider, root=self._inputs.repo
        )
        self.advice = judged.advice
        if judged.outcome not in HELD:
            raise _Unheld(judged.outcome, judged.code, judged.reason, judged.next_step, raw, judged)
        self._resume_handle = raw.resume_handle or self._session.handle
        self._end(judged.outcome, judged.code, judged.reason, judged.next_step, raw=raw, judged=judged)

    # -- ends --------------------------------------------------------------------------------------------------------

    async def _failed(self, error: UesError) -> None:
        """Nothing was held: ``auto`` goes on locally and says why, ``force`` fails."""
        await self._release()
        if self._stopped:
            self._end(ConsultOutcome.CANCELLED, Code.CANCELLED, "the host cancelled it")
            return
        unheld = error if isinstance(error, _Unheld) else None
        cause = unheld.outcome if unheld is not None else _outcome_of(error)
        if cause is ConsultOutcome.REJECTED:
            self._end(cause, error.code, error.sentence, error.next_step)
            return
        self.cause = cause
        outcome = cause if self.mode is ReasoningMode.FORCE else ConsultOutcome.FALLBACK_LOCAL
        raw, judged = (unheld.raw, unheld.judged) if unheld is not None else (None, None)
        self._end(outcome, error.code, error.sentence, error.next_step, raw=raw, judged=judged)
        if self.mode is ReasoningMode.FORCE:
            raise UesError(
                f"The consultation could not be held ({cause}): {error.sentence.rstrip('.')}.",
                code=Code.WEB_REASONING_UNAVAILABLE,
                fault=error.fault,
                next_step=error.next_step or "Use mode auto to go on without it.",
                details={"outcome": str(cause), "cause": str(error.code), "consultation": self.id, "provider": self.provider},
            ) from error

    def _end(
        self,
        outcome: ConsultOutcome,
        code: Code,
        reason: str,
        next_step: str = "",
        *,
        raw: RawAnswer | None = None,
        judged: Judged | None = None,
    ) -> None:
        """The one place where an exchange ends: state and receipt."""
        self.outcome, self.code, self.reason, self.next_step = outcome, code, reason[:500], next_step[:400]
        request, advice = self.request, self.advice
        receipt = ConsultReceipt(
            receipt_id=self._tools.new_id("rcp"),
            owner=self._owner,
            consultation=self.id,
            exchange=max(1, self._exchange),
            provider=self.provider or "none",
            outcome=outcome,
            code=code,
            reason=self.reason,
            request_id=request.request_id if request is not None else "",
            packet_fingerprint=self.packet.fingerprint if self.packet is not None else "",
            prompt_digest=request.prompt_digest if request is not None else "",
            prompt_chars=len(request.prompt) if request is not None else 0,
            sections=tuple(str(s.name) for s in request.sections) if request is not None else (),
            answer_digest=judged.raw_digest if judged is not None else "",
            answer_chars=len(raw.text) if raw is not None else 0,
            model_requested=self._model,
            model_observed=raw.model_observed if raw is not None else "",
            claims=len(advice.claims) if advice is not None else 0,
            present=judged.present if judged is not None else 0,
            absent=judged.absent if judged is not None else 0,
            rejected=judged.rejected if judged is not None else 0,
            authority_claims=tuple(sorted({str(f.category) for f in judged.findings})) if judged is not None else (),
            started_at=self._started_at,
            duration_ms=max(0.0, (self._tools.clock() - self._started) * 1_000) if self._started else 0.0,
        )
        self.receipts.append(receipt)
        self._tools.record(receipt)

    async def _release(self) -> None:
        session, self._session = self._session, None
        if session is None or self._consultant is None:
            return
        try:
            await self._consultant.close_session(session, seconds=self._limits.close)
        except (ProviderError, PluginError) as error:
            # the conversation is ours to forget; what its provider says about that changes nothing
            self.next_step = self.next_step or f"The provider did not close its session: {error.sentence}"[:400]

    def _must_be_open(self) -> None:
        if self._closed:
            raise UsageError(
                "This consultation is closed.", code=Code.CONSULTATION_CLOSED, next_step="Start another consultation."
            )


class _Unheld(ProviderError):
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


def _outcome_of(error: UesError) -> ConsultOutcome:
    if error.code is Code.ANSWER_IS_PROMPT:
        return ConsultOutcome.REJECTED
    return ConsultOutcome.TIMED_OUT if error.code is Code.DEADLINE_EXCEEDED else ConsultOutcome.UNAVAILABLE


def _evidence_digest(row: EvidenceRow) -> str:
    return hashlib.sha256(f"{row.evidence}\0{row.source}\0{row.text}".encode("utf-8", "surrogatepass")).hexdigest()
