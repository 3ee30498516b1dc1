"""A receipt while it is being made, and the reading of what a host passed in."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import ValidationError

from ues_core.contract import (
    ACTION_ADAPTER,
    Action,
    ActionClass,
    Code,
    DispatchStatus,
    DriverError,
    Expectation,
    Fault,
    GuardState,
    Identity,
    Landed,
    NavigationKind,
    Receipt,
    Refusal,
    RiskLevel,
    Surface,
    TargetNote,
    UesError,
    Verb,
    Verification,
)


@dataclass(slots=True)
class Draft:
    """Mutable until :meth:`receipt`; the defaults describe a refusal in which nothing happened."""

    receipt_id: str
    owner: str
    session: str
    driver: str
    started_at: str
    verb: str = ""
    action_class: ActionClass = ActionClass.EXTERNAL_SIDE_EFFECT
    risk: RiskLevel = RiskLevel.UNKNOWN
    status: DispatchStatus = DispatchStatus.REJECTED
    code: Code = Code.OK
    reason: str = ""
    fault: Fault | None = None
    next_step: str = ""
    dispatched: bool = False
    landed: Landed = Landed.NOWHERE
    guard: GuardState = GuardState.NOT_APPLICABLE
    target: TargetNote | None = None
    changed: tuple[str, ...] = ()
    before: dict[str, str] = field(default_factory=dict)
    after: dict[str, str] = field(default_factory=dict)
    page_before: Surface | None = None
    page_after: Surface | None = None
    navigation: NavigationKind = NavigationKind.NONE
    observation_epoch: int | None = None
    observation_fingerprint: str = ""
    verification: Verification = field(default_factory=Verification)
    approval: str | None = None
    intent_id: str | None = None
    retries: int = 0
    warnings: list[str] = field(default_factory=list)
    console_errors: int = 0
    network_failures: int = 0
    duration_ms: float = 0.0

    def fail_with(self, error: UesError) -> None:
        """Take over an error. After an input left, nothing but ``unknown`` can be said of its outcome."""
        self.code, self.reason, self.fault, self.next_step = error.code, error.sentence, error.fault, error.next_step
        if self.dispatched:
            self.status = DispatchStatus.UNKNOWN
        elif isinstance(error, Refusal):
            self.status = DispatchStatus.REJECTED
        else:
            self.status = DispatchStatus.FAILED
        if isinstance(error, DriverError) and not self.dispatched:
            self.landed = Landed.NOWHERE

    def receipt(self) -> Receipt:
        """The receipt, bounded."""
        return Receipt(
            receipt_id=self.receipt_id,
            intent_id=self.intent_id,
            owner=self.owner,
            session=self.session,
            driver=self.driver,
            verb=self.verb[:80],
            action_class=self.action_class,
            risk=self.risk,
            status=self.status,
            code=self.code,
            reason=self.reason[:500],
            fault=self.fault,
            next_step=self.next_step[:400],
            dispatched=self.dispatched,
            landed=self.landed,
            guard=self.guard,
            target=self.target,
            changed=self.changed,
            before=self.before,
            after=self.after,
            page_before=self.page_before,
            page_after=self.page_after,
            navigation=self.navigation,
            observation_epoch=self.observation_epoch,
            observation_fingerprint=self.observation_fingerprint,
            verification=self.verification,
            approval=self.approval,
            retries=self.retries,
            warnings=tuple(self.warnings[:16]),
            console_errors=self.console_errors,
            network_failures=self.network_failures,
            started_at=self.started_at,
            duration_ms=min(self.duration_ms, 600_000.0),
        )


_FIELD_CODES: Final[Mapping[tuple[str, str], Code]] = {
    ("fill", "text"): Code.TEXT_INVALID,
    ("type", "text"): Code.TEXT_INVALID,
    ("press", "key"): Code.KEY_INVALID,
}
"""A wrong value of one of these fields has a code of its own."""


def parse_action(raw: Action | Mapping[str, Any]) -> Action:
    """A model or a plain mapping as an action. Errors name the field, never the value that stood there."""
    if not isinstance(raw, Mapping):
        if isinstance(raw, ACTION_TYPES):
            return raw
        raise Refusal(
            f"An action is a model or a mapping, not {type(raw).__name__}.",
            code=Code.ACTION_INVALID,
            next_step='Pass for instance {"verb": "click", "ref": ref}.',
        )
    verb = raw.get("verb")
    if not isinstance(verb, str) or verb not in {str(v) for v in Verb}:
        raise Refusal(
            "The verb is missing or unknown; unknown verbs are the riskiest class and never dispatched.",
            code=Code.UNKNOWN_VERB,
            next_step=f"Use one of: {', '.join(v for v in Verb)}.",
        )
    try:
        return ACTION_ADAPTER.validate_python(dict(raw))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"][1:]) or "action"
        raise Refusal(
            f"'{where}' of a '{verb}' action is wrong: {first['msg']}.",
            code=Code.ACTION_INVALID if first["type"] == "missing" else _FIELD_CODES.get((verb, where), Code.ACTION_INVALID),
            next_step=f"See the action's schema: ues schema action (verb '{verb}').",
        ) from error


def parse_expectations(raw: Expectation | Mapping[str, Any] | Sequence[Any] | None) -> tuple[Expectation, ...]:
    """One expectation or up to eight, as models or mappings."""
    if raw is None:
        return ()
    if not isinstance(raw, (Expectation, Mapping, Sequence)) or isinstance(raw, (str, bytes)):
        raise Refusal(
            f"An expectation is a model, a mapping or a list of them, not {type(raw).__name__}.",
            code=Code.ACTION_INVALID,
            next_step='Pass for instance {"kind": "text-present", "text": "Saved"}.',
        )
    many = [raw] if isinstance(raw, (Expectation, Mapping)) else list(raw)
    if len(many) > 8:
        raise Refusal("At most eight expectations are taken.", code=Code.ACTION_INVALID, next_step="Pass fewer.")
    try:
        return tuple(e if isinstance(e, Expectation) else Expectation.model_validate(e) for e in many)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False, include_context=False)[0]
        where = ".".join(str(part) for part in first["loc"]) or "expectation"
        raise Refusal(
            f"'{where}' of an expectation is wrong: {first['msg']}.",
            code=Code.ACTION_INVALID,
            next_step="See the schema: ues schema expectation.",
        ) from error


def safe_snapshot(identity: Identity, name: str) -> dict[str, str]:
    """The safe part of an identity for a changed-target report: role, name (redacted by the caller), tag, flags."""
    return {
        "role": identity.role,
        "name": name,
        "tag": identity.tag,
        "disabled": str(identity.disabled).lower(),
        "visible": str(identity.visible).lower(),
    }


def _action_types() -> tuple[type, ...]:
    import ues_core.contract.action as actions

    found = [getattr(actions, name) for name in dir(actions)]
    return tuple(t for t in found if isinstance(t, type) and "verb" in getattr(t, "model_fields", {}))


ACTION_TYPES: tuple[type, ...] = _action_types()
"""Every action model."""
