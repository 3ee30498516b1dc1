"""A whole consultation: every exit has an outcome, a code and a receipt; nothing is sent twice."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ues_core.contract import (
    AdviceAction,
    BindingStatus,
    ChannelKind,
    Code,
    ConsultOutcome,
    ConsultReceipt,
    ConsultRequest,
    EvidenceKind,
    EvidenceRow,
    ProviderSession,
    RawAnswer,
    ReasoningMode,
    SectionName,
    UesError,
    UsageError,
    WebReasoningProvider,
)
from ues_core.reasoning import ConsultantOnly, Consultation, ConsultLimits, PacketInputs, Relay, Tools, make_channel
from ues_core.reasoning.report import consultation_report
from ues_provider_double import DoubleProvider, Mood

TASK = "Why does the cache keep expired values? The root cause is unclear."
AUTO, FORCE, OFF = ReasoningMode.AUTO, ReasoningMode.FORCE, ReasoningMode.OFF
Make = Callable[..., Consultation]


class Counting(DoubleProvider):
    """A double that counts what it is asked."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self.calls: list[str] = []
        self.asked = asyncio.Event()

    async def capability(self) -> Any:
        self.calls.append("capability")
        return await super().capability()

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        self.calls.append("consult")
        self.asked.set()
        return await super().consult(session, request, deadline)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        self.calls.append("follow_up")
        return await super().follow_up(session, delta, deadline)

    async def close_session(self, session: ProviderSession) -> None:
        self.calls.append("close_session")
        await super().close_session(session)


@pytest.fixture
def make(repository: Path, tools: Tools) -> Make:
    def build(
        provider: WebReasoningProvider | None,
        mode: ReasoningMode = AUTO,
        *,
        seconds: float = 20.0,
        task: str = TASK,
        **more: Any,
    ) -> Consultation:
        return Consultation(
            provider=ConsultantOnly(provider) if provider is not None else None,
            mode=mode,
            inputs=PacketInputs(task=task, repo=repository, **more),
            tools=tools,
            open_channel=lambda: make_channel(ChannelKind.NONE),
            limits=ConsultLimits(exchange=seconds),
            owner="ann",
        )

    return build


async def test_an_answer_whose_claims_hold_may_be_implemented_and_verified(make: Make, receipts: list[ConsultReceipt]) -> None:
    consultation = await make(DoubleProvider(mood=Mood.GROUNDED)).run()
    advice = consultation.advice
    assert consultation.outcome is ConsultOutcome.ANSWERED
    assert advice is not None
    assert advice.action is AdviceAction.IMPLEMENT_THEN_VERIFY
    assert (advice.can_produce_pass, advice.is_task_verdict) == (False, False)
    assert {b.status for b in advice.bindings} == {BindingStatus.PRESENT}
    (receipt,) = receipts
    assert (receipt.outcome, receipt.owner, receipt.provider) == (ConsultOutcome.ANSWERED, "ann", "double")
    assert receipt.present == receipt.claims == len(advice.claims)
    assert consultation.request is not None
    assert receipt.prompt_digest == consultation.request.prompt_digest
    assert receipt.sections == tuple(map(str, SectionName))
    await consultation.close()


async def test_one_invented_claim_rejects_the_advice_and_both_bindings_are_shown(make: Make) -> None:
    consultation = await make(DoubleProvider(mood=Mood.WELL), FORCE).run()
    assert (consultation.outcome, consultation.code) == (ConsultOutcome.REJECTED, Code.ANSWER_NOT_GROUNDED)
    assert consultation.advice is not None
    assert consultation.advice.action is AdviceAction.REJECT_AND_RETRY_LOCALLY
    assert consultation.advice.count(BindingStatus.PRESENT) >= 1
    assert consultation.advice.count(BindingStatus.ABSENT) == 1
    report = consultation_report(consultation)
    assert {c["binding"]["status"] for c in report["advice"]["claims"]} == {"present", "absent"}
    await consultation.close()


