"""What a session stands on: handed in by the host, so that the session itself reaches for nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from ues_core.contract import (
    AnyReceipt,
    Code,
    DeadlineExceeded,
    DriverCapabilities,
    DriverError,
    DriverSession,
    ExtraDetector,
    Fault,
    Intent,
    Limits,
    OriginGate,
    PopupPolicy,
    RiskTerms,
    Timeouts,
    UesError,
)
from ues_core.policy.approvals import ApprovalBook
from ues_core.policy.budgets import SessionBudget
from ues_core.seal.refs import RefTable

T = TypeVar("T")

GRACE_SECONDS = 1.0
"""How much longer than its deadline a driver call may take before the core gives up on it."""


class Recorder(Protocol):
    """Where records go. The host's ledger stands behind it."""

    def receipt(self, receipt: AnyReceipt) -> None:
        """Keep a receipt; committed with others within 100 ms."""
        ...

    def check(self) -> None:
        """Raise ``LedgerError`` once a record could not be kept: what cannot be recorded is not done."""
        ...

    async def intent(self, intent: Intent) -> None:
        """Keep an intent; it is on disk when this returns."""
        ...


@dataclass(slots=True)
class SessionContext:
    """Everything one session needs."""

    owner: str
    session_id: str
    driver_name: str
    capabilities: DriverCapabilities
    driver: DriverSession
    refs: RefTable
    approvals: ApprovalBook
    recorder: Recorder
    now: Callable[[], float]
    """Seconds since the epoch."""
    entropy: Callable[[int], bytes]
    new_id: Callable[[str], str]
    """A fresh identifier with a prefix."""
    gate: OriginGate = field(default_factory=OriginGate)
    timeouts: Timeouts = field(default_factory=Timeouts)
    limits: Limits = field(default_factory=lambda: Limits(max_nodes=60, max_bytes=49_152))
    frame_origins: tuple[str, ...] = ()
    """Origins whose frames are entered wherever they are embedded."""
    observation_ttl: float = 30.0
    budget: SessionBudget = field(default_factory=SessionBudget)
    popups: PopupPolicy = PopupPolicy.STAY
    detectors: tuple[ExtraDetector, ...] = ()
    risk_terms: tuple[RiskTerms, ...] = ()
    side_effects: set[str] = field(default_factory=set)
    """Guard keys of external side effects that were dispatched; shared by the host's sessions, open intents included."""


async def bounded(call: Awaitable[T], deadline: float, what: str) -> T:
    """Await a driver call that must keep its own deadline, and stop waiting a little after it; map what is not ours.

    ``UesError`` passes. Anything else that a driver raises is its bug and becomes ``DriverError`` (``driver-failed``).
    """
    try:
        async with asyncio.timeout(deadline + GRACE_SECONDS):
            return await call
    except TimeoutError as error:
        raise DeadlineExceeded(
            f"The driver did not {what} within {deadline:g} s.",
            fault=Fault.PAGE,
            next_step="Observe again, or close the session if it stays so.",
        ) from error
    except UesError:
        raise
    except Exception as error:
        raise DriverError(
            f"The driver failed to {what}: {type(error).__name__}.",
            code=Code.DRIVER_FAILED,
            next_step="Observe again; if it stays so, close the session and open another.",
            details={"error": type(error).__name__},
        ) from error
