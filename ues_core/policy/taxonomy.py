"""The taxonomy: one table that says of every verb how risky it is, whether it may be retried, what must be checked after.

The figures are those of the reasoning seed's action taxonomy; verbs that this kit adds stand beside their nearest relative.
Nothing else derives a class from a verb's name. A verb that is not in the table is the riskiest class.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from ues_core.contract import Model
from ues_core.contract.words import ActionClass, Need, RetryKind, RiskLevel, Verb, WaitUntil


class Traits(Model):
    """What the taxonomy says of one verb."""

    verb: str
    """As normalised; for an unknown verb what was given, cut at 80 characters."""
    action_class: ActionClass
    max_retries: int
    """New attempts after the first."""
    retry_kinds: tuple[RetryKind, ...] = ()
    post_verification: Need = Need.NONE
    """Whether a dispatch must be followed by an expected state being seen before it counts as success."""
    risk: RiskLevel = RiskLevel.NONE
    evidence: Need = Need.NONE
    wait_until: WaitUntil | None = None
    navigates: bool = False
    idempotency_proof_needed: bool = False
    """A transient retry needs proof that doing it twice does no more than doing it once."""
    idempotency_proven: bool = False
    approval_needed: bool = False
    unknown: bool = False

    @property
    def replay_safe(self) -> bool:
        """Whether the same input may be sent again without looking first."""
        if self.action_class is ActionClass.READ_ONLY:
            return True
        return self.idempotency_proven and self.action_class is ActionClass.INTERACTIVE


_STALE: Final = (RetryKind.STALE,)
_TRANSIENT: Final = (RetryKind.TRANSIENT,)
_BOTH: Final = (RetryKind.TRANSIENT, RetryKind.STALE)


def _reads(verb: Verb, retries: int, kinds: tuple[RetryKind, ...], check: Need = Need.NONE) -> Traits:
    return Traits(
        verb=verb, action_class=ActionClass.READ_ONLY, max_retries=retries, retry_kinds=kinds, post_verification=check
    )


def _moves(verb: Verb, retries: int, kinds: tuple[RetryKind, ...], check: Need, wait: WaitUntil | None) -> Traits:
    return Traits(
        verb=verb,
        action_class=ActionClass.NAVIGATION,
        max_retries=retries,
        retry_kinds=kinds,
        post_verification=check,
        evidence=Need.OPTIONAL,
        wait_until=wait,
        navigates=wait is not None,
    )


def _touches(
    verb: Verb,
    retries: int,
    kinds: tuple[RetryKind, ...],
    risk: RiskLevel,
    check: Need = Need.REQUIRED,
    *,
    proof: bool = True,
    evidence: Need = Need.OPTIONAL,
) -> Traits:
    return Traits(
        verb=verb,
        action_class=ActionClass.INTERACTIVE,
        max_retries=retries,
        retry_kinds=kinds,
        post_verification=check,
        risk=risk,
        evidence=evidence,
        idempotency_proof_needed=proof,
    )


def _external(verb: str, *, risk: RiskLevel = RiskLevel.LIKELY, unknown: bool = False) -> Traits:
    return Traits(
        verb=verb,
        action_class=ActionClass.EXTERNAL_SIDE_EFFECT,
        max_retries=0,
        post_verification=Need.REQUIRED,
        risk=risk,
        evidence=Need.REQUIRED,
        approval_needed=True,
        unknown=unknown,
    )


_ROWS: Final = (
    _reads(Verb.OBSERVE, 2, _BOTH, Need.OPTIONAL),
    _reads(Verb.INSPECT, 2, _BOTH, Need.OPTIONAL),
    _reads(Verb.READ, 2, _BOTH, Need.OPTIONAL),
    _reads(Verb.EXTRACT, 2, _BOTH, Need.OPTIONAL),
    _reads(Verb.SEE, 1, _TRANSIENT),
    _reads(Verb.EVIDENCE, 1, _TRANSIENT),
    _reads(Verb.WAIT, 1, _TRANSIENT),
    _reads(Verb.CLOSE, 0, ()),
    _moves(Verb.NAVIGATE, 2, _BOTH, Need.REQUIRED, WaitUntil.DOM_CONTENT_LOADED),
    _moves(Verb.RELOAD, 1, _TRANSIENT, Need.REQUIRED, WaitUntil.LOAD),
    _moves(Verb.BACK, 1, _TRANSIENT, Need.OPTIONAL, WaitUntil.DOM_CONTENT_LOADED),
    _moves(Verb.FORWARD, 1, _TRANSIENT, Need.OPTIONAL, WaitUntil.DOM_CONTENT_LOADED),
    _moves(Verb.CLOSE_PAGE, 0, (), Need.NONE, None),
    _touches(Verb.CLICK, 1, _STALE, RiskLevel.POSSIBLE),
    _touches(Verb.DOUBLE_CLICK, 1, _STALE, RiskLevel.POSSIBLE),
    _touches(Verb.PRESS, 1, _STALE, RiskLevel.POSSIBLE),
    _touches(Verb.DRAG, 1, _STALE, RiskLevel.POSSIBLE),
    _touches(Verb.FILL, 1, _BOTH, RiskLevel.NONE),
    _touches(Verb.TYPE, 1, _BOTH, RiskLevel.NONE),
    _touches(Verb.SELECT, 1, _BOTH, RiskLevel.NONE),
    _touches(Verb.HOVER, 1, _BOTH, RiskLevel.NONE, Need.NONE, proof=False),
    _touches(Verb.SCROLL, 1, _BOTH, RiskLevel.NONE, Need.NONE, proof=False, evidence=Need.NONE),
    _touches(Verb.UPLOAD, 0, (), RiskLevel.LIKELY, evidence=Need.REQUIRED),
    _touches(Verb.ANSWER_DIALOG, 0, (), RiskLevel.POSSIBLE),
    _external(Verb.SUBMIT),
    _external(Verb.PURCHASE),
    _external(Verb.PAYMENT),
    _external(Verb.DELETE),
    _external(Verb.DESTRUCTIVE_CONFIRM),
    _external(Verb.SEND_MESSAGE),
    _external(Verb.CREATE_ORDER),
    _external(Verb.PUBLISH),
    _external(Verb.ACCOUNT_MUTATION),
)

TAXONOMY: Final[Mapping[Verb, Traits]] = MappingProxyType({Verb(row.verb): row for row in _ROWS})
"""Verb -> traits, complete."""

ALIASES: Final[Mapping[str, Verb]] = MappingProxyType(
    {"snapshot": Verb.OBSERVE, "screenshot": Verb.SEE, "console-read": Verb.EVIDENCE, "network-read": Verb.EVIDENCE}
)
"""Words that hosts of the reasoning seed use for verbs of ours."""

_SEPARATORS = re.compile(r"[\s_]+")


def known_verb(text: str) -> Verb | None:
    """The verb that a host's word means: trimmed, lower case, space and underscore as one hyphen; ``None`` if unknown."""
    word = _SEPARATORS.sub("-", text[:200].strip().lower())
    try:
        return Verb(word)
    except ValueError:
        return ALIASES.get(word)


def traits(verb: Verb | str, *, proven_idempotent: bool = False, proven_external: bool = False) -> Traits:
    """What the taxonomy says of a verb.

    ``proven_external``   evidence says that this very action has an effect outside the surface: it gets the external row,
    whatever its verb. ``proven_idempotent``   doing it twice is proven to do no more than once: an interactive verb becomes
    safe to replay. An unknown verb is external, never retried, its risk unknown, its approval required.
    """
    known = known_verb(verb)
    if known is None:
        return _external(verb.strip()[:80], risk=RiskLevel.UNKNOWN, unknown=True)
    row = TAXONOMY[known]
    if proven_external:
        return row if row.approval_needed else _external(known)
    if proven_idempotent and row.action_class is ActionClass.INTERACTIVE:
        return row.model_copy(update={"idempotency_proven": True, "risk": RiskLevel.NONE})
    return row
