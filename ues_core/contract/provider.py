"""The provider contract: a provider advises, nothing more.

Five methods. The authority is one frozen word; anything else is refused at registration. A provider's only way out is the
channel that it is handed; it sees neither approvals nor receipts nor the ledger.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, Literal, Protocol, runtime_checkable

from pydantic import Field

from ues_core.contract._base import CONTRACT_VERSION, Model
from ues_core.contract.consulting_words import AnswerOutcome, CapabilityState, ChannelKind, ProgressKind, SectionName
from ues_core.contract.observation import External
from ues_core.contract.site import WebChatSite
from ues_core.contract.words import Authority

PROVIDER_METHODS: Final = ("capability", "start_session", "consult", "follow_up", "close_session")
"""The five methods of the contract; the host reaches a provider through these only."""


class ProviderCapabilities(Model):
    """What a provider can do."""

    follow_up: bool = True
    resume: bool = False
    """A session survives as an opaque handle."""
    max_prompt_chars: int = Field(default=60_000, ge=1_000, le=2_000_000)
    max_follow_ups: int = Field(default=4, ge=0, le=16)
    models: tuple[str, ...] = ()
    deterministic: bool = False
    """A double: never a real second opinion, and labelled so."""


class ProviderInfo(Model):
    """Who a provider is."""

    name: str = Field(pattern=r"^[a-z0-9][a-z0-9-]{0,40}$")
    contract_version: int = CONTRACT_VERSION
    authority: Literal[Authority.CONSULTANT_ONLY] = Authority.CONSULTANT_ONLY
    channel: ChannelKind
    """``none``: it answers by itself and needs no way out (doubles, local rules)."""
    capabilities: ProviderCapabilities = ProviderCapabilities()
    site: WebChatSite | None = None
    """For channel ``web``."""
    description: str = Field(default="", max_length=300)


class CapabilityReport(Model):
    """What the probe found. Only an explicit ``ready`` is usable; a probe is never a consult."""

    state: CapabilityState
    reason: str = Field(default="", max_length=400)
    next_step: str = Field(default="", max_length=400)


class ProviderSession(Model):
    """An opaque conversation handle. It fails closed: an unknown handle never starts a fresh conversation silently."""

    handle: str = Field(min_length=1, max_length=400)
    generation: int = Field(default=1, ge=1)
    resumed: bool = False
    profile: str = Field(default="", max_length=120)
    """Identity of the account or profile that the conversation lives under; empty when there is none."""


class PromptSection(Model):
    """One section as it was rendered into the prompt."""

    name: SectionName
    chars: int
    digest: str


class ConsultRequest(Model):
    """One exchange: what to ask, and what the answer must echo."""

    request_id: str = Field(min_length=8, max_length=64)
    nonce: str = Field(min_length=8, max_length=64)
    """The answer must echo it; an answer without it belongs to somebody else."""
    exchange: int = Field(default=1, ge=1)
    prompt: str = Field(max_length=2_000_000)
    """The whole outbound text, already redacted and scanned."""
    prompt_digest: str
    sections: tuple[PromptSection, ...] = ()
    model: str = Field(default="", max_length=120)
    """The model that is asked for; what was observed is in the answer."""


class RawAnswer(External):
    """What came back, unparsed. The core parses it, strips authority and binds it."""

    request_id: str = Field(max_length=64)
    outcome: AnswerOutcome
    text: str = Field(default="", max_length=20_000_000)
    reason: str = Field(default="", max_length=400)
    next_step: str = Field(default="", max_length=400)
    model_observed: str = Field(default="", max_length=120)
    generation: int = 1
    session: str = Field(default="", max_length=400)
    """Handle of the conversation that it came out of; when given, another one than the request's is discarded unread."""
    profile: str = Field(default="", max_length=120)
    """Profile that it came out of; when given, another one than the session's is discarded unread."""
    resume_handle: str = Field(default="", max_length=400)
    """Handle by which the conversation can be resumed from now on; empty: the session's own."""
    submitted: bool | None = None
    """Whether the prompt certainly left; ``None`` when that is unknown. Nothing is ever sent again by itself."""


class Progress(Model):
    """What a provider may say while it works. Never text of the answer."""

    kind: ProgressKind
    detail: str = Field(default="", max_length=200)
    chars: int = 0


class ChannelAnswer(Model):
    """What a channel brought back."""

    outcome: AnswerOutcome
    text: str = ""
    reason: str = Field(default="", max_length=400)
    next_step: str = Field(default="", max_length=400)
    model_observed: str = Field(default="", max_length=120)
    handle: str = Field(default="", max_length=400)
    submitted: bool | None = None


class ChannelState(Model):
    """What a web channel sees of its page: booleans and words only."""

    state: CapabilityState
    url_is_conversation: bool = False
    handle: str = Field(default="", max_length=400)
    reason: str = Field(default="", max_length=400)


@runtime_checkable
class ConsultChannel(Protocol):
    """A provider's only way out. Each method is performed by the core, gated and receipted; a kind's other methods refuse."""

    @property
    def kind(self) -> ChannelKind:
        """``web``, ``person`` or ``none``."""
        ...

    def progress(self, progress: Progress) -> None:
        """Report progress; bounded, never blocks."""
        ...

    @property
    def cancelled(self) -> bool:
        """Whether the host has cancelled the exchange."""
        ...

    async def hand_over(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """``person``: give the rendered prompt to a person and wait for the answer; one that is the prompt is refused."""
        ...

    async def open_entry(self, *, handle: str | None = None, deadline: float) -> ChannelState:
        """``web``: open the site's own entry page, or the conversation ``handle``; fails closed when it lands elsewhere."""
        ...

    async def probe(self, *, deadline: float) -> ChannelState:
        """``web``: look, read-only."""
        ...

    async def set_toggles(self, wanted: Mapping[str, bool], *, deadline: float) -> dict[str, bool]:
        """``web``: set mode switches idempotently; the states that were reached."""
        ...

    async def ask(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """``web``: fill the composer, submit once, wait for this exchange's own answer. The one grant covers the one submit."""
        ...


@runtime_checkable
class WebReasoningProvider(Protocol):
    """A consultant. Asynchronous; ``ues_core.contract.sync_provider`` adapts a synchronous one."""

    @property
    def info(self) -> ProviderInfo:
        """Who it is; ``info.authority`` is ``consultant-only``."""
        ...

    @property
    def authority(self) -> Authority:
        """``consultant-only``, frozen."""
        ...

    async def capability(self) -> CapabilityReport:
        """Whether it could be consulted now. A probe, never a consult."""
        ...

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        """Start a conversation, or resume an opaque handle; fails closed."""
        ...

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        """One exchange, within ``deadline`` seconds."""
        ...

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        """One more exchange of the same conversation; ``delta.prompt`` holds changed sections only."""
        ...

    async def close_session(self, session: ProviderSession) -> None:
        """Release the conversation. Idempotent."""
        ...
