"""The hook specifications: what a plugin may implement, under pluggy's project name ``ues``.

Factories are implemented by the module (or object) that an entry point of ``ues.drivers``, ``ues.providers`` or
``ues.deciders`` names. Observers and contributors are implemented by entry points of ``ues.hooks``, which are loaded only
when the operator lists their distribution. An implementation takes the arguments that it names and no others::

    from ues_core.contract import hookimpl

    @hookimpl
    def ues_driver():
        return MyDriver()
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

from pydantic import JsonValue

from ues_core.contract import (
    AnyReceipt,
    ConsultReceipt,
    ContextQuery,
    ContextSection,
    Driver,
    ExtraDetector,
    GateReceipt,
    ObservationReceipt,
    RiskTerms,
    WebReasoningProvider,
    hookspec,
)

Options = Mapping[str, JsonValue]
"""A plugin's own table of the configuration (``[drivers.NAME]``, ``[providers.NAME]``), as plain data."""


class FactorySpecs:
    """Exactly one of these per entry point of a driver, provider or decider."""

    @hookspec(firstresult=True)
    def ues_driver(self, options: Options) -> Driver | None:
        """Make the driver. Must not touch a browser, the network or the disk: that is for ``open``."""

    @hookspec(firstresult=True)
    def ues_provider(self, options: Options) -> WebReasoningProvider | None:
        """Make the provider. Must not consult, probe or touch the network: that is for its five methods."""

    @hookspec(firstresult=True)
    def ues_decider(self, options: Options) -> object | None:
        """Make the decider of the decision loop."""


class ObserverSpecs:
    """Called after the fact, off the action path, with frozen and already redacted models. Results are ignored."""

    @hookspec
    def ues_receipt_written(self, receipt: AnyReceipt) -> None:
        """A receipt went to the ledger."""

    @hookspec
    def ues_gate_decided(self, receipt: GateReceipt) -> None:
        """A gate allowed or refused something."""

    @hookspec
    def ues_observation_made(self, receipt: ObservationReceipt) -> None:
        """A session made an observation: digests only."""

    @hookspec
    def ues_consultation_finished(self, receipt: ConsultReceipt) -> None:
        """An exchange with a consultant ended."""


class ContributorSpecs:
    """Called once at start. What they return is data and is validated; it can only add a detector or a refusal."""

    @hookspec
    def ues_extra_detectors(self) -> Iterable[ExtraDetector]:  # type: ignore[empty-body]
        """More patterns of secrets, in the linear-time subset."""

    @hookspec
    def ues_extra_risk_terms(self) -> Iterable[RiskTerms]:  # type: ignore[empty-body]
        """More words that make a target risky."""


class ContextSpecs:
    """Called while a packet is built. What they return is data: validated, redacted and bounded like everything in a packet. It
    can only add; one that raises or is late is recorded in the packet's ``context`` and not asked again by that host."""

    @hookspec
    def ues_collect_context(self, query: ContextQuery) -> Iterable[ContextSection]:  # type: ignore[empty-body]
        """Sections of the host's own about a task: what a language server, a test runner or another tool knows."""


OBSERVER_HOOKS: Final = (
    "ues_receipt_written",
    "ues_gate_decided",
    "ues_observation_made",
    "ues_consultation_finished",
)
CONTRIBUTOR_HOOKS: Final = ("ues_extra_detectors", "ues_extra_risk_terms")

CONTEXT_HOOKS: Final = ("ues_collect_context",)

__all__ = [
    "CONTEXT_HOOKS",
    "CONTRIBUTOR_HOOKS",
    "OBSERVER_HOOKS",
    "ContextSpecs",
    "ContributorSpecs",
    "FactorySpecs",
    "ObserverSpecs",
    "Options",
]
