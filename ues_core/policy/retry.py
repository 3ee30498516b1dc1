"""Whether a failed action may be tried again. An external side effect and an unknown verb never are.

The order of the decision and its figures are those of the reasoning seed's retry policy.
"""

from __future__ import annotations

import re
from enum import StrEnum
from typing import Final

from ues_core.contract import Model
from ues_core.contract.codes import Code
from ues_core.contract.words import ActionClass, RetryKind, RiskLevel
from ues_core.policy.taxonomy import Traits

BASE_DELAY_SECONDS: Final = 0.15
"""Delay before the first new attempt; doubled with every further one (150 ms)."""
MOST_DELAY_SECONDS: Final = 2.0
"""The delay grows no longer than this (2,000 ms)."""
LIMITS: Final = {RetryKind.STALE: 1, RetryKind.TRANSIENT: 2}
"""New attempts per kind of failure, whatever the verb allows."""


class FailureClass(StrEnum):
    """Why an action failed, as far as retrying is concerned; in order of precedence."""

    STALE = "stale-locator"
    AUTH_REQUIRED = "auth-required"
    TRANSIENT = "transient"
    DETERMINISTIC = "deterministic"


class RetryReason(StrEnum):
    """Why a new attempt is allowed or not."""

    ALLOWED = "bounded-retry-allowed"
    UNKNOWN_VERB = "unknown-action-never-replayed"
    SIDE_EFFECT = "external-side-effect-never-replayed"
    ABORTED = "aborted"
    NOT_RETRYABLE = "non-retryable-failure"
    KIND_NOT_ALLOWED = "retry-kind-not-allowed-for-action"
    NO_PROOF = "interactive-action-without-idempotency-proof"
    BUDGET_USED = "retry-budget-exhausted"


class RetryDecision(Model):
    """Whether, when and how to try again."""

    allowed: bool
    reason: RetryReason
    next_attempt: int
    """Number of the attempt that would come next; the first attempt is 1."""
    max_attempts: int
    delay_seconds: float = 0.0
    replay: bool = False
    """The same input may be sent as it is; otherwise the target must be observed and judged anew."""


_STALE_CODES: Final = frozenset(
    {
        Code.TARGET_GONE,
        Code.TARGET_CHANGED,
        Code.TARGET_OCCLUDED,
        Code.TARGET_NOT_VISIBLE,
        Code.DOCUMENT_GONE,
        Code.PAGE_CHANGED,
    }
)
_TRANSIENT_CODES: Final = frozenset({Code.DEADLINE_EXCEEDED, Code.DOCUMENT_NOT_READY})
_STALE_TEXT = re.compile(
    r"stale element|no longer attached|not attached|element (?:is )?not (?:visible|enabled|attached)"
    r"|waiting for (?:locator|selector)|resolved to \d+ elements|target (?:closed|detached)|element (?:is |was )?detached"
    r"|resolved to nothing|intercepts pointer events"
)
_AUTH_TEXT = re.compile(r"\blog ?in\b|\bsign ?in\b|\bunauthorized\b|\b401\b|authentication required")
_TRANSIENT_TEXT = re.compile(
    r"time(?:d )?out|connection (?:reset|refused|closed|lost)|\bsocket\b|\btransport\b|\bnetwork\b|temporar|service unavailable"
    r"|bad gateway|gateway timeout|\b50[234]\b|rate limit|\b429\b"
)


def classify_failure(code: Code = Code.OK, text: str = "") -> FailureClass:
    """The class of a failure: by its code when that decides it, else by the words of its text (the first 4,000 characters)."""
    if code in _STALE_CODES:
        return FailureClass.STALE
    folded = text[:4_000].lower()
    if _STALE_TEXT.search(folded):
        return FailureClass.STALE
    if _AUTH_TEXT.search(folded):
        return FailureClass.AUTH_REQUIRED
    if code in _TRANSIENT_CODES or _TRANSIENT_TEXT.search(folded):
        return FailureClass.TRANSIENT
    return FailureClass.DETERMINISTIC


def decide_retry(
    row: Traits,
    failure: FailureClass,
    *,
    attempts: int,
    stale_retries: int = 0,
    transient_retries: int = 0,
    aborted: bool = False,
) -> RetryDecision:
    """Whether an action may be tried once more.

    ``row``                what the taxonomy says of the verb, with its proofs.
    ``attempts``           attempts made so far, the first included.
    ``stale_retries``, ``transient_retries``   how many of them were retries of that kind.
    """
    most = 1 + row.max_retries

    def refuse(reason: RetryReason) -> RetryDecision:
        return RetryDecision(allowed=False, reason=reason, next_attempt=attempts + 1, max_attempts=most)

    if row.unknown:
        return refuse(RetryReason.UNKNOWN_VERB)
    if row.action_class is ActionClass.EXTERNAL_SIDE_EFFECT or row.risk is RiskLevel.UNKNOWN:
        return refuse(RetryReason.SIDE_EFFECT)
    if aborted:
        return refuse(RetryReason.ABORTED)
    kind = {FailureClass.STALE: RetryKind.STALE, FailureClass.TRANSIENT: RetryKind.TRANSIENT}.get(failure)
    if kind is None:
        return refuse(RetryReason.NOT_RETRYABLE)
    if kind not in row.retry_kinds:
        return refuse(RetryReason.KIND_NOT_ALLOWED)
    if kind is RetryKind.TRANSIENT and row.idempotency_proof_needed and not row.idempotency_proven:
        return refuse(RetryReason.NO_PROOF)
    used = stale_retries if kind is RetryKind.STALE else transient_retries
    if attempts >= most or used >= LIMITS[kind]:
        return refuse(RetryReason.BUDGET_USED)
    return RetryDecision(
        allowed=True,
        reason=RetryReason.ALLOWED,
        next_attempt=attempts + 1,
        max_attempts=most,
        delay_seconds=min(BASE_DELAY_SECONDS * 2 ** (attempts - 1), MOST_DELAY_SECONDS),
        replay=kind is not RetryKind.STALE and row.replay_safe,
    )
