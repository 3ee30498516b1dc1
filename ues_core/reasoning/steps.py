"""The steps of one exchange: decide, build, check, probe, ask, read, look at what evidence is asked for.

Everything that they need is handed in. How an exchange ends, and in what order exchanges come, is the consultation's.
"""

from __future__ import annotations

import asyncio
import math
import time
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace

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
    Packet,
    PluginError,
    ProviderError,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    ReasoningMode,
    UesError,
    UsageError,
)
from ues_core.reasoning.channels import Channel
from ues_core.reasoning.delta import delta_of
from ues_core.reasoning.escalate import Decision, EscalationFacts, decide
from ues_core.reasoning.evidence import EvidenceDesk, evidence_digest
from ues_core.reasoning.exchange import HELD, Exchange, Standing, Unheld
from ues_core.reasoning.grant import Grant, granted
from ues_core.reasoning.inputs import ConsultLimits, PacketInputs, Tools
from ues_core.reasoning.judge import Judged, judge_answer, judge_text
from ues_core.reasoning.packet import RepositoryView, build_packet
from ues_core.reasoning.render import Rendered, check_outbound, render_delta, render_prompt
from ues_core.reasoning.reuse import KeptAnswer, SessionKey, question_key
from ues_core.reasoning.wrap import ConsultantOnly


class ExchangeSteps(ABC):
    """The state of a consultation and the steps of its exchanges; ``Consultation`` runs them."""

    def __init__(
        self,
        *,
        provider: ConsultantOnly | UesError | None,
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
        consultant = provider if isinstance(provider, ConsultantOnly) else None
        self._why_none = provider if isinstance(provider, UesError) else None
        self.provider = consultant.info.name if consultant is not None else ""
        """Name of the provider; empty when there is none."""
        self.provider_info: ProviderInfo | None = consultant.info if consultant is not None else None
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
        self._consultant = consultant
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
        self.reused = ""
        """The consultation whose advice was given again; empty when this one was really held."""
        self._key = ""
        self._raw: RawAnswer | None = None
        self._started = 0.0
        self._started_at = ""

    async def _first(self) -> None:
        self.decision = decide(self.mode, self._facts)
        if not self.decision.escalate:
            self._end(ConsultOutcome.SKIPPED, Code.OK, self.decision.reason)
            return
        self.packet = await self._build(self._inputs)
        if self._why_none is not None:
            raise self._why_none
        if self._consultant is None:
            raise Unheld(
                ConsultOutcome.UNAVAILABLE, Code.NO_PROVIDER, "no provider is configured", "Choose one: --provider NAME."
            )
        rendered = render_prompt(self.packet.sections, nonce=(nonce := self._tools.nonce()))
        self.request = self._request(rendered, nonce)
        self._check(rendered)
        if await self._given_again():
            return
        # the way out comes first: a destination that nobody agreed to is not even probed
        self._channel = self._open_channel()
        await self._probe(self._consultant)
        if self._stopped:
            self._channel.cancel()
        self._session = await self._consultant.start_session(self._channel, seconds=self._limits.start)
        self.sent = True
        raw = await self._granted_exchange(self._consultant.consult)
        await self._read(raw)

    async def _given_again(self) -> bool:
        """Whether this very question was answered before in a conversation that is still open, and the answer still holds."""
        shelf, tools = self._tools.answers, self._tools
        if shelf is None or self._consultant is None or self.packet is None:
            return False
        self._key = question_key(
            self.packet,
            provider=self._consultant.info,
            identity=tools.provider,
            model=self._model,
            owner=self._owner,
            repository=tools.repository,
        )
        kept = shelf.find(self._key, tools.clock())
        if kept is None:
            return False
        judged = await asyncio.to_thread(
            judge_text,
            kept.raw.text,
            nonce=kept.nonce,
            root=self._inputs.repo,
            provider=self.provider,
            request_id=kept.raw.request_id,
            model_requested=self._model,
            model_observed=kept.raw.model_observed,
        )
        if judged.outcome is not ConsultOutcome.ANSWERED:
            shelf.forget(self._key)
            return False
        self.advice, self.reused = judged.advice, kept.consultation
        reason = (
            f"nothing changed since {kept.consultation}: its advice was held against the repository again, nothing was sent"
        )
        self._end(judged.outcome, judged.code, reason, f"Follow up {kept.consultation}.", raw=kept.raw, judged=judged)
        return True

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
            cache=self._tools.packets,
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
        self._raw = raw
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

    def _keep_answer(self) -> None:
        """Keep an accepted answer for the next one who asks the same."""
        shelf, session = self._tools.answers, self._session
        if shelf is None or session is None or self._raw is None or self.request is None or not self._key:
            return
        if self.outcome is ConsultOutcome.ANSWERED and not self.reused:
            answer = KeptAnswer(
                self.id, self._raw, self.request.nonce, SessionKey.of(session), self._session_key, self._tools.clock()
            )
            shelf.keep(self._key, answer)

    def _session_key(self) -> SessionKey | None:
        return SessionKey.of(self._session) if self._session is not None and not self._closed else None

    def _follow_ups(self) -> int:
        """Follow-ups that this conversation may have."""
        allowed = self._limits.follow_ups
        if self._consultant is not None:
            capabilities = self._consultant.info.capabilities
            allowed = min(allowed, capabilities.max_follow_ups if capabilities.follow_up else 0)
        return allowed

    async def _release(self) -> None:
        session, self._session = self._session, None
        if session is None or self._consultant is None:
            return
        try:
            await self._consultant.close_session(session, seconds=self._limits.close)
        except (ProviderError, PluginError) as error:
            # the conversation is ours to forget; what its provider says about that changes nothing
            self.next_step = self.next_step or f"The provider did not close its session: {error.sentence}"[:400]

    @abstractmethod
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
        """End the exchange with its receipt."""
