"""A synchronous provider, made asynchronous: each of its methods runs in a thread."""

from __future__ import annotations

import asyncio
from typing import Protocol

from ues_core.contract.authority import check_authority, checked_info
from ues_core.contract.provider import (
    CapabilityReport,
    ConsultChannel,
    ConsultRequest,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    WebReasoningProvider,
)
from ues_core.contract.words import Authority


class SyncProvider(Protocol):
    """The five methods and two properties of ``WebReasoningProvider``, without ``async``.

    The channel that it is handed stays asynchronous, so this form suits providers that need no way out (channel ``none``).
    """

    @property
    def info(self) -> ProviderInfo:
        """Who it is."""
        ...

    @property
    def authority(self) -> Authority:
        """``consultant-only``."""
        ...

    def capability(self) -> CapabilityReport:
        """Whether it could be consulted now."""
        ...

    def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        """Start a conversation, or resume one; fails closed."""
        ...

    def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        """One exchange, within ``deadline`` seconds; it cannot be interrupted, so it must keep to that by itself."""
        ...

    def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        """One more exchange of the same conversation."""
        ...

    def close_session(self, session: ProviderSession) -> None:
        """Release the conversation. Idempotent."""
        ...


class _Threaded:
    """The asynchronous face. A cancelled call returns at once; its thread ends when the provider's method does."""

    __slots__ = ("_provider",)

    def __init__(self, provider: SyncProvider) -> None:
        check_authority(provider)
        self._provider = provider

    @property
    def info(self) -> ProviderInfo:
        return checked_info(self._provider)

    @property
    def authority(self) -> Authority:
        # asked every time: the host compares it before every call, and so sees a provider that changed its word
        check_authority(self._provider)
        return Authority.CONSULTANT_ONLY

    async def capability(self) -> CapabilityReport:
        return await asyncio.to_thread(self._provider.capability)

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        return await asyncio.to_thread(self._provider.start_session, channel, resume)

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        return await asyncio.to_thread(self._provider.consult, session, request, deadline)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        return await asyncio.to_thread(self._provider.follow_up, session, delta, deadline)

    async def close_session(self, session: ProviderSession) -> None:
        await asyncio.to_thread(self._provider.close_session, session)


def sync_provider(provider: SyncProvider) -> WebReasoningProvider:
    """Adapt a synchronous provider. Raises ``PluginError`` (``authority-violation``) like any registration does."""
    return _Threaded(provider)