@pytest.mark.parametrize(
    ("mood", "code"),
    [
        (Mood.BADLY, Code.ANSWER_LOW_CONFIDENCE),
        (Mood.HALLUCINATE, Code.ANSWER_NOT_GROUNDED),
        (Mood.AUTHORITY, Code.ANSWER_CLAIMS_AUTHORITY),
        (Mood.UNCLOSED_JSON, Code.ANSWER_NOT_JSON),
        (Mood.SILENT, Code.ANSWER_EMPTY),
        (Mood.NO_NONCE, Code.ANSWER_NONCE_MISMATCH),
        (Mood.PROMPT_ECHO, Code.ANSWER_IS_PROMPT),
    ],
)
async def test_a_bad_answer_is_rejected_with_its_code(
    make: Make, receipts: list[ConsultReceipt], mood: Mood, code: Code
) -> None:
    consultation = await make(DoubleProvider(mood=mood), FORCE).run()
    assert (consultation.outcome, consultation.code) == (ConsultOutcome.REJECTED, code)
    assert [r.code for r in receipts] == [code]
    await consultation.close()


async def test_authority_that_was_claimed_is_recorded(make: Make, receipts: list[ConsultReceipt]) -> None:
    consultation = await make(DoubleProvider(mood=Mood.AUTHORITY)).run()
    assert consultation.advice is not None
    assert consultation.advice.authority_findings
    assert "verdict-claim" in receipts[0].authority_claims
    await consultation.close()


UNHELD = [
    (Mood.LATE, ConsultOutcome.TIMED_OUT, Code.DEADLINE_EXCEEDED),
    (Mood.STALE, ConsultOutcome.STALE_ANSWER, Code.ANSWER_STALE),
    (Mood.NEEDS_AUTH, ConsultOutcome.NEEDS_AUTH, Code.WEB_REASONING_UNAVAILABLE),
    (Mood.RATE_LIMITED, ConsultOutcome.RATE_LIMITED, Code.WEB_REASONING_UNAVAILABLE),
    (Mood.TRUNCATED, ConsultOutcome.TRUNCATED, Code.WEB_REASONING_UNAVAILABLE),
    (Mood.RAISES, ConsultOutcome.UNAVAILABLE, Code.PROVIDER_FAILED),
]


@pytest.mark.parametrize(("mood", "cause", "code"), UNHELD)
async def test_auto_goes_on_locally_and_says_why(
    make: Make, receipts: list[ConsultReceipt], mood: Mood, cause: ConsultOutcome, code: Code
) -> None:
    consultation = await make(DoubleProvider(mood=mood), AUTO, seconds=0.3).run()
    assert (consultation.outcome, consultation.cause, consultation.code) == (ConsultOutcome.FALLBACK_LOCAL, cause, code)
    assert consultation.reason
    assert consultation.advice is None
    assert [r.outcome for r in receipts] == [ConsultOutcome.FALLBACK_LOCAL]


@pytest.mark.parametrize(("mood", "cause", "code"), UNHELD)
async def test_force_fails_loudly_after_its_receipt(
    make: Make, receipts: list[ConsultReceipt], mood: Mood, cause: ConsultOutcome, code: Code
) -> None:
    with pytest.raises(UesError) as failed:
        await make(DoubleProvider(mood=mood), FORCE, seconds=0.3).run()
    assert failed.value.code is Code.WEB_REASONING_UNAVAILABLE
    assert failed.value.details["outcome"] == cause
    assert [(r.outcome, r.code) for r in receipts] == [(cause, code)]


async def test_off_builds_nothing_and_probes_nothing(make: Make, receipts: list[ConsultReceipt]) -> None:
    provider = Counting()
    consultation = await make(provider, OFF).run()
    assert (consultation.outcome, consultation.packet) == (ConsultOutcome.SKIPPED, None)
    assert provider.calls == []
    assert len(receipts) == 1


