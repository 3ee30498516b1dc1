"""The settings themselves: one frozen model, one table per nested model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Literal

import platformdirs
from pydantic import AfterValidator, Field, JsonValue

from ues_core.contract import (
    DialogPolicy,
    Model,
    PacketBudget,
    PopupPolicy,
    ReasoningMode,
    Timeouts,
    normalise_origin,
)

APP = "ues"
"""The name under which the platform keeps our configuration, state and cache."""

_NAME = r"^[a-z0-9][a-z0-9-]{0,40}$"


def _exact_origin(entry: str) -> str:
    origin = normalise_origin(entry)
    if origin is None:
        raise ValueError("an exact origin such as https://example.org (scheme, host and port; no path)")
    return origin


def _none_is_empty(name: str) -> str:
    return "" if name == "none" else name


Origin = Annotated[str, AfterValidator(_exact_origin)]
"""Scheme, host and port, normalised."""

PluginName = Annotated[str, Field(pattern=_NAME)]
"""The name of an entry point."""

Distribution = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?$")]
"""The name of an installed distribution (package)."""


class Isolation(StrEnum):
    """Where a provider's code runs."""

    AUTO = "auto"
    PROCESS = "process"
    IN_PROCESS = "in-process"


class BrowserSettings(Model):
    """``[browser]``: what is started, and how."""

    executable: str | None = Field(default=None, min_length=1, max_length=4_096)
    """The browser to start; without one the installed browsers are searched. A path that does not work is an error."""
    no_sandbox: bool | None = None
    """Start the browser without its sandbox. Unset: only when running as root, where it cannot start otherwise."""
    headless: bool = True
    """Start the browser without a window."""
    args: tuple[str, ...] = Field(default=(), max_length=64)
    """Extra switches for the browser."""

    def sandbox_is_off(self, *, is_root: bool) -> bool:
        """Whether the browser is started without its sandbox, for a user who is (or is not) root."""
        return is_root if self.no_sandbox is None else self.no_sandbox


class TimeoutSettings(Timeouts):
    """``[timeouts]``: bounds in seconds."""

    session: float = Field(default=7_200.0, ge=5, le=86_400)
    """A session's whole life; activity does not extend it."""
    idle: float = Field(default=900.0, ge=5, le=86_400)
    """How long a session may go unused before it is closed (reference: contract v9 of the browser seed, 15 minutes)."""

    def for_driver(self) -> Timeouts:
        """The five bounds that a driver is given."""
        return Timeouts.model_validate(self.model_dump(exclude={"session", "idle"}))


class BudgetSettings(Model):
    """``[budgets]``: how much one session or host may use."""

    actions: int = Field(default=200, ge=1, le=2_000)
    """Actions of one session (reference: lifecycle table of the reasoning seed)."""
    consultations: int = Field(default=24, ge=0, le=1_000)
    """Consultations that one host starts."""
    follow_ups: int = Field(default=2, ge=0, le=16)
    """Follow-ups of one consultation (reference: lane budgets of the reasoning seed)."""
    evidence_rounds: int = Field(default=1, ge=0, le=4)
    """Follow-ups of one consultation that are sent by themselves because the consultant asked for evidence; each is a follow-up."""
    max_nodes: int = Field(default=60, ge=1, le=2_000)
    """Nodes of one observation."""
    max_bytes: int = Field(default=49_152, ge=256, le=1_048_576)
    """UTF-8 bytes of one observation (reference: 48 KiB)."""
    observation_ttl: float = Field(default=30.0, ge=1, le=300)
    """Seconds after which an observation's refs are too old to act on (reference: 30 s, 1 to 300 s)."""


class ProfileSettings(Model):
    """``[profiles]``: persistent browser profiles."""

    dir: Path | None = None
    """Where profiles live; without one, the folder ``profiles`` of the state directory."""


class Ignored(Model):
    """A setting that was read and deliberately not applied."""

    key: str
    where: str
    """File and line, or the environment variable."""
    why: str


def _default_state() -> Path:
    return platformdirs.user_state_path(APP, appauthor=False)


