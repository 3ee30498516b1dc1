"""Receipts and intents: what the ledger keeps about every action, gate decision and consultation."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from ues_core.contract._base import Model
from ues_core.contract.codes import Code, Fault
from ues_core.contract.consulting_words import ConsultOutcome
from ues_core.contract.surface import Surface
from ues_core.contract.words import (
    ActionClass,
    DispatchStatus,
    ExpectKind,
    GuardState,
    Landed,
    NavigationKind,
    ReceiptKind,
    RiskLevel,
    TerminalState,
    VerificationStatus,
)


class Check(Model):
    """One expected state and whether it was seen."""

    kind: ExpectKind
    required: bool = True
    observed: bool | None = None
    """``None`` when it could not be looked at."""
    detail: str = Field(default="", max_length=400)


class Verification(Model):
    """Whether what was expected was seen. Separate from dispatch: tool success is not proof."""

    status: VerificationStatus = VerificationStatus.NOT_REQUIRED
    checks: tuple[Check, ...] = Field(default=(), max_length=8)


class TargetNote(Model):
    """The node an action was aimed at: safe facts only, never a value."""

    ref: str = Field(max_length=128)
    role: str = ""
    name: str = ""
    identity: str = ""
    """Identity digest of the live node that was judged."""
    drifted: tuple[str, ...] = ()
    """Identity fields that differ from the observation."""


class Intent(Model):
    """Written and flushed to disk before an external side effect may happen."""

    intent_id: str
    owner: str
    session: str
    verb: str
    action_class: ActionClass
    page: str = ""
    document: str = ""
    target: TargetNote | None = None
    arguments_digest: str = ""
    approval: str | None = None
    idempotency_key: str | None = None
    guard_key: str = ""
    """What makes a duplicate a duplicate."""
    at: str = ""


class Receipt(Model):
    """What became of one action. Every exit of ``Session.act`` is one."""

    kind: Literal[ReceiptKind.ACTION] = ReceiptKind.ACTION
    receipt_id: str
    intent_id: str | None = None
    owner: str
    session: str
    driver: str = ""
    verb: str = Field(max_length=80)
    action_class: ActionClass = ActionClass.EXTERNAL_SIDE_EFFECT
    risk: RiskLevel = RiskLevel.UNKNOWN
    status: DispatchStatus
    code: Code = Code.OK
    reason: str = Field(default="", max_length=500)
    fault: Fault | None = None
    next_step: str = Field(default="", max_length=400)
    dispatched: bool = False
    landed: Landed = Landed.NOWHERE
    guard: GuardState = GuardState.NOT_APPLICABLE
    target: TargetNote | None = None
    changed: tuple[str, ...] = ()
    """For ``target-changed``: which identity fields differ."""
    before: dict[str, str] = {}
    after: dict[str, str] = {}
    """For ``target-changed``: role, name, tag, disabled, visible; never a value."""
    page_before: Surface | None = None
    page_after: Surface | None = None
    navigation: NavigationKind = NavigationKind.NONE
    observation_epoch: int | None = None
    observation_fingerprint: str = ""
    verification: Verification = Verification()
    approval: str | None = None
    retries: int = Field(default=0, ge=0, le=16)
    stale_recovered: bool = False
    warnings: tuple[str, ...] = ()
    console_errors: int = 0
    network_failures: int = 0
    started_at: str = ""
    duration_ms: float = Field(default=0.0, ge=0, le=600_000)

    @property
    def ok(self) -> bool:
        """Dispatched and confirmed. Says nothing about the application's own outcome."""
        return self.status is DispatchStatus.CONFIRMED


class GateReceipt(Model):
    """What a gate said: a navigation gate, a lane's tool call."""

    kind: Literal[ReceiptKind.GATE] = ReceiptKind.GATE
    receipt_id: str
    owner: str
    session: str = ""
    subject: str = Field(default="", max_length=400)
    allowed: bool
    code: Code
    reason: str = Field(default="", max_length=500)
    at: str = ""


class ObservationReceipt(Model):
    """That an observation was made: digests only."""

    kind: Literal[ReceiptKind.OBSERVATION] = ReceiptKind.OBSERVATION
    receipt_id: str
    owner: str
    session: str
    page: str
    document: str
    epoch: int
    fingerprint: str
    digest: str
    nodes: int
    truncated: bool
    at: str = ""


class ConsultReceipt(Model):
    """What was sent to a consultant and what came of it: sizes and digests, never the text."""

    kind: Literal[ReceiptKind.CONSULTATION] = ReceiptKind.CONSULTATION
    receipt_id: str
    owner: str = ""
    consultation: str
    exchange: int = 1
    provider: str
    outcome: ConsultOutcome
    code: Code = Code.OK
    reason: str = Field(default="", max_length=500)
    request_id: str = ""
    packet_fingerprint: str = ""
    prompt_digest: str = ""
    prompt_chars: int = 0
    sections: tuple[str, ...] = ()
    answer_digest: str = ""
    answer_chars: int = 0
    model_requested: str = ""
    model_observed: str = ""
    claims: int = 0
    present: int = 0
    absent: int = 0
    rejected: int = 0
    authority_claims: tuple[str, ...] = ()
    evidence_asked: int = 0
    evidence_granted: int = 0
    evidence_denied: tuple[str, ...] = ()
    """The reason of each denial, in the order of the requests."""
    reused: str = ""
    """The consultation whose advice was given again because nothing had changed; nothing was sent."""
    approval: str = ""
    """The one approval that was minted for the one submit of this exchange."""
    approval_used: bool = False
    """Whether the channel used it up: the prompt left through it. A provider without a way out never does."""
    repository: str = ""
    """Digest of where the repository lies, 32 hex; empty without one."""
    started_at: str = ""
    duration_ms: float = 0.0


class SessionReceipt(Model):
    """That a session opened or closed."""

    kind: Literal[ReceiptKind.SESSION] = ReceiptKind.SESSION
    receipt_id: str
    owner: str
    session: str
    driver: str
    event: Literal["opened", "closed", "failed"]
    code: Code = Code.OK
    reason: str = Field(default="", max_length=500)
    at: str = ""


AnyReceipt = Annotated[
    Receipt | GateReceipt | ObservationReceipt | ConsultReceipt | SessionReceipt, Field(discriminator="kind")
]
"""One receipt of any kind."""


class Terminal(Model):
    """The last record of a chain."""

    state: TerminalState
    records: int
    open_intents: tuple[str, ...] = ()
    at: str = ""


class Approval(Model):
    """A host's one-shot permission for exactly one external side effect. Only the core mints it, only the host can ask."""

    approval_id: str
    owner: str
    session: str
    page: str
    document: str
    ref: str
    identity: str
    verb: str
    arguments_digest: str
    form_digest: str = ""
    expires_at: str
