"""Where a host keeps the providers that it loaded: sealed in processes of their own, or in this one."""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

from ues_core.config import Isolation, Settings
from ues_core.contract import PluginKind, ProviderInfo, UesError, WebReasoningProvider
from ues_core.contract.words import TrustState
from ues_core.host.trust import TrustBook, Verdict
from ues_core.plugins import PluginBook, PluginRow
from ues_core.reasoning.report import destination_of
from ues_core.reasoning.sealed import SealedProvider, SealReport, open_sealed


class ProviderShelf:
    """Loads providers by name. A sealed one is opened once and kept until ``close``."""

    def __init__(self, settings: Settings, plugins: PluginBook) -> None:
        self._settings = settings
        self._plugins = plugins
        self._sealed: dict[str, SealedProvider] = {}
        self._sealing = asyncio.Lock()

    async def get(self, name: str) -> WebReasoningProvider:
        """The provider: in a sealed process of its own, or in this one, as the operator's ``isolation`` says."""
        isolation = self._settings.isolation
        if isolation is Isolation.IN_PROCESS or (isolation is Isolation.AUTO and sys.platform != "linux"):
            return await asyncio.to_thread(self._plugins.provider, name)
        async with self._sealing:
            known = self._sealed.get(name)
            if known is not None and known.ended is None:
                return known
            found, options = await asyncio.to_thread(self._plugins.unloaded_provider, name)
            sealed = await open_sealed(found, options=options, strict=self._settings.isolation_strict)
            self._sealed[name] = sealed
            return sealed

    async def close(self) -> None:
        """End every sealed provider."""
        sealed, self._sealed = list(self._sealed.values()), {}
        await asyncio.gather(*(s.close() for s in sealed), return_exceptions=True)


@dataclass(frozen=True, slots=True)
class Looked:
    """What a provider was found to be, and whether a prompt may go where it says."""

    row: PluginRow
    info: ProviderInfo
    verdict: Verdict
    seal: SealReport | None
    """What its process was measured to be kept from; ``None`` when its code runs in this process."""

    @property
    def destination(self) -> str:
        """Where it would send a prompt, in words."""
        return destination_of(self.info)

    @property
    def held(self) -> str:
        """What its code is kept from, in words."""
        if self.seal is None:
            return "it runs in this process, like any other dependency"
        return "its process is sealed" if self.seal.complete else f"its process is not sealed in {', '.join(self.seal.weak)}"


async def look_at(settings: Settings, name: str) -> Looked:
    """Load a provider as for a consultation, ask it nothing, and close it. Raises ``PluginError``, ``ConfigError``."""
    plugins = PluginBook(settings)
    row = plugins.locate(PluginKind.PROVIDER, name)
    shelf = ProviderShelf(settings, plugins)
    try:
        provider = await shelf.get(name)
        info = provider.info
        seal = provider.report if isinstance(provider, SealedProvider) else None
        verdict = await asyncio.to_thread(TrustBook(settings.state_dir).judge, info, row.distribution)
        return Looked(row, info, verdict, seal)
    finally:
        await shelf.close()


async def destination(settings: Settings, name: str) -> str:
    """Where the provider of that name would send a prompt, in words, and whether it may: it is loaded and asked nothing."""
    try:
        looked = await look_at(settings, name)
    except UesError as error:
        return f"{name}, which cannot be asked: {error.sentence}"
    said = [] if looked.verdict.state is TrustState.NOT_NEEDED else [looked.verdict.words()]
    if not looked.verdict.allowed:
        said.append(f"agree with: ues providers trust {name}")
    return f"{looked.destination} ({'; '.join([*said, looked.held])})"