def _default_cache() -> Path:
    return platformdirs.user_cache_path(APP, appauthor=False)


class Settings(Model):
    """Everything that can be configured. Frozen; two hosts of one process may hold different ones."""

    driver: Annotated[PluginName | Literal[""], Field(union_mode="left_to_right")] = ""
    """The driver. Empty: ``playwright`` when installed, else the only installed one."""
    provider: Annotated[PluginName | Literal[""], AfterValidator(_none_is_empty)] = ""
    """The provider of second opinions. Empty or ``none``: no one is consulted."""
    mode: ReasoningMode = ReasoningMode.AUTO
    """When to ask for a second opinion: ``off``, ``auto`` (when signals say so) or ``force``."""
    state_dir: Path = Field(default_factory=_default_state)
    """Keys, ledgers, profiles and locks. A relative path is relative to the file that says it."""
    cache: Path = Field(default_factory=_default_cache)
    """What can be rebuilt at any time."""
    allowed_origins: tuple[Origin, ...] | None = Field(default=None, max_length=1_000)
    """The origins whose documents may be requested. Unset: every http(s) origin; empty: none."""
    denied_origins: tuple[Origin, ...] = Field(default=(), max_length=1_000)
    """Origins that are never requested, whatever is allowed."""
    frame_origins: tuple[Origin, ...] = Field(default=(), max_length=1_000)
    """Origins whose embedded frames are observed although the page around them is of another origin. None by default."""
    allowed_plugins: tuple[Distribution, ...] | None = Field(default=None, max_length=200)
    """Names of plugins, or of distributions, that may be chosen. Unset: any installed one, but none by a repository."""
    disabled_plugins: tuple[Distribution, ...] = Field(default=(), max_length=200)
    """Names of plugins, or of distributions, that are never loaded."""
    load_plugins: Literal["all", "none"] | tuple[Distribution, ...] = "all"
    """Which plugins may be loaded at all: ``"all"``, ``"none"`` or a list of names of plugins or distributions."""
    strict_plugins: bool = False
    """Fail when any installed plugin is broken, incompatible or duplicate."""
    hooks: tuple[Distribution, ...] = Field(default=(), max_length=50)
    """Distributions whose ``ues.hooks`` entry points are loaded. No other package's hooks ever are."""
    isolation: Isolation = Isolation.AUTO
    """Where providers run. ``auto``: a sealed process of their own where that can be enforced (Linux), else in this one."""
    isolation_strict: bool = False
    """Refuse a provider whose sealed process could not be sealed completely."""
    popups: PopupPolicy = PopupPolicy.STAY
    """What a session does with a page that a page opened."""
    dialogs: DialogPolicy = DialogPolicy.DISMISS
    """What is done with a JavaScript dialog."""
    browser: BrowserSettings = BrowserSettings()
    timeouts: TimeoutSettings = TimeoutSettings()
    budgets: BudgetSettings = BudgetSettings()
    packet: PacketBudget = PacketBudget()
    profiles: ProfileSettings = ProfileSettings()
    drivers: dict[str, dict[str, JsonValue]] = {}
    """``[drivers.NAME]``: options handed to that driver as plain data."""
    providers: dict[str, dict[str, JsonValue]] = {}
    """``[providers.NAME]``: options handed to that provider as plain data."""

    sources: dict[str, str] = {}
    """Which key came from where, for every key that is not a default. Not a setting itself."""
    ignored: tuple[Ignored, ...] = ()
    """What was read and not applied, and why. Not a setting itself."""

    @property
    def profiles_dir(self) -> Path:
        """Where profiles live."""
        return self.profiles.dir or self.state_dir / "profiles"

    def source(self, key: str) -> str:
        """Where a key's value came from, in words; ``"default"`` when nobody set it."""
        return self.sources.get(key, "default")


BOOKKEEPING = frozenset({"sources", "ignored"})
"""Fields of ``Settings`` that no file, variable or argument may set."""
OPTION_TABLES = frozenset({"drivers", "providers"})
"""Tables of tables with free keys."""
