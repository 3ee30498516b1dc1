"""The grant: one approval per exchange, bound to its request, used up by the one submit, taken back when it was not used."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ues_core.contract import (
    ChannelKind,
    Code,
    ConsultReceipt,
    ConsultRequest,
    PolicyRefusal,
    ProviderSession,
    RawAnswer,
    ReasoningMode,
)
from ues_core.policy.approvals import ApprovalBook
from ues_core.reasoning import ConsultantOnly, Consultation, PacketInputs, PersonChannel, Relay, Tools, make_channel
from ues_core.reasoning.grant import VERB, Grant, granted
from ues_provider_double import DoubleProvider, Mood

REQUEST = ConsultRequest(request_id="req-0001", nonce="nonce-0001", prompt="What now?", prompt_digest="d" * 64)


class Book(ApprovalBook):
    """A book that counts."""

    def __init__(self) -> None:
        super().__init__()
        self.minted: list[dict[str, Any]] = []
        self.consumed: list[str] = []

    def mint(self, **facts: Any) -> Any:
        self.minted.append(facts)
        return super().mint(**facts)

    def consume(self, approval_id: str | None, **facts: Any) -> Any:
        approval = super().consume(approval_id, **facts)
        self.consumed.append(approval.approval_id)
        return approval


class Relayed(DoubleProvider):
    """Hands over as often as it is told to, and keeps its channel for later."""

    def __init__(self, times: int = 1, change: dict[str, Any] | None = None) -> None:
        super().__init__(mood=Mood.GROUNDED)
        self.times, self.change = times, change or {}
        self.refused: list[Code] = []
        self.channel: Any = None
        self.last: ConsultRequest | None = None

    @property
    def info(self) -> Any:
        return super().info.model_copy(update={"channel": ChannelKind.PERSON})

    async def start_session(self, channel: Any, resume: str | None = None) -> ProviderSession:
        self.channel = channel
        await self.hand_over(REQUEST)
        return await super().start_session(channel, resume)

    async def hand_over(self, request: ConsultRequest) -> None:
        try:
            await self.channel.hand_over(request.model_copy(update=self.change), deadline=0.01)
        except PolicyRefusal as refusal:
            self.refused.append(refusal.code)

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        self.last = request
        for _ in range(self.times):
            await self.hand_over(request)
        return await super().consult(session, request, deadline)


def consulting(provider: DoubleProvider, repository: Path, tools: Tools, folder: Path) -> Consultation:
    return Consultation(
        provider=ConsultantOnly(provider),
        mode=ReasoningMode.FORCE,
        inputs=PacketInputs(task="The cache is never emptied; the root cause is unclear.", repo=repository),
        tools=tools,
        open_channel=lambda: make_channel(provider.info.channel, relay=Relay(folder)),
        owner="agent-1",
    )


async def test_each_exchange_has_one_approval_bound_to_it_and_one_submit_uses_it_up(
    repository: Path, tools: Tools, receipts: list[ConsultReceipt], tmp_path: Path
) -> None:
    book = Book()
    provider = Relayed(times=3)
    consultation = consulting(provider, repository, replace(tools, approvals=book), tmp_path / "relay")
    await consultation.run()
    # before its exchange there was no grant, and after its first submit there was none either
    assert provider.refused == [Code.APPROVAL_REQUIRED, Code.APPROVAL_USED, Code.APPROVAL_USED]
    (minted,) = book.minted
    request = consultation.request
    assert request is not None
    assert {name: minted[name] for name in ("owner", "session", "document", "verb", "arguments_digest", "form_digest")} == {
        "owner": "agent-1",
        "session": consultation.id,
        "document": request.request_id,
        "verb": VERB,
        "arguments_digest": request.prompt_digest,
        "form_digest": request.nonce,
    }
    assert book.consumed == [minted["approval_id"]]
    assert (receipts[0].approval, receipts[0].approval_used) == (minted["approval_id"], True)

    # the next exchange has one of its own; after it the provider, which kept its channel, has none
    await consultation.follow_up("And the clock?")
    assert len(book.minted) == 2
    assert receipts[1].approval == book.minted[1]["approval_id"] != receipts[0].approval
    assert not receipts[1].approval_used
    assert book.revoke(receipts[1].approval) is False, "it was taken back already"
    assert provider.last is not None
    await provider.hand_over(provider.last)
    assert provider.refused[-1] is Code.APPROVAL_REQUIRED
    await consultation.close()


async def test_a_provider_without_a_way_out_uses_nothing(
    repository: Path, tools: Tools, receipts: list[ConsultReceipt], tmp_path: Path
) -> None:
    consultation = consulting(DoubleProvider(mood=Mood.GROUNDED), repository, tools, tmp_path)
    await consultation.run()
    assert receipts[0].approval
    assert not receipts[0].approval_used
    await consultation.close()


@contextmanager
def permitted(channel: PersonChannel, tools: Tools, seconds: float = 60.0) -> Iterator[Grant]:
    facts = {"owner": "o", "consultation": "con-1", "provider": "p", "conversation": "c"}
    with granted(channel, tools, REQUEST, seconds=seconds, **facts) as grant:
        yield grant


@pytest.mark.parametrize("change", [{"request_id": "req-0002"}, {"prompt_digest": "e" * 64}, {"nonce": "nonce-0002"}])
async def test_another_request_or_prompt_is_not_what_was_granted(tools: Tools, tmp_path: Path, change: dict[str, str]) -> None:
    channel = PersonChannel(Relay(tmp_path / "relay"))
    with permitted(channel, tools) as grant, pytest.raises(PolicyRefusal) as refused:
        await channel.hand_over(REQUEST.model_copy(update=change), deadline=1.0)
    assert refused.value.code is Code.APPROVAL_MISMATCH
    assert not grant.used
    assert not (tmp_path / "relay").exists(), "nothing left"


async def test_a_grant_has_an_end(tools: Tools, tmp_path: Path) -> None:
    now = [1_000.0]
    channel = PersonChannel(Relay(tmp_path))
    with permitted(channel, replace(tools, epoch=lambda: now[0])):
        now[0] += 61.0
        with pytest.raises(PolicyRefusal) as refused:
            await channel.hand_over(REQUEST, deadline=1.0)
    assert refused.value.code is Code.APPROVAL_EXPIRED
