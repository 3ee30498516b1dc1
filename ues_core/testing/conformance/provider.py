"""The suite that every provider passes, and the channel that it is handed: one that records and answers from a script."""

from __future__ import annotations

import asyncio
import hashlib
import inspect
import subprocess
import sys
from collections.abc import Mapping
from typing import ClassVar, Final

import pytest

from ues_core.contract import (
    CONTRACT_VERSION,
    OLDEST_ACCEPTED_VERSION,
    PROVIDER_METHODS,
    AnswerOutcome,
    Authority,
    CapabilityReport,
    CapabilityState,
    ChannelAnswer,
    ChannelKind,
    ChannelState,
    Code,
    ConsultRequest,
    InstructionAuthority,
    NotSupported,
    PolicyRefusal,
    Progress,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    Trust,
    UesError,
    WebReasoningProvider,
    normalise_origin,
    origin_of,
)
from ues_core.testing.conformance._bench import need
from ues_core.testing.conformance.guard import Guarded

LIMIT: Final = 20.0
"""Seconds that an ordinary exchange may take."""
SHORT: Final = 0.3
"""Seconds of the deadline that has to be honoured."""
GRACE: Final = 8.0
"""Seconds beyond it after which the provider counts as unbounded."""

_ROOMS: Final = ("cli", "config", "host", "loop", "plugins", "policy", "reasoning", "redact", "seal", "session", "web")
"""Rooms of the core that a provider never imports."""


