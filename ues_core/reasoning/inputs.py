"""What a consultation is given: what to build its packet from, its bounds, and what the outside world lends it."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from ues_core.contract import REQUESTABLE, ConsultReceipt, EvidenceKind, EvidenceRow, PacketBudget, PacketTier
from ues_core.policy.approvals import ApprovalBook
from ues_core.reasoning.packet import BUILD_SECONDS, Collect, PacketCache
from ues_core.reasoning.reuse import AnswerShelf
from ues_core.reasoning.wrap import CLOSE_SECONDS, PROBE_SECONDS, START_SECONDS

EVIDENCE_ROUNDS: Final = 1
"""Follow-ups that a consultation sends by itself because its consultant asked for evidence and some was granted."""


@dataclass(frozen=True, slots=True)
class PacketInputs:
    """What a packet is built from; see ``build_packet``."""

    task: str
    repo: Path | None = None
    constraints: tuple[str, ...] = ()
    requirements: tuple[str, ...] = ()
    verification: tuple[str, ...] = ()
    evidence: tuple[EvidenceRow, ...] = ()
    granted: tuple[EvidenceRow, ...] = ()
    """Evidence that the consultant asked for and got; bounded already."""
    questions: tuple[str, ...] = ()
    attempts: tuple[str, ...] = ()
    history: tuple[str, ...] = ()
    """Earlier consultations about this repository, out of the ledger."""
    failing_log: str | None = None
    files: tuple[str, ...] = ()
    budget: PacketBudget | None = None
    tier: PacketTier | None = None


@dataclass(frozen=True, slots=True)
class ConsultLimits:
    """Bounds of a consultation; seconds and counts."""

    exchange: float = 180.0
    """One exchange with the provider."""
    probe: float = PROBE_SECONDS
    start: float = START_SECONDS
    close: float = CLOSE_SECONDS
    build: float = BUILD_SECONDS
    follow_ups: int = 2
    evidence_rounds: int = EVIDENCE_ROUNDS
    evidence_kinds: frozenset[EvidenceKind] = frozenset(REQUESTABLE)
    """The allow-list."""


@dataclass(frozen=True, slots=True)
class Tools:
    """What the outside world lends to a consultation."""

    record: Callable[[ConsultReceipt], None]
    clock: Callable[[], float]
    """Seconds, monotonic."""
    now: Callable[[], str]
    """The time of day, ISO 8601."""
    new_id: Callable[[str], str]
    """A fresh id with a prefix."""
    nonce: Callable[[], str]
    """A fresh unguessable word of ``NONCE_CHARS`` characters."""
    repository: str = ""
    """Digest of where the repository lies; for receipts."""
    provider: str = ""
    """Which installed provider it is: distribution, version and entry point. Part of what makes two questions the same."""
    answers: AnswerShelf | None = None
    """Accepted answers of this host; ``None`` keeps and reuses none."""
    packets: PacketCache | None = None
    """What this host remembers of repositories."""
    collect: Collect | None = None
    """Asks the host's hook packages for sections of their own."""
    approvals: ApprovalBook = field(default_factory=ApprovalBook)
    """Where the one approval of each exchange is minted and used up."""
    epoch: Callable[[], float] = time.time
    """Seconds since the epoch, for the life of approvals."""
