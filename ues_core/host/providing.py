"""Where a host keeps the providers that it loaded: sealed in processes of their own, or in this one."""

from __future__ import annotations

import asyncio
import sys

from ues_core.config import Isolation, Settings
from ues_core.contract import UesError, WebReasoningProvider
from ues_core.plugins import PluginBook
from ues_core.reasoning.report import destination_of
from ues_core.reasoning.sealed import SealedProvider, open_sealed


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


async def destination(settings: Settings, name: str) -> str:
    """Where the provider of that name would send a prompt, in words: it is loaded as for a consultation, and asked nothing."""
    shelf = ProviderShelf(settings, PluginBook(settings))
    try:
        return destination_of((await shelf.get(name)).info)
    except UesError as error:
        return f"{name}, which cannot be asked: {error.sentence}"
    finally:
        await shelf.close()
