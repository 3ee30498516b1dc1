"""The last look before sending: whatever got past the redaction of rows, in a packet or in a delta, is not sent."""

from __future__ import annotations

from pathlib import Path

import pytest

from ues_core.contract import (
    Code,
    ConsultOutcome,
    ConsultReceipt,
    ConsultRequest,
    ExtraDetector,
    ProviderSession,
    RawAnswer,
    ReasoningMode,
    UesError,
)
from ues_core.reasoning import ConsultantOnly, Consultation, PacketInputs, Tools, make_channel
from ues_provider_double import DoubleProvider, Mood

TASK = "The cache is never emptied; the root cause is unclear."
ACROSS = ExtraDetector(name="across-rows", pattern=r"AAA-FIRST\n- BBB-SECOND")
"""What no row holds by itself: only the rendered whole has it."""
PARTS = ("the AAA-FIRST", "BBB-SECOND part")


class Hearing(DoubleProvider):
    """Remembers what reached it."""

    def __init__(self) -> None:
        super().__init__(mood=Mood.GROUNDED)
        self.heard: list[str] = []

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        self.heard.append(request.prompt)
        return await super().consult(session, request, deadline)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        self.heard.append(delta.prompt)
        return await super().follow_up(session, delta, deadline)


def consulting(provider: DoubleProvider, mode: ReasoningMode, inputs: PacketInputs, tools: Tools) -> Consultation:
    return Consultation(
        provider=ConsultantOnly(provider),
        mode=mode,
        inputs=inputs,
        tools=tools,
        open_channel=lambda: make_channel(provider.info.channel),
        detectors=(ACROSS,),
    )


@pytest.mark.parametrize("mode", [ReasoningMode.AUTO, ReasoningMode.FORCE])
async def test_a_packet_that_still_holds_a_secret_reaches_nobody(
    repository: Path, tools: Tools, receipts: list[ConsultReceipt], mode: ReasoningMode
) -> None:
    provider = Hearing()
    consultation = consulting(provider, mode, PacketInputs(task=TASK, repo=repository, constraints=PARTS), tools)
    if mode is ReasoningMode.FORCE:
        with pytest.raises(UesError) as refused:
            await consultation.run()
        assert refused.value.details["cause"] == Code.SECRET_OUTBOUND
    else:
        await consultation.run()
        assert consultation.outcome is ConsultOutcome.FALLBACK_LOCAL
    assert consultation.code is Code.SECRET_OUTBOUND
    assert "across-rows" in consultation.reason
    assert provider.heard == []
    assert (receipts[0].code, receipts[0].prompt_chars, receipts[0].approval) == (Code.SECRET_OUTBOUND, 0, "")
    await consultation.close()


async def test_neither_does_a_delta(repository: Path, tools: Tools) -> None:
    provider = Hearing()
    # newer questions stand in front of older ones
    inputs = PacketInputs(task=TASK, repo=repository, questions=(PARTS[1],))
    consultation = consulting(provider, ReasoningMode.AUTO, inputs, tools)
    await consultation.run()
    assert len(provider.heard) == 1
    await consultation.follow_up(PARTS[0])
    assert (consultation.outcome, consultation.code) == (ConsultOutcome.FALLBACK_LOCAL, Code.SECRET_OUTBOUND)
    assert len(provider.heard) == 1
    await consultation.close()