async def test_auto_without_a_signal_asks_nobody(make: Make) -> None:
    provider = Counting()
    consultation = await make(provider, AUTO, task="Sort the list").run()
    assert consultation.outcome is ConsultOutcome.SKIPPED
    assert provider.calls == []


async def test_no_provider_is_a_fallback_in_auto_and_an_error_in_force(make: Make) -> None:
    consultation = await make(None, AUTO).run()
    assert (consultation.outcome, consultation.code) == (ConsultOutcome.FALLBACK_LOCAL, Code.NO_PROVIDER)
    with pytest.raises(UesError) as failed:
        await make(None, FORCE).run()
    assert failed.value.code is Code.WEB_REASONING_UNAVAILABLE


async def test_a_failed_exchange_is_never_sent_again(make: Make) -> None:
    provider = Counting(mood=Mood.RAISES)
    await make(provider, AUTO).run()
    assert provider.calls == ["capability", "consult", "close_session"]


async def test_a_constraint_that_does_not_fit_is_the_hosts_error_in_every_mode(
    make: Make, receipts: list[ConsultReceipt]
) -> None:
    provider = Counting()
    with pytest.raises(UsageError) as refused:
        await make(provider, AUTO, constraints=("MUST " + "x" * 60_000,)).run()
    assert refused.value.code is Code.PACKET_OVERFLOW
    assert provider.calls == []
    assert receipts[0].code is Code.PACKET_OVERFLOW


async def test_a_person_can_be_asked(repository: Path, tools: Tools, tmp_path: Path) -> None:
    relay_dir = tmp_path / "relay"

    def answer(prompt: Path, place: Path, text: str) -> None:
        nonce = text.split('"nonce" (the string "')[1].split('"')[0]
        place.write_text(
            f'{{"nonce": "{nonce}", "summary": "s", "hypotheses": [], "recommendedApproach": ["a"], "risks": [],'
            ' "verificationSuggestions": [], "confidence": 0.9, "claims": [{"path": "src/shop/cache.py", "symbol": "fetch"}]}'
        )

    class Person(DoubleProvider):
        @property
        def info(self) -> Any:
            return super().info.model_copy(update={"channel": ChannelKind.PERSON})

        async def start_session(self, channel: Any, resume: str | None = None) -> ProviderSession:
            self._channel = channel
            return await super().start_session(channel, resume)

        async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
            back = await self._channel.hand_over(request, deadline=deadline)
            return RawAnswer(request_id=request.request_id, outcome=back.outcome, text=back.text)

    consultation = Consultation(
        provider=ConsultantOnly(Person()),
        mode=FORCE,
        inputs=PacketInputs(task=TASK, repo=repository),
        tools=tools,
        open_channel=lambda: make_channel(ChannelKind.PERSON, relay=Relay(relay_dir, show=answer)),
    )
    await consultation.run()
    assert consultation.outcome is ConsultOutcome.ANSWERED
    await consultation.close()


# -- ownership of answers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("change", [{"request_id": "another-request"}, {"generation": 7}])
async def test_an_answer_to_another_request_or_conversation_is_discarded_unread(make: Make, change: dict[str, Any]) -> None:
    class Mixed(DoubleProvider):
        async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
            return (await super().consult(session, request, deadline)).model_copy(update=change)

    consultation = await make(Mixed(mood=Mood.GROUNDED), AUTO).run()
    assert (consultation.cause, consultation.code) == (ConsultOutcome.STALE_ANSWER, Code.ANSWER_STALE)
    assert consultation.advice is None


# -- follow-ups ------------------------------------------------------------------------------------------------------


