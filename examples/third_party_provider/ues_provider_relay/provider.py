"""A provider of channel kind ``person``: the core hands the prompt to a person and takes the answer back."""

from __future__ import annotations

from ues_core.contract import (
    Authority,
    CapabilityReport,
    CapabilityState,
    ChannelKind,
    ConsultChannel,
    ConsultRequest,
    Progress,
    ProgressKind,
    ProviderCapabilities,
    ProviderError,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
)

CAPABILITIES = ProviderCapabilities(follow_up=True, resume=False, max_prompt_chars=200_000, max_follow_ups=4)
"""A person pastes what a chat window takes; 200,000 characters is more than most of them do."""


class RelayProvider:
    """Relays by hand. It has no network, no file and no browser of its own: the channel is all that it has."""

    def __init__(self) -> None:
        self._open: dict[str, ConsultChannel] = {}
        self._started = 0

    @property
    def info(self) -> ProviderInfo:
        """Who it is."""
        return ProviderInfo(
            name="relay",
            channel=ChannelKind.PERSON,
            capabilities=CAPABILITIES,
            description="A person carries the prompt to a consultant of their choice and brings the answer back.",
        )

    @property
    def authority(self) -> Authority:
        """``consultant-only``: a property without setter."""
        return Authority.CONSULTANT_ONLY

    async def capability(self) -> CapabilityReport:
        """Always ready: whether a person is there shows only when one is asked."""
        return CapabilityReport(state=CapabilityState.READY)

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        """Start a conversation. A person's chat window cannot be found again, so none is resumed."""
        if resume is not None:
            raise ProviderError("A relayed conversation cannot be resumed.", next_step="Start a fresh one.")
        self._started += 1
        session = ProviderSession(handle=f"relay-{self._started}")
        self._open[session.handle] = channel
        return session

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        """Hand over, wait, pass on what came back. The text is not touched: the core judges it."""
        return await self._exchange(session, request, deadline)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        """The same, in the same conversation of the person."""
        return await self._exchange(session, delta, deadline)

    async def close_session(self, session: ProviderSession) -> None:
        """Forget the conversation."""
        self._open.pop(session.handle, None)

    async def _exchange(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        channel = self._open.get(session.handle)
        if channel is None:
            raise ProviderError("This conversation is not open.", next_step="Start a session first.")
        channel.progress(Progress(kind=ProgressKind.HAND_OVER))
        answer = await channel.hand_over(request, deadline=deadline)
        return RawAnswer(
            request_id=request.request_id,
            outcome=answer.outcome,
            text=answer.text,
            reason=answer.reason,
            next_step=answer.next_step,
            model_observed=answer.model_observed,
            generation=session.generation,
            submitted=answer.submitted,
        )
