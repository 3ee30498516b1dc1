"""The standard tests of a provider, on the manual relay."""

from __future__ import annotations

import pytest
from ues_provider_relay import RelayProvider

from ues_core.contract import AnswerOutcome, ChannelKind, ProgressKind
from ues_core.testing.conformance import ProviderConformance, RecordingChannel
from ues_core.testing.conformance.provider import make_request


class TestRelay(ProviderConformance):
    """Everything that a provider of channel kind ``person`` must keep to."""

    @pytest.fixture
    def provider(self) -> RelayProvider:
        return RelayProvider()


async def test_it_says_that_it_waits_for_a_person() -> None:
    channel = RecordingChannel(ChannelKind.PERSON, reply="words")
    provider = RelayProvider()
    session = await provider.start_session(channel)
    answer = await provider.consult(session, make_request(), 5)
    assert (answer.outcome, answer.text) == (AnswerOutcome.ANSWERED, "words")
    assert [report.kind for report in channel.reported] == [ProgressKind.HAND_OVER]
