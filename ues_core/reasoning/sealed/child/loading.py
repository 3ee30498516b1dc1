"""Importing the entry point inside the seal and checking what it made, before anything else of it is called."""

from __future__ import annotations

import importlib
import inspect
import operator
from typing import Any

from ues_core.contract import (
    PROJECT,
    PROVIDER_METHODS,
    Code,
    PluginError,
    WebReasoningProvider,
    check_authority,
    checked_info,
)


def load(facts: dict[str, Any]) -> WebReasoningProvider:
    """The provider of the entry point ``facts["value"]``. Raises ``PluginError``, or whatever the plugin raised."""
    import pluggy

    from ues_core.hooks import FactorySpecs

    module, _, attribute = str(facts["value"]).partition(":")
    plugin: Any = importlib.import_module(module.strip())
    if attribute.strip():
        plugin = operator.attrgetter(attribute.strip())(plugin)
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(FactorySpecs)
    manager.register(plugin, name=str(facts["name"]))
    manager.check_pending()
    if not manager.hook.ues_provider.get_hookimpls():
        raise PluginError(
            f"{facts['value']} has no hook implementation ues_provider().",
            next_step="Mark a function ues_provider with hookimpl.",
        )
    made = manager.hook.ues_provider(options=facts["options"])
    if isinstance(made, type) or (callable(made) and not hasattr(made, "info")):
        made = made()
    if made is None:
        raise PluginError("ues_provider() returned None.", next_step="Return the provider.")
    check_authority(made)
    checked_info(made)
    for method in PROVIDER_METHODS:
        if not inspect.iscoroutinefunction(getattr(made, method, None)):
            raise PluginError(
                f"The provider's {method} is not an async method.",
                code=Code.PLUGIN_DATA_INVALID,
                next_step="Make it one, or use ues_core.contract.sync_provider.",
            )
    provider: WebReasoningProvider = made
    return provider