async def test_a_follow_up_sends_only_what_changed_in_the_same_session(make: Make, receipts: list[ConsultReceipt]) -> None:
    provider = Counting(mood=Mood.GROUNDED)
    consultation = await make(provider).run()
    handle = consultation.session_handle
    assert consultation.request is not None
    first = consultation.request
    await consultation.follow_up("And what about the clock?")
    second = consultation.request
    assert consultation.session_handle == handle
    assert consultation.delta is not None
    assert consultation.delta.sent == (SectionName.UNRESOLVED_QUESTIONS,)
    assert "And what about the clock?" in second.prompt
    assert TASK not in second.prompt
    assert (second.exchange, second.nonce != first.nonce) == (2, True)
    assert consultation.outcome is ConsultOutcome.ANSWERED
    assert [r.exchange for r in receipts] == [1, 2]
    await consultation.close()
    assert provider.calls == ["capability", "consult", "follow_up", "close_session"]


async def test_when_nothing_changed_nothing_is_sent(make: Make, receipts: list[ConsultReceipt]) -> None:
    provider = Counting(mood=Mood.GROUNDED)
    consultation = await make(provider).run()
    await consultation.follow_up("")
    assert "follow_up" not in provider.calls
    assert consultation.delta is not None
    assert consultation.delta.identical
    assert len(receipts) == 1
    await consultation.close()


async def test_a_second_follow_up_needs_fresh_evidence_and_a_third_is_over_budget(make: Make) -> None:
    consultation = await make(DoubleProvider(mood=Mood.GROUNDED)).run()
    seen = EvidenceRow(evidence=EvidenceKind.FAILED_OUTPUT, source="pytest", text="one")
    await consultation.follow_up("First?", evidence=[seen])
    with pytest.raises(UsageError) as refused:
        await consultation.follow_up("Second?", evidence=[seen])
    assert refused.value.code is Code.FRESH_EVIDENCE_REQUIRED
    await consultation.follow_up("Second?", evidence=[seen.model_copy(update={"text": "two"})])
    with pytest.raises(UsageError) as refused:
        await consultation.follow_up("Third?", evidence=[seen.model_copy(update={"text": "three"})])
    assert refused.value.code is Code.BUDGET_EXHAUSTED
    await consultation.close()


async def test_there_is_no_follow_up_to_what_was_not_held_or_is_closed(make: Make) -> None:
    failed = await make(DoubleProvider(mood=Mood.RAISES)).run()
    closed = await make(DoubleProvider(mood=Mood.GROUNDED)).run()
    await closed.close()
    for consultation in (failed, closed):
        with pytest.raises(UsageError) as refused:
            await consultation.follow_up("And?")
        assert refused.value.code is Code.CONSULTATION_CLOSED


# -- cancelling ------------------------------------------------------------------------------------------------------


async def test_cancelling_ends_it_with_one_receipt_and_releases_the_session(make: Make, receipts: list[ConsultReceipt]) -> None:
    provider = Counting(mood=Mood.LATE)
    consultation = make(provider, FORCE, seconds=60)
    running = asyncio.create_task(consultation.run())
    await asyncio.wait_for(provider.asked.wait(), 30)
    await consultation.cancel()
    assert (await running).outcome is ConsultOutcome.CANCELLED
    assert [r.outcome for r in receipts] == [ConsultOutcome.CANCELLED]
    assert provider.calls[-1] == "close_session"


async def test_cancelling_the_task_of_the_host_cancels_the_consultation(make: Make, receipts: list[ConsultReceipt]) -> None:
    provider = Counting(mood=Mood.LATE)
    consultation = make(provider, AUTO, seconds=60)
    running = asyncio.create_task(consultation.run())
    await asyncio.wait_for(provider.asked.wait(), 30)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert consultation.outcome is ConsultOutcome.CANCELLED
    assert [r.outcome for r in receipts] == [ConsultOutcome.CANCELLED]
    assert provider.calls[-1] == "close_session"


async def test_it_runs_once(make: Make) -> None:
    consultation = await make(DoubleProvider(mood=Mood.GROUNDED)).run()
    with pytest.raises(UsageError):
        await consultation.run()
    await consultation.close()
    await consultation.close()
