"""Whether a target that went stale may be sought again: only if what is found is the same thing beyond doubt.

The weights, the veto and the order of the decision are those of the reasoning seed's stale recovery, with one thing stricter: a
signal that the target had and has lost lowers the confidence instead of being left out. A changed role, name or test id is a
veto, whatever the rest adds up to.
"""

from __future__ import annotations

from enum import StrEnum
from typing import Final

from ues_core.contract import Model, NodeFacts
from ues_core.contract.words import ActionClass
from ues_core.policy.retry import FailureClass
from ues_core.policy.taxonomy import Traits

WEIGHTS: Final = {"role": 0.30, "name": 0.40, "test_id": 0.20, "dom_id": 0.10}
"""How much a signal says about being the same target."""
VETOES: Final = frozenset({"role", "name", "test_id"})
"""Signals whose change makes it another target."""
THRESHOLD: Final = 0.75
"""Confidence from which two nodes are the same target."""
STEPS: Final = ("observe", "re-identify", "judge-again", "dispatch-once")
"""What a recovery consists of; one attempt."""


class Signals(Model):
    """What a target is recognised by. An empty text means that the signal is absent."""

    role: str = ""
    name: str = ""
    test_id: str = ""
    dom_id: str = ""

    @classmethod
    def of(cls, facts: NodeFacts) -> Signals:
        """The signals among a node's facts."""
        return cls(role=facts.role, name=facts.name, test_id=facts.test_id, dom_id=facts.dom_id)


class IdentityMatch(Model):
    """How far two sets of signals name the same target."""

    confidence: float
    """Matched weight over the weight of what the target had, three decimals; 0 when it had nothing."""
    same: bool
    contradicted: tuple[str, ...] = ()
    """Signals that veto the match."""
    compared: tuple[str, ...] = ()


class RecoveryReason(StrEnum):
    """Why a recovery is allowed or not."""

    ALLOWED = "recovery-allowed"
    NOT_STALE = "not-a-stale-failure"
    SIDE_EFFECT = "external-side-effect-never-recovered"
    ALREADY_RECOVERED = "already-recovered-once"
    MAY_HAVE_APPLIED = "state-may-have-already-been-applied"
    OBSERVATION_REQUIRED = "fresh-observation-required"
    SEMANTICS_CHANGED = "target-semantics-changed"
    CONTRADICTED = "target-identity-contradicted"
    BELOW_THRESHOLD = "target-identity-below-confidence-threshold"


class RecoveryDecision(Model):
    """Whether a stale target may be sought again."""

    allowed: bool
    reason: RecoveryReason
    match: IdentityMatch | None = None
    steps: tuple[str, ...] = ()


def compare_signals(before: Signals, after: Signals) -> IdentityMatch:
    """How far ``after`` is the target that ``before`` was. Role and name are compared without case and spacing."""
    compared: list[str] = []
    contradicted: list[str] = []
    matched = total = 0.0
    for name, weight in WEIGHTS.items():
        one, two = getattr(before, name), getattr(after, name)
        if name in ("role", "name"):
            one, two = _loose(one), _loose(two)
        if not one:
            continue
        compared.append(name)
        total += weight
        if one == two:
            matched += weight
        elif two and name in VETOES:
            contradicted.append(name)
    confidence = round(matched / total, 3) if total else 0.0
    return IdentityMatch(
        confidence=confidence,
        same=not contradicted and confidence >= THRESHOLD,
        contradicted=tuple(contradicted),
        compared=tuple(compared),
    )


def decide_recovery(
    row: Traits, failure: FailureClass, before: Signals, after: Signals | None, *, recoveries: int, may_have_applied: bool
) -> RecoveryDecision:
    """Whether the action may be aimed at ``after``, a node of a fresh observation, instead of the stale ``before``.

    ``recoveries``         recoveries of this action before this one.
    ``may_have_applied``   input may have reached the page already.
    ``after``              ``None`` when nothing was observed since the failure.
    """
    if failure is not FailureClass.STALE:
        return RecoveryDecision(allowed=False, reason=RecoveryReason.NOT_STALE)
    if row.action_class is ActionClass.EXTERNAL_SIDE_EFFECT:
        return RecoveryDecision(allowed=False, reason=RecoveryReason.SIDE_EFFECT)
    if recoveries > 0:
        return RecoveryDecision(allowed=False, reason=RecoveryReason.ALREADY_RECOVERED)
    if may_have_applied:
        return RecoveryDecision(allowed=False, reason=RecoveryReason.MAY_HAVE_APPLIED)
    if after is None:
        return RecoveryDecision(allowed=False, reason=RecoveryReason.OBSERVATION_REQUIRED)
    match = compare_signals(before, after)
    if {"role", "name"}.intersection(match.contradicted):
        return RecoveryDecision(allowed=False, reason=RecoveryReason.SEMANTICS_CHANGED, match=match)
    if match.contradicted:
        return RecoveryDecision(allowed=False, reason=RecoveryReason.CONTRADICTED, match=match)
    if not match.same:
        return RecoveryDecision(allowed=False, reason=RecoveryReason.BELOW_THRESHOLD, match=match)
    return RecoveryDecision(allowed=True, reason=RecoveryReason.ALLOWED, match=match, steps=STEPS)


def _loose(text: str) -> str:
    return " ".join(text.lower().split())