class RecordingChannel:
    """A ``ConsultChannel`` that answers from a script and records what it was asked. As the real one it sends a request once.

    ``hang``   never answers.
    ``outcome``  what it answers with; the text is empty unless that is ``answered``.
    """

    def __init__(
        self, kind: ChannelKind, *, hang: bool = False, outcome: AnswerOutcome = AnswerOutcome.ANSWERED, reply: str = ""
    ) -> None:
        self._kind = kind
        self.hang = hang
        self.outcome = outcome
        self.reply = reply
        self.requests: list[ConsultRequest] = []
        self.wrong_calls: list[str] = []
        """Methods of another kind of channel that were tried."""
        self.reported: list[Progress] = []
        self.cancelled = False

    @property
    def kind(self) -> ChannelKind:
        """What it is."""
        return self._kind

    def progress(self, progress: Progress) -> None:
        """Record it."""
        self.reported.append(progress)

    async def hand_over(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """``person``: answer from the script."""
        self._only(ChannelKind.PERSON, "hand_over")
        return await self._answer(request, deadline)

    async def ask(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """``web``: answer from the script."""
        self._only(ChannelKind.WEB, "ask")
        return await self._answer(request, deadline)

    async def open_entry(self, *, handle: str | None = None, deadline: float) -> ChannelState:
        """``web``: the entry page is open; a conversation that is asked for is never found."""
        self._only(ChannelKind.WEB, "open_entry")
        if handle is not None:
            return ChannelState(state=CapabilityState.UNAVAILABLE, reason="there is no such conversation")
        return ChannelState(state=CapabilityState.READY, handle="recorded-conversation")

    async def probe(self, *, deadline: float) -> ChannelState:
        """``web``: ready."""
        self._only(ChannelKind.WEB, "probe")
        return ChannelState(state=CapabilityState.READY)

    async def set_toggles(self, wanted: Mapping[str, bool], *, deadline: float) -> dict[str, bool]:
        """``web``: every switch does as it is told."""
        self._only(ChannelKind.WEB, "set_toggles")
        return dict(wanted)

    def _only(self, kind: ChannelKind, method: str) -> None:
        if self._kind is not kind:
            self.wrong_calls.append(method)
            raise NotSupported(f"A channel of kind {self._kind} does not {method}.", details={"capability": method})

    async def _answer(self, request: ConsultRequest, deadline: float) -> ChannelAnswer:
        again = any(earlier.request_id == request.request_id for earlier in self.requests)
        self.requests.append(request)
        if again:
            raise PolicyRefusal(
                "The one approval of this exchange was used up.",
                code=Code.APPROVAL_USED,
                next_step="Send a request once; report what became of it.",
            )
        if self.hang:
            try:
                await asyncio.wait_for(asyncio.Event().wait(), deadline)
            except TimeoutError:
                return ChannelAnswer(outcome=AnswerOutcome.TIMED_OUT, reason="nobody answered", submitted=True)
        answered = self.outcome is AnswerOutcome.ANSWERED
        text = self.reply or f'{{"nonce": "{request.nonce}", "summary": "from the channel"}}'
        return ChannelAnswer(outcome=self.outcome, text=text if answered else "", submitted=True)


def make_request(number: int = 1, prompt: str = "What would you change?") -> ConsultRequest:
    """One exchange, with ids of its own."""
    return ConsultRequest(
        request_id=f"request-{number:04}",
        nonce=f"nonce-{number:06}",
        exchange=number,
        prompt=f"{prompt}\nEcho the nonce nonce-{number:06}.",
        prompt_digest=hashlib.sha256(prompt.encode()).hexdigest(),
    )


class ProviderConformance(Guarded):
    """Subclass it and give one fixture, ``provider``: a fresh ``WebReasoningProvider`` that is ready to be consulted."""

    pytestmark: ClassVar[object] = [pytest.mark.asyncio]

    @pytest.fixture
    def channel(self, provider: WebReasoningProvider) -> RecordingChannel:
        """The only way out that the provider is given."""
        return RecordingChannel(provider.info.channel)

    # -- what it is --------------------------------------------------------------------------------------------------

    async def test_it_satisfies_the_protocol(self, provider: WebReasoningProvider) -> None:
        """Five asynchronous methods, two properties, a contract version that the core accepts."""
        assert isinstance(provider, WebReasoningProvider)
        assert OLDEST_ACCEPTED_VERSION <= provider.info.contract_version <= CONTRACT_VERSION
        for name in PROVIDER_METHODS:
            assert inspect.iscoroutinefunction(getattr(provider, name)), f"{name} is not asynchronous"

    async def test_its_info_is_plain_data(self, provider: WebReasoningProvider) -> None:
        """It crosses a process border unchanged."""
        assert ProviderInfo.model_validate_json(provider.info.model_dump_json()) == provider.info
        assert provider.info == provider.info

    async def test_it_describes_a_site_exactly_when_it_needs_one(self, provider: WebReasoningProvider) -> None:
        """A web provider without a site could not be gated; any other has no use for one."""
        assert (provider.info.site is not None) == (provider.info.channel is ChannelKind.WEB)

    async def test_it_names_exactly_the_places_that_it_sends_to(self, provider: WebReasoningProvider) -> None:
        """The operator agrees to its origins: each is one, scheme, host and port; its entry pages lie within them."""
        site = provider.info.site
        if site is None:
            return
        origins = [normalise_origin(origin) for origin in site.origins]
        assert None not in origins, "an origin is more or less than scheme, host and port"
        assert len(set(origins)) == len(origins), "an origin is named twice"
        assert {origin_of(url) for url in site.entry_urls} <= set(origins), "an entry page lies elsewhere"

    async def test_its_authority_is_one_word(self, provider: WebReasoningProvider) -> None:
        """In its info and on itself."""
        assert provider.authority is Authority.CONSULTANT_ONLY
        assert provider.info.authority is Authority.CONSULTANT_ONLY

    async def test_its_authority_cannot_be_raised(self, provider: WebReasoningProvider) -> None:
        """Setting it fails, and changes nothing."""
        with pytest.raises((AttributeError, TypeError, ValueError)):
            setattr(provider, "authority", "owner")  # noqa: B010 - the point is to try
        with pytest.raises((AttributeError, TypeError, ValueError)):
            setattr(provider.info, "authority", "owner")  # noqa: B010 - the point is to try
        assert provider.authority is Authority.CONSULTANT_ONLY

    async def test_it_imports_the_contract_and_no_other_room_of_the_core(self, provider: WebReasoningProvider) -> None:
        """In a process of its own, what its module brings in is the contract."""
        module = type(provider).__module__
        need(module != "__main__" and not module.startswith("test_"), "the provider is defined in the test itself")
        code = (
            f"import sys, {module}\n"
            "rooms = {m.split('.')[1] for m in sys.modules if m.startswith('ues_core.')}\n"
            f"print(*sorted(rooms & set({_ROOMS!r})))"
        )
        done = await asyncio.to_thread(
            subprocess.run, [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
        )
        need(done.returncode == 0, f"the provider's module {module} is not installed")
        assert done.stdout.split() == []

    # -- probing and starting ----------------------------------------------------------------------------------------

    async def test_a_probe_reports_and_never_consults(self, provider: WebReasoningProvider, channel: RecordingChannel) -> None:
        """Before a session and during one."""
        report = await asyncio.wait_for(provider.capability(), LIMIT)
        assert isinstance(report, CapabilityReport)
        assert report.state is CapabilityState.READY or report.reason
        session = await provider.start_session(channel)
        await asyncio.wait_for(provider.capability(), LIMIT)
        assert channel.requests == []
        await provider.close_session(session)

    async def test_starting_a_session_asks_nothing(self, provider: WebReasoningProvider, channel: RecordingChannel) -> None:
        """A handle comes back, and nothing went out."""
        session = await provider.start_session(channel)
        assert isinstance(session, ProviderSession)
        assert not session.resumed
        assert channel.requests == []
        await provider.close_session(session)

    async def test_two_sessions_have_handles_of_their_own(self, provider: WebReasoningProvider) -> None:
        """One conversation is never taken for another."""
        kind = provider.info.channel
        if kind is ChannelKind.WEB:
            pytest.skip("a web channel gives the handles itself")
        one = await provider.start_session(RecordingChannel(kind))
        two = await provider.start_session(RecordingChannel(kind))
        assert one.handle != two.handle
        await provider.close_session(one)
        await provider.close_session(two)

    async def test_a_handle_that_nobody_knows_is_not_resumed(
        self, provider: WebReasoningProvider, channel: RecordingChannel
    ) -> None:
        """It fails; a fresh conversation is never started silently in its place."""
        with pytest.raises(UesError):
            await provider.start_session(channel, resume="a-handle-that-nobody-knows")
        assert channel.requests == []

    # -- consulting --------------------------------------------------------------------------------------------------

    async def test_an_answer_is_of_the_contract_and_belongs_to_its_request(
        self, provider: WebReasoningProvider, channel: RecordingChannel
    ) -> None:
        """Untrusted, without authority, under the request's id."""
        session = await provider.start_session(channel)
        request = make_request()
        answer = await asyncio.wait_for(provider.consult(session, request, LIMIT), LIMIT + GRACE)
        assert isinstance(answer, RawAnswer)
        assert answer.request_id == request.request_id
        assert answer.outcome is AnswerOutcome.ANSWERED
        assert answer.text
        assert answer.trust is Trust.UNTRUSTED_EXTERNAL
        assert answer.instruction_authority is InstructionAuthority.NONE
        await provider.close_session(session)

    async def test_the_request_goes_out_once_unchanged_through_the_channel(
        self, provider: WebReasoningProvider, channel: RecordingChannel
    ) -> None:
        """And only by the methods of its own kind of channel."""
        session = await provider.start_session(channel)
        request = make_request()
        await provider.consult(session, request, LIMIT)
        assert channel.wrong_calls == []
        assert channel.requests == ([] if channel.kind is ChannelKind.NONE else [request])
        await provider.close_session(session)

    async def test_what_the_channel_brings_back_is_passed_on(
        self, provider: WebReasoningProvider, channel: RecordingChannel
    ) -> None:
        """The core judges the text; a provider does not edit it."""
        need(channel.kind is not ChannelKind.NONE, "a provider without a channel answers by itself")
        channel.reply = "exactly these words"
        session = await provider.start_session(channel)
        assert (await provider.consult(session, make_request(), LIMIT)).text == "exactly these words"
        await provider.close_session(session)

    @pytest.mark.parametrize(
        "outcome",
        [
            AnswerOutcome.NEEDS_AUTH,
            AnswerOutcome.CHALLENGE,
            AnswerOutcome.RATE_LIMITED,
            AnswerOutcome.UNAVAILABLE,
            AnswerOutcome.TRUNCATED,
        ],
    )
    async def test_a_channel_without_an_answer_gives_none(
        self, provider: WebReasoningProvider, channel: RecordingChannel, outcome: AnswerOutcome
    ) -> None:
        """Its outcome is the provider's outcome; nothing is asked a second time."""
        need(channel.kind is not ChannelKind.NONE, "a provider without a channel answers by itself")
        channel.outcome = outcome
        session = await provider.start_session(channel)
        answer = await provider.consult(session, make_request(), LIMIT)
        assert answer.outcome is outcome
        assert len(channel.requests) == 1
        await provider.close_session(session)

    async def test_a_follow_up_belongs_to_the_same_conversation(
        self, provider: WebReasoningProvider, channel: RecordingChannel
    ) -> None:
        """One more exchange, one more request, its own id."""
        need(provider.info.capabilities.follow_up, f"{provider.info.name} does not declare follow_up")
        session = await provider.start_session(channel)
        await provider.consult(session, make_request(1), LIMIT)
        answer = await provider.follow_up(session, make_request(2, "And now?"), LIMIT)
        assert isinstance(answer, RawAnswer)
        assert answer.request_id == make_request(2).request_id
        if channel.kind is not ChannelKind.NONE:
            assert [request.exchange for request in channel.requests] == [1, 2]
        await provider.close_session(session)

    # -- bounds and ends ---------------------------------------------------------------------------------------------

    async def test_a_deadline_is_honoured(self, provider: WebReasoningProvider, channel: RecordingChannel) -> None:
        """No answer in time is an error or an outcome, never a wait."""
        need(channel.kind is not ChannelKind.NONE, "a provider without a channel waits for nobody")
        channel.hang = True
        session = await provider.start_session(channel)
        try:
            answer = await asyncio.wait_for(provider.consult(session, make_request(), SHORT), SHORT + GRACE)
        except TimeoutError:
            pytest.fail("the provider did not come back")
        except UesError:
            pass
        else:
            assert answer.outcome is AnswerOutcome.TIMED_OUT
        await provider.close_session(session)

    async def test_a_cancelled_exchange_leaves_a_session_that_can_be_closed(
        self, provider: WebReasoningProvider, channel: RecordingChannel
    ) -> None:
        """The cancellation arrives; it is not swallowed."""
        need(channel.kind is not ChannelKind.NONE, "a provider without a channel waits for nobody")
        channel.hang = True
        session = await provider.start_session(channel)
        call = asyncio.create_task(provider.consult(session, make_request(), 60))
        await asyncio.sleep(0.1)
        call.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asyncio.wait_for(call, GRACE)
        await asyncio.wait_for(provider.close_session(session), GRACE)

    async def test_an_unknown_session_is_not_consulted(self, provider: WebReasoningProvider, channel: RecordingChannel) -> None:
        """It fails closed, and nothing goes out, for either kind of exchange."""
        await provider.start_session(channel)
        nobody = ProviderSession(handle="a-handle-that-nobody-knows")
        for method in (provider.consult, provider.follow_up):
            with pytest.raises(UesError):
                await method(nobody, make_request(), LIMIT)
        assert channel.requests == []

    async def test_a_closed_session_is_not_consulted(self, provider: WebReasoningProvider, channel: RecordingChannel) -> None:
        """Closing is the end."""
        session = await provider.start_session(channel)
        await provider.close_session(session)
        with pytest.raises(UesError):
            await provider.consult(session, make_request(), LIMIT)
        assert channel.requests == []

    async def test_closing_twice_or_closing_nobody_is_no_error(
        self, provider: WebReasoningProvider, channel: RecordingChannel
    ) -> None:
        """A host that cleans up does not have to know what is left."""
        session = await provider.start_session(channel)
        await provider.close_session(session)
        await provider.close_session(session)
        await provider.close_session(ProviderSession(handle="a-handle-that-nobody-knows"))

    async def test_what_it_reports_is_progress(self, provider: WebReasoningProvider, channel: RecordingChannel) -> None:
        """Words and counts, never text of the answer."""
        channel.reply = "a text that is nobody's progress"
        session = await provider.start_session(channel)
        answer = await provider.consult(session, make_request(), LIMIT)
        assert all(isinstance(progress, Progress) for progress in channel.reported)
        assert not [p for p in channel.reported if p.detail and p.detail in answer.text]
        await provider.close_session(session)
