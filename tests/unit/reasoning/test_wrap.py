"""The wrapped provider: nothing but the contract, validated, bounded, its authority checked before every call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from ues_core.contract import (
    AnswerOutcome,
    Authority,
    CapabilityReport,
    CapabilityState,
    ChannelKind,
    Code,
    ConsultChannel,
    ConsultRequest,
    PluginError,
    ProviderError,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    sync_provider,
)
from ues_core.reasoning import ConsultantOnly, NoChannel


class Good:
    """A provider that does what it should; tests replace one method each."""

    @property
    def info(self) -> ProviderInfo:
        return ProviderInfo(name="good", channel=ChannelKind.NONE)

    @property
    def authority(self) -> Authority:
        return Authority.CONSULTANT_ONLY

    async def capability(self) -> CapabilityReport:
        return CapabilityReport(state=CapabilityState.READY)

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        return ProviderSession(handle="h")

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        return RawAnswer(request_id=request.request_id, outcome=AnswerOutcome.ANSWERED, text="t")

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        return await self.consult(session, delta, deadline)

    async def close_session(self, session: ProviderSession) -> None:
        return None

    def backdoor(self) -> str:
        return "reached"


REQUEST = ConsultRequest(request_id="request-1", nonce="nonce-1-1", prompt="p", prompt_digest="d")
SESSION = ProviderSession(handle="h")


def wrapped(**methods: Callable[..., Any]) -> ConsultantOnly:
    return ConsultantOnly(type("Changed", (Good,), methods)())


def test_only_the_contract_can_be_reached() -> None:
    consultant = ConsultantOnly(Good())
    assert {name for name in dir(consultant) if not name.startswith("_")} == {
        "info", "authority", "capability", "start_session", "consult", "follow_up", "close_session"
    }  # fmt: skip
    with pytest.raises(AttributeError):
        consultant.backdoor()  # type: ignore[attr-defined]
    with pytest.raises(AttributeError):
        consultant.authority = "owner"  # type: ignore[misc, assignment]
    with pytest.raises(AttributeError):
        consultant.more = 1  # type: ignore[attr-defined]


def test_another_authority_is_refused_at_registration() -> None:
    class Owner(Good):
        @property
        def authority(self) -> Authority:
            return "owner"  # type: ignore[return-value]

    with pytest.raises(PluginError) as refused:
        ConsultantOnly(Owner())
    assert refused.value.code is Code.AUTHORITY_VIOLATION


async def test_an_authority_that_changes_later_is_refused_at_the_next_call() -> None:
    words = [Authority.CONSULTANT_ONLY]

    class Turncoat(Good):
        @property
        def authority(self) -> Authority:
            return words[-1]

    consultant = ConsultantOnly(Turncoat())
    await consultant.capability()
    words.append("owner")  # type: ignore[arg-type]
    with pytest.raises(PluginError) as refused:
        await consultant.consult(SESSION, REQUEST, 1.0)
    assert refused.value.code is Code.AUTHORITY_VIOLATION


async def test_an_info_that_changes_later_is_refused() -> None:
    names = ["good"]
    consultant = ConsultantOnly(
        type("Renamed", (Good,), {"info": property(lambda _: ProviderInfo(name=names[-1], channel=ChannelKind.NONE))})()
    )
    names.append("other")
    with pytest.raises(ProviderError, match="changed its info"):
        await consultant.capability()


async def _dict(*_: Any) -> Any:
    return {"state": "ready"}


async def _unvalidated(*_: Any) -> Any:
    fields: dict[str, Any] = {"state": "certainly", "reason": 7}
    return CapabilityReport.model_construct(None, **fields)


class _Sub(CapabilityReport):
    pass


async def _subclass(*_: Any) -> Any:
    return _Sub(state=CapabilityState.READY)


async def _raises(*_: Any) -> Any:
    raise KeyError("inside")


def _not_async(*_: Any) -> Any:
    return CapabilityReport(state=CapabilityState.READY)


@pytest.mark.parametrize("method", [_dict, _unvalidated, _subclass, _raises, _not_async])
async def test_whatever_is_not_the_contracts_model_is_one_error(method: Callable[..., Any]) -> None:
    with pytest.raises(ProviderError) as failed:
        await wrapped(capability=method).capability()
    assert failed.value.code is Code.PROVIDER_FAILED
    assert "good" in failed.value.sentence


async def test_a_providers_own_error_keeps_its_code() -> None:
    async def refuse(*_: Any) -> Any:
        raise ProviderError("The prompt came back.", code=Code.ANSWER_IS_PROMPT)

    with pytest.raises(ProviderError) as failed:
        await wrapped(consult=refuse).consult(SESSION, REQUEST, 1.0)
    assert failed.value.code is Code.ANSWER_IS_PROMPT


async def test_a_provider_that_takes_too_long_is_ended_even_when_it_swallows_its_cancellation() -> None:
    ended = asyncio.Event()

    async def stubborn(*_: Any) -> Any:
        try:
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.set()
        return CapabilityReport(state=CapabilityState.READY)

    with pytest.raises(ProviderError) as failed:
        await wrapped(capability=stubborn).capability(seconds=0.05)
    assert failed.value.code is Code.DEADLINE_EXCEEDED
    assert ended.is_set()


async def test_a_fresh_conversation_instead_of_the_resumed_one_is_refused() -> None:
    with pytest.raises(ProviderError, match="fresh conversation"):
        await ConsultantOnly(Good()).start_session(NoChannel(), resume="old")


class Blocking:
    """A synchronous provider."""

    @property
    def info(self) -> ProviderInfo:
        return ProviderInfo(name="blocking", channel=ChannelKind.NONE)

    @property
    def authority(self) -> Authority:
        return Authority.CONSULTANT_ONLY

    def capability(self) -> CapabilityReport:
        return CapabilityReport(state=CapabilityState.READY)

    def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        return ProviderSession(handle="h")

    def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        return RawAnswer(request_id=request.request_id, outcome=AnswerOutcome.ANSWERED, text="from a thread")

    def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        return self.consult(session, delta, deadline)

    def close_session(self, session: ProviderSession) -> None:
        return None


async def test_a_synchronous_provider_is_adapted() -> None:
    consultant = ConsultantOnly(sync_provider(Blocking()))
    session = await consultant.start_session(NoChannel())
    answer = await consultant.consult(session, REQUEST, 5.0)
    assert answer.text == "from a thread"
    await consultant.close_session(session)


def test_a_synchronous_provider_with_another_authority_is_refused() -> None:
    class Owner(Blocking):
        authority = "owner"  # type: ignore[assignment]

    with pytest.raises(PluginError):
        sync_provider(Owner())  # type: ignore[arg-type]
