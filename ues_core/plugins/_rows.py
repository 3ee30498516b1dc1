"""What is known about one entry point, as data."""

from __future__ import annotations

from typing import Final

from pydantic import Field, JsonValue

from ues_core.contract import Model, PluginKind, PluginState

GROUPS: Final[dict[PluginKind, str]] = {
    PluginKind.DRIVER: "ues.drivers",
    PluginKind.PROVIDER: "ues.providers",
    PluginKind.DECIDER: "ues.deciders",
}
"""The entry-point group of each kind of plugin that is chosen by name."""

HOOK_GROUP: Final = "ues.hooks"
"""The group of observers and contributors; loaded only for distributions that the operator lists."""

CAUSE_LIMIT: Final = 600
"""Characters of a cause."""


class PluginRow(Model):
    """One entry point. What only an import can tell (contract version, capabilities) is empty until it was loaded."""

    name: str
    kind: PluginKind
    distribution: str
    version: str
    contract_version: int | None = None
    capabilities: dict[str, JsonValue] = {}
    """As declared; empty until loaded."""
    state: PluginState
    cause: str = Field(default="", max_length=CAUSE_LIMIT)
    """Why the state is not ``ok``."""
    entry_point: str
    """``module`` or ``module:object``."""
    loaded: bool = False
    """Whether it was imported to find out."""
    description: str = ""

    def words(self) -> tuple[str, ...]:
        """The capabilities as words, for a table: ``navigation``, ``closed_roots=act``. Lists are left out, and what is absent."""
        out: list[str] = []
        for name, value in self.capabilities.items():
            if value is True:
                out.append(name)
            elif isinstance(value, str | int | float) and value not in ("", "none", False):
                out.append(f"{name}={value}")
        return tuple(out)


class HookRow(Model):
    """One entry point of a hook package. It is loaded at start when its distribution is listed, and never otherwise."""

    name: str
    distribution: str
    version: str
    entry_point: str
    listed: bool
