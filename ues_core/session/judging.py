"""Judging an action before it reaches a page: the target, the risk, the link, and the intent of what has an effect outside."""

from __future__ import annotations

from typing import Final

from ues_core.contract import (
    Action,
    ActionClass,
    Click,
    Code,
    Fault,
    Identity,
    Inspection,
    Intent,
    NodeFacts,
    PolicyRefusal,
    Press,
    Refusal,
    RequestKind,
    Surface,
    TargetNote,
    Verb,
    decide,
)
from ues_core.policy.approvals import guard_key
from ues_core.policy.risk import judge
from ues_core.policy.taxonomy import traits
from ues_core.redact import scrub_url
from ues_core.seal.refs import RefEntry
from ues_core.session._text import iso, sha
from ues_core.session.context import SessionContext
from ues_core.session.drafting import Draft, safe_snapshot
from ues_core.session.gestures import check_operable
from ues_core.session.observing import Redactor

STRICT_FIELDS: Final = ("role", "tag", "input_type", "download", "href")
"""Identity fields whose change makes it another target. A name may drift (a timer in a label); risk is judged on the live one."""

HARD_REFUSALS: Final = frozenset(
    {Code.CREDENTIAL_ENTRY, Code.FILE_UPLOAD, Code.DOWNLOAD, Code.DANGEROUS_KEY, Code.HUMAN_VERIFICATION}
)
"""Refusals that no approval lifts: a person does these."""


def judge_target(
    ctx: SessionContext, draft: Draft, verb: Verb, entry: RefEntry, inspection: Inspection, facts: NodeFacts, identity: Identity
) -> None:
    """Refuse what is no longer the node that was observed, cannot be seen or cannot be operated; note the target on the way."""
    redact = Redactor(ctx.detectors)
    drifted = entry.identity.changed(identity) if entry.identity is not None else ()
    draft.target = TargetNote(
        ref=entry.ref, role=facts.role, name=redact(facts.name), identity=identity.digest, drifted=drifted
    )
    strict = tuple(name for name in drifted if name in STRICT_FIELDS)
    if strict and entry.identity is not None:
        draft.changed = drifted
        draft.before = safe_snapshot(entry.identity, redact(entry.identity.name))
        draft.after = safe_snapshot(identity, redact(identity.name))
        raise Refusal(
            f"The node is no longer what was observed; changed: {', '.join(strict)}.",
            code=Code.TARGET_CHANGED,
            fault=Fault.PAGE,
            next_step="Observe again and decide anew.",
        )
    if not facts.visible and verb is not Verb.SCROLL:
        draft.changed = tuple(name for name in drifted if name == "visible")
        raise Refusal("The node is not visible.", code=Code.TARGET_NOT_VISIBLE, fault=Fault.PAGE, next_step="Observe again.")
    check_operable(verb, facts)


def judge_risk(ctx: SessionContext, draft: Draft, action: Action, verb: Verb, facts: NodeFacts | None) -> bool:
    """Whether the action is an external side effect. Raises for what no approval lifts."""
    chord = action.key if isinstance(action, Press) else ""
    verdict = judge(verb, facts, chord=chord, extra_terms=ctx.risk_terms)
    draft.risk = verdict.level
    if verdict.code in HARD_REFUSALS:
        raise PolicyRefusal(
            verdict.reason, code=verdict.code, next_step="Hand this step to a person; the session stays usable."
        )
    external = verdict.code is not Code.OK or traits(verb).action_class is ActionClass.EXTERNAL_SIDE_EFFECT
    if external:
        draft.action_class = ActionClass.EXTERNAL_SIDE_EFFECT
        draft.code, draft.reason = verdict.code, verdict.reason
    return external


def judge_link(ctx: SessionContext, action: Action, facts: NodeFacts | None) -> None:
    """Refuse a click on a link that leads off the allowlist before the browser would stop it."""
    if facts is None or not facts.href or not isinstance(action, Click):
        return
    verdict = decide(ctx.gate, facts.href, RequestKind.NAVIGATE)
    if not verdict.allowed:
        raise PolicyRefusal(
            f"The link leads off the allowlist: {verdict.reason}.",
            code=verdict.code,
            next_step="Only the operator can add an origin.",
        )


async def intend(
    ctx: SessionContext,
    draft: Draft,
    action: Action,
    verb: Verb,
    entry: RefEntry | None,
    inspection: Inspection | None,
    before: Surface,
    approval: str | None,
) -> None:
    """An external side effect: approved exactly, not a duplicate, and on disk before anything happens."""
    risky, reason = draft.code, draft.reason
    if entry is None or draft.target is None or inspection is None:
        raise PolicyRefusal(
            "An external side effect needs a ref that the host approved.",
            code=risky if risky is not Code.OK else Code.APPROVAL_REQUIRED,
            next_step="Pass the ref of the node and an approval.",
        )
    arguments = arguments_digest(action)
    guard = guard_key(
        owner=ctx.owner,
        location=scrub_url(before.location),
        verb=str(verb),
        identity=draft.target.identity,
        arguments_digest=arguments,
        form_digest=inspection.form_digest,
        idempotency_key=action.idempotency_key or "",
    )
    if approval is None:
        raise PolicyRefusal(
            reason or "This has an effect outside the page and was not approved.",
            code=risky if risky is not Code.OK else Code.APPROVAL_REQUIRED,
            next_step="The host can approve exactly this action: host.approve(session, action).",
        )
    if guard in ctx.side_effects:
        raise PolicyRefusal(
            "The same side effect was already dispatched, perhaps before a crash; it is never repeated by itself.",
            code=Code.DUPLICATE_SIDE_EFFECT,
            next_step="Look whether it took effect; to repeat it on purpose pass another idempotency_key.",
        )
    ctx.approvals.consume(
        approval,
        owner=ctx.owner,
        session=ctx.session_id,
        page=entry.page,
        document=entry.document,
        ref=entry.ref,
        identity=draft.target.identity,
        verb=str(verb),
        arguments_digest=arguments,
        form_digest=inspection.form_digest,
        now=ctx.now(),
    )
    draft.approval = approval
    intent = Intent(
        intent_id=ctx.new_id("int"),
        owner=ctx.owner,
        session=ctx.session_id,
        verb=str(verb),
        action_class=ActionClass.EXTERNAL_SIDE_EFFECT,
        page=entry.page,
        document=entry.document,
        target=draft.target,
        arguments_digest=arguments,
        approval=approval,
        idempotency_key=action.idempotency_key,
        guard_key=guard,
        at=iso(ctx.now()),
    )
    await ctx.recorder.intent(intent)
    draft.intent_id = intent.intent_id
    ctx.side_effects.add(guard)
    draft.code, draft.reason = Code.OK, ""


def arguments_digest(action: Action) -> str:
    """SHA-256 (32 hex) over an action's arguments without its ref, page and idempotency key."""
    data = action.model_dump_json(exclude={"ref", "page", "idempotency_key"})
    return sha((data,))
