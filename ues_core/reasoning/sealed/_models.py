"""What a seal is asked for and what it was found to hold."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib.metadata import EntryPoint
from typing import Any, Final, Protocol

from pydantic import Field

from ues_core.contract import Model, UsageError
from ues_core.contract.words import SealState

AREAS: Final = ("filesystem", "network", "exec", "environment", "memory", "processes", "signals")
_MIB: Final = 1024 * 1024


class EntryPointFacts(Protocol):
    """What the host knows of a provider without importing it; a row of the plugin book has it."""

    @property
    def entry_point(self) -> EntryPoint:
        """Group, name and value."""
        ...

    @property
    def distribution(self) -> str:
        """The distribution that brings it."""
        ...

    @property
    def version(self) -> str:
        """The distribution's version."""
        ...


@dataclass(frozen=True, slots=True)
class ProviderFacts:
    """``EntryPointFacts`` of an entry point that ``importlib.metadata`` found."""

    entry_point: EntryPoint
    distribution: str
    version: str

    @classmethod
    def of(cls, entry_point: EntryPoint) -> ProviderFacts:
        """The facts of an entry point that belongs to a distribution. Raises ``UsageError`` when it belongs to none."""
        if entry_point.dist is None:
            raise UsageError(
                f"The entry point {entry_point.name} belongs to no distribution, so nobody knows what it may read."
            )
        return cls(entry_point, entry_point.dist.name, entry_point.dist.version)


class SealLimits(Model):
    """What a sealed provider may use. Bytes, seconds, counts."""

    memory_bytes: int = Field(default=1024 * _MIB, ge=256 * _MIB, le=16 * 1024 * _MIB)
    """Address space, measured at start."""
    cpu_seconds: int = Field(default=600, ge=5, le=86_400)
    """Processor time of the whole life of the process."""
    open_files: int = Field(default=64, ge=24, le=1024)
    threads: int = Field(default=64, ge=4, le=1024)
    """More than this ends it."""
    answer_bytes: int = Field(default=20_000_000, ge=10_000, le=20_000_000)
    """The answer of one exchange, as JSON on the pipe."""
    message_bytes: int = Field(default=1_000_000, ge=10_000, le=4_000_000)
    """Every other answer."""
    call_bytes: int = Field(default=64_000, ge=4_000, le=1_000_000)
    """What it says unasked: progress, and calls of its channel."""
    calls_per_second: int = Field(default=50, ge=1, le=1_000)
    """What it may say unasked on the average; four seconds' worth at once. More is a flood and ends it."""
    errors_bytes: int = Field(default=64_000, ge=0, le=1_000_000)
    """How much of its error output is kept, redacted, for the person who has to repair it."""
    start_seconds: float = Field(default=30.0, gt=0, le=300)
    """From nothing to the report of the seal, and again from there to the provider's info."""
    call_seconds: float = Field(default=30.0, gt=0, le=300)
    """``capability``, ``start_session`` and ``close_session``."""
    grace_seconds: float = Field(default=2.0, gt=0, le=30)
    """What an exchange gets beyond its deadline before it is cancelled, and again before its process is ended."""


class SealReport(Model):
    """What was found to hold when the process started, before any code of the provider ran in it."""

    filesystem: SealState
    """Only the interpreter and the provider's packages are readable, nothing is writable."""
    network: SealState
    exec: SealState
    environment: SealState
    memory: SealState
    processes: SealState
    signals: SealState
    abi: int = 0
    """Version of the kernel's Landlock; 0 for none."""
    layers: tuple[str, ...] = ()
    """What was put in place."""
    missing: tuple[str, ...] = ()
    """What could not be put in place, and why."""
    probes: dict[str, str] = Field(default_factory=dict)
    """``area/probe``: ``refused`` or ``allowed``."""

    @property
    def complete(self) -> bool:
        """Whether everything is enforced."""
        return not self.weak

    @property
    def weak(self) -> tuple[str, ...]:
        """The areas that are not enforced."""
        return tuple(area for area in AREAS if getattr(self, area) is not SealState.ENFORCED)

    @property
    def details(self) -> tuple[str, ...]:
        """Every probe that got through, and every layer that is missing."""
        return (*(name for name, found in self.probes.items() if found != "refused"), *self.missing)


def report_of(said: Mapping[str, Any], seen: Mapping[str, str]) -> SealReport:
    """The report, out of what the child measured and what the host saw at the targets. What was seen counts."""
    probes = {f"{area}/{name}": str(found) for area, rows in said["probes"].items() for name, found in rows.items()}
    probes |= seen
    return SealReport(
        **{area: _state([found for name, found in probes.items() if name.startswith(f"{area}/")]) for area in AREAS},
        abi=int(said["abi"]),
        layers=tuple(map(str, said["layers"])),
        missing=tuple(map(str, said["missing"])),
        probes=probes,
    )


def _state(found: list[str]) -> SealState:
    refused = [result == "refused" for result in found]
    if refused and all(refused):
        return SealState.ENFORCED
    return SealState.PARTIAL if any(refused) else SealState.NONE
