"""The plugin book: what is installed, what may be loaded, and the one that is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from ues_core.config import Settings
from ues_core.contract import (
    Code,
    Driver,
    DriverInfo,
    PluginError,
    PluginKind,
    PluginState,
    ProviderInfo,
    WebReasoningProvider,
)
from ues_core.plugins._checking import check_declared_version, check_driver, check_provider
from ues_core.plugins._found import Found, canonical, find
from ues_core.plugins._importing import import_entry_point, make
from ues_core.plugins._rows import CAUSE_LIMIT, GROUPS, HOOK_GROUP, HookRow, PluginRow
from ues_core.plugins._trial import tried
from ues_core.plugins._unknown import unknown_plugin

PREFERRED_DRIVER: Final = "playwright"
"""The driver when nobody chose one and it is installed."""

_BAD: Final = (PluginState.FAILED, PluginState.INCOMPATIBLE, PluginState.DUPLICATE)


class PluginBook:
    """The plugins as one host's settings see them. Metadata is read anew on every call; nothing is kept between books."""

    def __init__(self, settings: Settings, *, path: Sequence[str] | None = None) -> None:
        """``path``: where distributions are looked for; default ``sys.path``."""
        self._settings = settings
        self._path = path

    @property
    def settings(self) -> Settings:
        """The settings that decide what may be loaded."""
        return self._settings

    # -- listing -------------------------------------------------------------------------------------------------------

    def list(self, *, load: bool = False) -> tuple[PluginRow, ...]:
        """Every entry point of every kind. ``load=True`` imports each that may be loaded, to validate it, in another process.

        So a plugin whose import hangs or ends its process is listed with that, and the caller goes on.
        """
        rows = [self._row(kind, found, group) for kind in GROUPS for group in [self._find(kind)] for found in group]
        if load:
            usable = [at for at, row in enumerate(rows) if row.state is PluginState.OK]
            for at, row in zip(usable, tried(self._settings, self._path, [rows[at] for at in usable]), strict=True):
                rows[at] = row
        return tuple(rows)

    def loaded(self, row: PluginRow) -> PluginRow:
        """A usable row as an import in this process found it."""
        same = (
            f for f in self._find(row.kind) if (f.name, f.distribution, f.version) == (row.name, row.distribution, row.version)
        )
        found = next(same, None)
        if found is None:
            return row.model_copy(update={"state": PluginState.FAILED, "cause": "it is not there any more", "loaded": True})
        try:
            info = self._load(row.kind, found)
        except PluginError as error:
            incompatible = error.code is Code.PLUGIN_INCOMPATIBLE
            cause = f"{error.sentence} {error.next_step}" if incompatible else error.sentence
            return row.model_copy(
                update={
                    "state": PluginState.INCOMPATIBLE if incompatible else PluginState.FAILED,
                    "cause": cause[:CAUSE_LIMIT],
                    "contract_version": _number(error.details.get("contract_version")),
                    "loaded": True,
                }
            )
        if info is None:
            return row.model_copy(update={"loaded": True})
        return row.model_copy(
            update={
                "loaded": True,
                "contract_version": info.contract_version,
                "capabilities": info.capabilities.model_dump(mode="json"),
                "description": info.description,
            }
        )

    def hooks(self) -> tuple[HookRow, ...]:
        """Every entry point of a hook package, and whether the operator listed it. Imports nothing."""
        listed = {canonical(name) for name in self._settings.hooks}
        return tuple(
            HookRow(
                name=found.name,
                distribution=found.distribution,
                version=found.version,
                entry_point=found.entry_point.value,
                listed=canonical(found.distribution) in listed,
            )
            for found in find(HOOK_GROUP, self._path)
        )

    def check_strict(self) -> None:
        """With ``strict_plugins``: load everything and raise ``PluginError`` if any plugin is broken."""
        if not self._settings.strict_plugins:
            return
        bad = [row for row in self.list(load=True) if row.state in _BAD]
        if bad:
            names = "; ".join(f"{row.kind} {row.name} of {row.distribution}: {row.state} ({row.cause})" for row in bad)
            raise PluginError(
                f"Installed plugins are broken, and strict_plugins is set: {names}",
                code=Code.PLUGIN_FAILED,
                next_step="Repair, uninstall or disable them, or switch strict_plugins off.",
                details={row.name: str(row.state) for row in bad},
            )

    # -- choosing ------------------------------------------------------------------------------------------------------

    def driver_name(self, name: str | None = None) -> str:
        """The driver that is meant: ``name``, else the configured one, else the default. Raises ``PluginError``."""
        if name or self._settings.driver:
            return name or self._settings.driver
        found = self._find(PluginKind.DRIVER)
        usable = {f.name for f in found if not self._barred(f)}
        if PREFERRED_DRIVER in usable:
            return PREFERRED_DRIVER
        if len(usable) == 1:
            return usable.pop()
        if usable:
            installed = f"Several are installed: {', '.join(sorted(usable))}."
            next_step = "Choose one with an argument, UES_DRIVER or ues.toml."
        elif found:
            barred = self._barred(found[0])
            installed = f"None of those installed ({', '.join(sorted({f.name for f in found}))}) may be loaded"
            installed += f": {barred[1]}." if barred else "."
            next_step = "Change that setting, or give another one for this run."
        else:
            installed = "No driver is installed."
            next_step = "Install one, for instance: pip install ues-driver-playwright."
        raise PluginError(
            f"No driver was chosen, and there is no default here. {installed}",
            code=Code.PLUGIN_UNKNOWN,
            next_step=next_step,
            details={"installed": ", ".join(sorted(usable))},
        )

    def provider_name(self, name: str | None = None) -> str:
        """The provider that is meant; empty when nobody chose one. There is no default provider, and never will be."""
        wanted = self._settings.provider if name is None else name
        return "" if wanted == "none" else wanted

    def problem(self, kind: PluginKind) -> str | None:
        """Why the configured driver or provider cannot even be loaded (unknown, disabled, a duplicate); ``None`` when it can be,
        and when none is configured."""
        name = self._settings.driver if kind is PluginKind.DRIVER else self.provider_name()
        try:
            if name:
                self._chosen(kind, name)
        except PluginError as error:
            return f"{error.sentence} {error.next_step}".strip()
        return None

    def locate(self, kind: PluginKind, name: str) -> PluginRow:
        """The entry point that ``name`` means, without importing it: for whoever loads it elsewhere. Raises ``PluginError``."""
        found = self._chosen(kind, name)
        return self._row(kind, found, [found])

    def driver(self, name: str | None = None) -> Driver:
        """Load, check and make the chosen driver. Raises ``PluginError``."""
        found = self._chosen(PluginKind.DRIVER, self.driver_name(name))
        return self._load_driver(found)[0]

    def provider(self, name: str | None = None) -> WebReasoningProvider:
        """Load, check and make the chosen provider in this process. Raises ``PluginError``."""
        wanted = self.provider_name(name)
        if not wanted:
            raise PluginError(
                "No provider was chosen, so nobody can be consulted.",
                code=Code.NO_PROVIDER,
                next_step="Choose one with an argument, UES_WEB_REASONING_PROVIDER or ues.toml.",
                details={"installed": ", ".join(f.name for f in self._find(PluginKind.PROVIDER))},
            )
        return self._load_provider(self._chosen(PluginKind.PROVIDER, wanted))[0]

    def unloaded_provider(self, name: str) -> tuple[Found, dict[str, Any]]:
        """The provider's entry point and options, nothing imported: for whoever runs it in a process of its own."""
        found = self._chosen(PluginKind.PROVIDER, name)
        return found, dict(self._settings.providers.get(found.name, {}))

    # -- inside --------------------------------------------------------------------------------------------------------

    def _find(self, kind: PluginKind) -> tuple[Found, ...]:
        return find(GROUPS[kind], self._path)

    def _chosen(self, kind: PluginKind, name: str) -> Found:
        installed = self._find(kind)
        same = [f for f in installed if f.name == name]
        if not same:
            others = {str(k): tuple(f.name for f in self._find(k)) for k in GROUPS if k is not kind}
            raise unknown_plugin(kind, name, tuple(f.name for f in installed), others)
        usable = [f for f in same if not self._barred(f)]
        if not usable:
            code, why = self._barred(same[0]) or (Code.PLUGIN_DISABLED, "")
            raise PluginError(
                f"The {kind} {name} of {same[0].owner} may not be used: {why}.",
                code=code,
                next_step="Choose another one, or change the configuration.",
                details={"plugin": name, "distribution": same[0].distribution, "source": self._settings.source(str(kind))},
            )
        if len(usable) > 1:
            raise PluginError(
                f"The {kind} {name} is offered by more than one distribution: {_owners(usable)}.",
                code=Code.PLUGIN_DUPLICATE,
                next_step="Uninstall all but one of them, or list the others in disabled_plugins.",
                details={"plugin": name, "distributions": ", ".join(f.distribution for f in usable)},
            )
        return usable[0]

    def _barred(self, found: Found) -> tuple[Code, str] | None:
        """Why the settings keep a plugin from being loaded, or ``None``."""
        settings = self._settings
        if found.matches(settings.disabled_plugins):
            return Code.PLUGIN_DISABLED, "it is listed in disabled_plugins"
        if settings.load_plugins == "none":
            return Code.PLUGIN_DISABLED, f"no plugin is loaded ({settings.source('load_plugins')})"
        if settings.load_plugins != "all" and not found.matches(settings.load_plugins):
            return Code.PLUGIN_DISABLED, f"it is not among the plugins to load ({settings.source('load_plugins')})"
        if settings.allowed_plugins is not None and not found.matches(settings.allowed_plugins):
            return Code.PLUGIN_NOT_ALLOWED, "it is not listed in allowed_plugins"
        return None

    def _row(self, kind: PluginKind, found: Found, group: Sequence[Found]) -> PluginRow:
        facts: dict[str, Any] = {
            "name": found.name,
            "kind": kind,
            "distribution": found.distribution,
            "version": found.version,
            "entry_point": found.entry_point.value,
        }
        barred = self._barred(found)
        if barred:
            return PluginRow(**facts, state=PluginState.DISABLED, cause=barred[1][:CAUSE_LIMIT])
        same = [f for f in group if f.name == found.name and not self._barred(f)]
        if len(same) > 1:
            cause = f"offered by more than one distribution: {_owners(same)}"
            return PluginRow(**facts, state=PluginState.DUPLICATE, cause=cause[:CAUSE_LIMIT])
        return PluginRow(**facts, state=PluginState.OK)

    def _load(self, kind: PluginKind, found: Found) -> DriverInfo | ProviderInfo | None:
        if kind is PluginKind.DRIVER:
            return self._load_driver(found)[1]
        if kind is PluginKind.PROVIDER:
            return self._load_provider(found)[1]
        # a decider's own contract arrives with the loop; that it imports and can be made is what can be said of it now
        self._make(found, "ues_decider", {})
        return None

    def _load_driver(self, found: Found) -> tuple[Driver, DriverInfo]:
        return check_driver(found, self._make(found, "ues_driver", self._settings.drivers.get(found.name, {})))

    def _load_provider(self, found: Found) -> tuple[WebReasoningProvider, ProviderInfo]:
        return check_provider(found, self._make(found, "ues_provider", self._settings.providers.get(found.name, {})))

    def _make(self, found: Found, hook: str, options: dict[str, Any]) -> Any:
        plugin = import_entry_point(found)
        check_declared_version(found, plugin)
        return make(found, plugin, hook, options)


def _owners(found: Sequence[Found]) -> str:
    return " and ".join(f.owner for f in found)


def _number(text: str | None) -> int | None:
    try:
        return int(text) if text else None
    except ValueError:
        return None
