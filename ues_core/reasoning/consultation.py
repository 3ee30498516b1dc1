"""One consultation: decide, build, probe, consult, parse, bind, receipt; follow up; close. It never sends anything twice.

Everything that it needs is handed in: the wrapped provider, a channel, a clock, random words, a place for receipts. It knows no
host. Every exit has an outcome, a code and a receipt; every wait is bounded.
"""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from dataclasses import replace
from typing import Any

from ues_core.contract import (
    Advice,
    CapabilityState,
    Code,
    ConsultOutcome,
    ConsultReceipt,
    ConsultRequest,
    DeltaReport,
    EvidenceDecision,
    EvidenceDenial,
    EvidenceRow,
    ExtraDetector,
    Fault,
    Packet,
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
from ues_core.reasoning.evidence import EvidenceDesk, evidence_digest
from ues_core.reasoning.exchange import HELD, Exchange, Standing, Unheld, outcome_of, receipt_of
from ues_core.reasoning.grant import Grant, granted
from ues_core.reasoning.inputs import ConsultLimits, PacketInputs, Tools
from ues_core.reasoning.judge import Judged, judge_answer
from ues_core.reasoning.packet import RepositoryView, build_packet
from ues_core.reasoning.render import Rendered, check_outbound, render_delta, render_prompt
from ues_core.reasoning.wrap import GRACE_SECONDS, ConsultantOnly, forget


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
        """The latest request; its prompt is what was sent, or would have been: see ``sent``."""
        self.sent = False
        """Whether the latest request was handed to its provider."""
        self.delta: DeltaReport | None = None
        """What the latest follow-up sent."""
        self.evidence: tuple[EvidenceDecision, ...] = ()
        """What became of the evidence requests of the latest answer."""
        self.exchanges: list[Exchange] = []
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
        self._grant: Grant | None = None
        self._session: ProviderSession | None = None
        self._resume_handle = ""
        self._exchange = 0
        self._work: asyncio.Task[None] | None = None
        self._idle = asyncio.Event()
        self._closed = False
        self._stopped = False
        self._desk = EvidenceDesk(
            inputs.repo, self._limits.evidence_kinds, self._detectors, seen={evidence_digest(row) for row in inputs.evidence}
        )
        self._granted: tuple[EvidenceRow, ...] = ()
        self._rounds = 0
        self._before: Standing | None = None
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
        await self._serve()
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
        done, allowed = self._exchange - 1, self._follow_ups()
        if done >= allowed:
            raise UsageError(
                f"This consultation has used its {allowed} follow-ups.",
                code=Code.BUDGET_EXHAUSTED,
                fault=Fault.POLICY,
                next_step="Start another consultation.",
            )
        fresh = {evidence_digest(row) for row in evidence} - self._desk.seen
        if done >= 1 and not fresh:
            raise UsageError(
                "A second follow-up needs evidence that this consultation has not seen.",
                code=Code.FRESH_EVIDENCE_REQUIRED,
                next_step="Pass the output of a new run as evidence.",
            )
        self._desk.seen |= fresh
        await self._do(self._again(question.strip(), tuple(evidence)))
        await self._serve()
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
            raise Unheld(
                ConsultOutcome.UNAVAILABLE, Code.NO_PROVIDER, "no provider is configured", "Choose one: --provider NAME."
            )
        rendered = render_prompt(self.packet.sections, nonce=(nonce := self._tools.nonce()))
        self.request = self._request(rendered, nonce)
        self._check(rendered)
        # the way out comes first: a destination that nobody agreed to is not even probed
        self._channel = self._open_channel()
        await self._probe(self._consultant)
        if self._stopped:
            self._channel.cancel()
        self._session = await self._consultant.start_session(self._channel, seconds=self._limits.start)
        self.sent = True
        raw = await self._granted_exchange(self._consultant.consult)
        await self._read(raw)

    async def _serve(self) -> None:
        """Send what the consultant asked for and may see: by delta, in the same session, at most ``evidence_rounds`` times.

        A round that fails has a receipt of its own and takes nothing away from the answer before it.
        """
        while self._granted and self._rounds < self._limits.evidence_rounds and self._session is not None:
            rows, self._granted = self._granted, ()
            self._rounds += 1
            self._before = Standing(self.outcome, self.code, self.reason, self.next_step, self.advice)
            try:
                await self._do(self._again("", (), granted=rows, decided=self.evidence))
            except UesError:
                if self._stopped:
                    raise
            finally:
                self._before = None

    def _follow_ups(self) -> int:
        """Follow-ups that this conversation may have."""
        allowed = self._limits.follow_ups
        if self._consultant is not None:
            capabilities = self._consultant.info.capabilities
            allowed = min(allowed, capabilities.max_follow_ups if capabilities.follow_up else 0)
        return allowed

    async def _again(
        self,
        question: str,
        evidence: tuple[EvidenceRow, ...],
        *,
        granted: tuple[EvidenceRow, ...] = (),
        decided: tuple[EvidenceDecision, ...] = (),
    ) -> None:
        assert self._consultant is not None
        assert self._session is not None
        assert self.packet is not None
        inputs = replace(
            self._inputs,
            evidence=(*evidence, *self._inputs.evidence),
            granted=granted or self._inputs.granted,
            questions=(*((question,) if question else ()), *self._inputs.questions),
        )
        after = await self._build(replace(inputs, budget=self.packet.budget, tier=self.packet.tier))
        room = after.budget.delta_chars + sum(len(row.text) + len(row.source) + 40 for row in inputs.granted)
        delta = delta_of(self.packet, after, limit=room)
        self.delta = delta.report
        if delta.report.identical:
            self.reason = "nothing changed, so nothing was sent"
            return
        nonce = self._tools.nonce()
        rendered = render_delta(delta.sections, delta.report, nonce=nonce, decided=decided)
        self._inputs, self.packet = inputs, after
        self.request = self._request(rendered, nonce)
        self.advice = None
        self._check(rendered)
        self.sent = True
        raw = await self._granted_exchange(self._consultant.follow_up)
        await self._read(raw)

    async def _granted_exchange(
        self, ask: Callable[[ProviderSession, ConsultRequest, float], Awaitable[RawAnswer]]
    ) -> RawAnswer:
        """Ask, with the one approval for the one submit of this exchange."""
        assert self._channel is not None
        assert self._session is not None
        assert self.request is not None
        with granted(
            self._channel,
            self._tools,
            self.request,
            owner=self._owner,
            consultation=self.id,
            provider=self.provider,
            conversation=self._session.handle,
            seconds=self._limits.exchange,
        ) as self._grant:
            return await ask(self._session, self.request, self._limits.exchange)

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
            history=inputs.history,
            granted=inputs.granted,
            failing_log=inputs.failing_log,
            files=inputs.files,
            budget=inputs.budget,
            tier=inputs.tier,
            detectors=self._detectors,
            collect=self._tools.collect,
            seconds=self._limits.build,
            # a thread cannot be cancelled, but it looks at the clock between its steps: for a stopped one time is over
            clock=lambda: math.inf if self._stopped else time.monotonic(),
        )

    def _request(self, rendered: Rendered, nonce: str) -> ConsultRequest:
        self._exchange += 1
        self._grant = None
        self.sent = False
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
        raise Unheld(outcome, Code.WEB_REASONING_UNAVAILABLE, reason, report.next_step)

    async def _read(self, raw: RawAnswer) -> None:
        """What came back: whose is it, what does it say, what of it stands in the repository."""
        assert self.request is not None
        assert self._session is not None
        judged = await asyncio.to_thread(
            judge_answer, raw, self.request, session=self._session, provider=self.provider, root=self._inputs.repo
        )
        self.advice = judged.advice
        await self._decide_evidence(judged)
        if judged.outcome not in HELD:
            raise Unheld(judged.outcome, judged.code, judged.reason, judged.next_step, raw, judged)
        self._resume_handle = raw.resume_handle or self._session.handle
        self._end(judged.outcome, judged.code, judged.reason, judged.next_step, raw=raw, judged=judged)

    async def _decide_evidence(self, judged: Judged) -> None:
        """Grant or deny what the answer asks to see, before its receipt is written; nothing is sent here."""
        self.evidence, self._granted = (), ()
        asked = judged.advice.evidence_requests if judged.advice is not None else ()
        if not asked:
            return
        assert self._consultant is not None
        inputs, desk = self._inputs, self._desk
        refused = (
            EvidenceDenial.ANSWER_FLAGGED
            if judged.findings
            else EvidenceDenial.SWITCHED_OFF
            if self._rounds >= self._limits.evidence_rounds
            else EvidenceDenial.NO_FOLLOW_UP
            if self._exchange - 1 >= self._follow_ups()
            else None
        )
        if refused is not None:
            self.evidence = desk.refuse(asked, refused).decisions
            return
        room = self._consultant.info.capabilities.max_prompt_chars // 2
        self.evidence, self._granted = await asyncio.to_thread(
            desk.serve, asked, inputs, room=room, view=lambda: RepositoryView(inputs.repo) if inputs.repo is not None else None
        )

    # -- ends --------------------------------------------------------------------------------------------------------

    async def _failed(self, error: UesError) -> None:
        """Nothing was held: ``auto`` goes on locally and says why, ``force`` fails."""
        await self._release()
        if self._stopped:
            self._end(ConsultOutcome.CANCELLED, Code.CANCELLED, "the host cancelled it")
            return
        unheld = error if isinstance(error, Unheld) else None
        cause = unheld.outcome if unheld is not None else outcome_of(error)
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
        reused: str = "",
    ) -> None:
        """The one place where an exchange ends: state and receipt."""
        reason = reason[:500]
        before = self._before
        if before is not None and outcome not in HELD and outcome is not ConsultOutcome.CANCELLED:
            # the answer that asked for evidence still stands; only what it asked for did not come of it
            self.outcome, self.code, self.reason, self.advice = before.outcome, before.code, before.reason, before.advice
            self.cause = None
            self.next_step = f"The evidence that was asked for brought no further answer ({outcome}): {reason}"[:400]
        else:
            self.outcome, self.code, self.reason, self.next_step = outcome, code, reason, next_step[:400]
        asked = self.evidence if judged is not None else ()
        receipt = receipt_of(
            self._tools,
            consultation=self.id,
            exchange=max(1, self._exchange),
            owner=self._owner,
            provider=self.provider,
            outcome=outcome,
            code=code,
            reason=reason,
            request=self.request if self.sent else None,
            packet=self.packet,
            model=self._model,
            raw=raw,
            judged=judged,
            asked=asked,
            reused=reused,
            grant=self._grant,
            started=self._started,
            started_at=self._started_at,
        )
        self.receipts.append(receipt)
        sent = self.request.sections if self.request is not None and self.sent else ()
        self.exchanges.append(Exchange(receipt, sent, self.delta, asked, by_itself=before is not None))
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
