"""Importing one entry point and calling its factory, with everything that can go wrong there turned into one ``PluginError``.

What cannot be bounded in this process is said here once: an import or a factory that never returns hangs its caller. The
boundary against that, as against hostile code, is a process of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import metadata
from typing import Any

import pluggy
from pydantic import JsonValue

from ues_core.contract import PROJECT, Code, PluginError
from ues_core.hooks import FactorySpecs
from ues_core.plugins._found import Found
from ues_core.plugins._rows import CAUSE_LIMIT


def import_entry_point(found: Found) -> Any:
    """The object that the entry point names, imported by stevedore. Raises ``PluginError``, whatever the import raised."""
    from stevedore.extension import ExtensionManager

    class Chosen(ExtensionManager[Any]):
        """A manager that sees this one entry point and no other, so that no other is imported."""

        def list_entry_points(self) -> list[metadata.EntryPoint]:
            return [found.entry_point]

    def failed(_manager: object, _entry: object, error: BaseException) -> None:
        raise error

    return guarded(
        found, "import", lambda: Chosen(found.entry_point.group, on_load_failure_callback=failed).extensions[0].plugin
    )


def make(found: Found, plugin: Any, hook: str, options: Mapping[str, JsonValue]) -> Any:
    """What the plugin's factory hook returns. A class, or another callable without ``info``, is called once more."""
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(FactorySpecs)

    def call() -> Any:
        manager.register(plugin, name=found.name)
        manager.check_pending()
        caller = getattr(manager.hook, hook)
        if not caller.get_hookimpls():
            raise TypeError(f"{found.entry_point.value} has no hook implementation {hook}()")
        made = caller(options=_copy(options))
        if isinstance(made, type) or (callable(made) and not hasattr(made, "info")):
            made = made()
        if made is None:
            raise TypeError(f"{hook}() returned None")
        return made

    return guarded(found, hook, call)


def guarded(found: Found, doing: str, call: Callable[[], Any]) -> Any:
    """Run plugin code. ``SystemExit`` and ``KeyboardInterrupt`` that it raises are failures of the plugin like any other."""
    try:
        return call()
    except BaseException as error:  # a plugin that calls sys.exit() must not end the host
        raise PluginError(
            f"The plugin {found.name} of {found.owner} failed in {doing}: {describe(error)}",
            code=Code.PLUGIN_FAILED,
            next_step=f"Repair or uninstall {found.distribution}, or list it in disabled_plugins.",
            details={
                "plugin": found.name,
                "distribution": found.distribution,
                "version": found.version,
                "entry_point": found.entry_point.value,
                "cause": describe(error),
            },
        ) from error


def describe(error: BaseException) -> str:
    """An exception as one bounded line; also one whose own ``__str__`` raises."""
    try:
        text = " ".join(str(error).split())
    except Exception:  # noqa: BLE001 - the text is the plugin's; without it the type has to do
        text = ""
    kind = type(error).__name__
    return (f"{kind}: {text}" if text else kind)[: CAUSE_LIMIT // 2]


def _copy(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {k: _copy(v) for k, v in value.items()}
    return [_copy(v) for v in value] if isinstance(value, list) else value
