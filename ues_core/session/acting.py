"""Acting: one path. Resolve, inspect, judge, intend, dispatch, verify, record. Every exit is a receipt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ues_core.contract import (
    Action,
    ActionClass,
    AnswerDialog,
    Back,
    Click,
    ClosePage,
    Code,
    DispatchStatus,
    DocumentGone,
    Drag,
    DriverError,
    DriverEvent,
    EventKind,
    Expectation,
    Fault,
    Forward,
    Identity,
    Inspection,
    Intent,
    Landed,
    Landing,
    LedgerError,
    Navigate,
    Navigation,
    NavigationKind,
    Need,
    NodeFacts,
    Observe,
    PolicyRefusal,
    PopupPolicy,
    Press,
    Receipt,
    Refusal,
    Reload,
    RequestKind,
    Scroll,
    Surface,
    TargetNote,
    UesError,
    Verb,
    Wait,
    decide,
)
from ues_core.policy.approvals import guard_key
from ues_core.policy.capability import require_for_action
from ues_core.policy.risk import judge
from ues_core.policy.taxonomy import traits
from ues_core.redact import scrub_url
from ues_core.seal.refs import RefEntry
from ues_core.session._text import iso, sha
from ues_core.session.context import SessionContext, bounded
from ues_core.session.desk import Ask, ObservationDesk
from ues_core.session.drafting import Draft, parse_action, parse_expectations, safe_snapshot
from ues_core.session.evidence import EvidenceBook
from ues_core.session.gestures import check_hit, check_operable, gesture_of
from ues_core.session.observing import Redactor, scrub_surface
from ues_core.session.waiting import Watcher

SETTLE_SECONDS: Final = 0.05
"""Pause after a gesture before the surface is looked at: a click's navigation or new page starts after the click returns."""
GUARD_RETRIES: Final = 2
"""New attempts after the guard stopped an input whose target had drifted: nothing had reached the page."""

STRICT_FIELDS: Final = ("role", "tag", "input_type", "download", "href")
"""Identity fields whose change makes it another target. A name may drift (a timer in a label); risk is judged on the live one."""

HARD_REFUSALS: Final = frozenset(
    {Code.CREDENTIAL_ENTRY, Code.FILE_UPLOAD, Code.DOWNLOAD, Code.DANGEROUS_KEY, Code.HUMAN_VERIFICATION}
)
"""Refusals that no approval lifts: a person does these."""

_ELSEWHERE: Final = {
    Verb.INSPECT: "session.observe(within=ref)",
    Verb.READ: "session.read(ref)",
    Verb.EXTRACT: "session.extract(...)",
    Verb.SEE: "session.see()",
    Verb.EVIDENCE: "session.evidence()",
    Verb.CLOSE: "session.close()",
}


class ActionPath:
    """One session's way to act. Used under the session's lock only."""

    def __init__(self, ctx: SessionContext, desk: ObservationDesk, evidence: EvidenceBook) -> None:
        self._ctx = ctx
        self._desk = desk
        self._evidence = evidence
        self._watcher = Watcher(ctx, evidence)

    async def act(
        self,
        raw: Action | Mapping[str, Any],
        *,
        approval: str | None,
        expect: Expectation | Mapping[str, Any] | Sequence[Any] | None,
        timeout: float | None,
    ) -> Receipt:
        """Perform one action. Never raises but for cancellation, and then a receipt is recorded all the same."""
        ctx = self._ctx
        draft = Draft(
            receipt_id=ctx.new_id("act"),
            owner=ctx.owner,
            session=ctx.session_id,
            driver=ctx.driver_name,
            started_at=iso(ctx.now()),
        )
        started = time.monotonic()
        errors, failures = self._evidence.console_errors, self._evidence.network_failures
        try:
            await self._perform(draft, raw, approval, expect, timeout)
        except UesError as error:
            draft.fail_with(error)
        except asyncio.CancelledError:
            draft.status = DispatchStatus.UNKNOWN if draft.dispatched else DispatchStatus.REJECTED
            draft.code, draft.reason, draft.fault = Code.CANCELLED, "The host cancelled the action.", Fault.HOST
            raise
        except Exception as error:  # noqa: BLE001 - every exit is a receipt; a fault of ours is named in it, not hidden
            draft.fail_with(UesError(f"The kit failed: {type(error).__name__}.", next_step="This is a bug; please report it."))
        finally:
            draft.duration_ms = (time.monotonic() - started) * 1000
            draft.console_errors = self._evidence.console_errors - errors
            draft.network_failures = self._evidence.network_failures - failures
            receipt = draft.receipt()
            ctx.recorder.receipt(receipt)
        try:
            ctx.recorder.check()
        except LedgerError as error:
            receipt = receipt.model_copy(
                update={"warnings": (*receipt.warnings, f"this receipt was not recorded: {error.sentence}")}
            )
        return receipt

    # -- the path ----------------------------------------------------------------------------------------------------

    async def _perform(
        self,
        draft: Draft,
        raw: Action | Mapping[str, Any],
        approval: str | None,
        expect: Expectation | Mapping[str, Any] | Sequence[Any] | None,
        timeout: float | None,
    ) -> None:
        ctx = self._ctx
        said = raw.get("verb", "") if isinstance(raw, Mapping) else getattr(raw, "verb", "")
        draft.verb = str(said)[:80].encode("ascii", "backslashreplace").decode("ascii")
        action = parse_action(raw)
        expectations = parse_expectations(expect)
        ctx.recorder.check()
        verb = Verb(action.verb)
        traits_ = traits(verb)
        draft.action_class, draft.risk = traits_.action_class, traits_.risk
        seen = self._desk.seen
        if seen is not None:
            draft.observation_epoch, draft.observation_fingerprint = seen.epoch, seen.fingerprint
        if verb in _ELSEWHERE:
            raise Refusal(
                f"'{verb}' brings something back, which a receipt does not carry.",
                code=Code.NOT_SUPPORTED,
                next_step=f"Call {_ELSEWHERE[verb]}.",
            )
        require_for_action(action, ctx.capabilities, ctx.driver_name)
        ctx.budget.spend(verb)
        seconds = bounded_seconds(timeout, ctx.timeouts.action)
        match action:
            case Observe():
                observation = await self._desk.observe(Ask(page=action.page, within=action.within, detail=action.detail))
                draft.observation_epoch, draft.observation_fingerprint = observation.epoch, observation.fingerprint
                self._confirm(draft)
            case Wait():
                await self._wait(draft, action, expectations)
            case Navigate() | Reload() | Back() | Forward():
                await self._navigate(draft, action, expectations, timeout)
            case ClosePage():
                await self._close_page(draft, action.page or self._desk.page, seconds)
            case AnswerDialog():
                draft.dispatched = True
                await bounded(
                    ctx.driver.answer_dialog(action.dialog, action.accept, action.text, deadline=seconds),
                    seconds,
                    "answer the dialog",
                )
                self._evidence.answered(action.dialog)
                self._confirm(draft)
            case _:
                await self._touch(draft, action, verb, approval, expectations, seconds)

    async def _touch(
        self, draft: Draft, action: Any, verb: Verb, approval: str | None, expectations: tuple[Expectation, ...], seconds: float
    ) -> None:
        ctx = self._ctx
        ref: str | None = action.ref
        entry = ctx.refs.resolve(ref, ctx.now()) if ref is not None else None
        to = ctx.refs.resolve(action.to, ctx.now()) if isinstance(action, Drag) else None
        page = entry.page if entry is not None else (action.page or self._desk.page)
        before = await bounded(ctx.driver.surface(page, deadline=seconds), seconds, "say which document it shows")
        draft.page_before = scrub_surface(before, Redactor(ctx.detectors))
        if entry is not None and before.document != entry.document:
            raise DocumentGoneRefusal()
        landing: Landing | None = None
        for attempt in range(GUARD_RETRIES + 1):
            draft.retries = attempt
            inspection = await self._look(draft, entry, seconds)
            facts = inspection.facts if inspection is not None else None
            identity = facts.identity() if facts is not None else None
            if entry is not None and inspection is not None and facts is not None and identity is not None:
                self._judge_target(draft, verb, entry, inspection, facts, identity)
            external = self._judge_risk(draft, action, verb, facts)
            gesture = gesture_of(action, page, entry.key if entry else None, facts, to.key if to else None)
            self._judge_link(action, facts)
            if inspection is not None:
                check_hit(verb, inspection)
            if external:
                await self._intend(draft, action, verb, entry, inspection, before, approval)
            draft.dispatched, draft.landed = True, Landed.UNKNOWN
            landing = await bounded(
                ctx.driver.dispatch(gesture, expect=identity, deadline=seconds), seconds, "perform the input"
            )
            self._note_landing(draft, landing)
            drifted = landing.code is Code.TARGET_CHANGED and landing.landed is Landed.NOWHERE
            if not drifted or external or attempt == GUARD_RETRIES:
                break
            draft.dispatched = False
        if landing is None:
            raise DriverError("The driver reported no landing.", next_step="Observe again.")
        if draft.dispatched:
            self._desk.dispatched(entry.key if entry is not None else None)
        await self._after(draft, page, before, landing.navigation, settle=not isinstance(action, Scroll))
        self._conclude(draft, landing)
        await self._verify(draft, action, landing, expectations, page)

    async def _look(self, draft: Draft, entry: RefEntry | None, seconds: float) -> Inspection | None:
        if entry is None:
            return None
        try:
            inspection = await bounded(self._ctx.driver.inspect(entry.key, deadline=seconds), seconds, "look at the node")
        except DocumentGone as error:
            raise DocumentGoneRefusal() from error
        if not inspection.connected or inspection.facts is None:
            draft.changed = ("detached",)
            raise Refusal("The node is no longer in the document.", code=Code.TARGET_GONE, next_step="Observe again.")
        return inspection

    # -- judging -----------------------------------------------------------------------------------------------------

    def _judge_target(
        self, draft: Draft, verb: Verb, entry: RefEntry, inspection: Inspection, facts: NodeFacts, identity: Identity
    ) -> None:
        redact = Redactor(self._ctx.detectors)
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
            raise Refusal(
                "The node is not visible.", code=Code.TARGET_NOT_VISIBLE, fault=Fault.PAGE, next_step="Observe again."
            )
        check_operable(verb, facts)

    def _judge_risk(self, draft: Draft, action: Action, verb: Verb, facts: NodeFacts | None) -> bool:
        """Whether the action is an external side effect. Raises for what no approval lifts."""
        chord = action.key if isinstance(action, Press) else ""
        verdict = judge(verb, facts, chord=chord, extra_terms=self._ctx.risk_terms)
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

    def _judge_link(self, action: Action, facts: NodeFacts | None) -> None:
        if facts is None or not facts.href or not isinstance(action, Click):
            return
        verdict = decide(self._ctx.gate, facts.href, RequestKind.NAVIGATE)
        if not verdict.allowed:
            raise PolicyRefusal(
                f"The link leads off the allowlist: {verdict.reason}.",
                code=verdict.code,
                next_step="Only the operator can add an origin.",
            )

    async def _intend(
        self,
        draft: Draft,
        action: Action,
        verb: Verb,
        entry: RefEntry | None,
        inspection: Inspection | None,
        before: Surface,
        approval: str | None,
    ) -> None:
        """An external side effect: approved exactly, not a duplicate, and on disk before anything happens."""
        ctx = self._ctx
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

    # -- after the input ---------------------------------------------------------------------------------------------

    def _note_landing(self, draft: Draft, landing: Landing) -> None:
        draft.dispatched = landing.dispatched
        draft.landed, draft.guard = landing.landed, landing.guard
        if landing.code is not Code.OK:
            draft.code, draft.reason = landing.code, landing.detail

    async def _after(
        self, draft: Draft, page: str, before: Surface, navigation: NavigationKind, *, settle: bool
    ) -> tuple[DriverEvent, ...]:
        ctx = self._ctx
        if settle and draft.dispatched:
            await asyncio.sleep(SETTLE_SECONDS)
        events = self._evidence.take(await bounded(ctx.driver.drain(), ctx.timeouts.wait, "report its events"))
        for event in events:
            self._note_event(draft, event)
        try:
            after = await bounded(ctx.driver.surface(page, deadline=ctx.timeouts.wait), ctx.timeouts.wait, "say where it is")
        except DriverError as error:
            draft.warnings.append(f"the page could not be looked at afterwards: {error.code}")
            return events
        draft.page_after = scrub_surface(after, Redactor(ctx.detectors))
        if after.document != before.document:
            draft.navigation = navigation if navigation is NavigationKind.REDIRECT else NavigationKind.DOCUMENT
            self._desk.navigated()
        elif after.location != before.location:
            draft.navigation = NavigationKind.SAME_DOCUMENT
        return events

    def _note_event(self, draft: Draft, event: DriverEvent) -> None:
        if event.kind is EventKind.PAGE_OPENED and event.page != self._desk.page:
            where = scrub_url(event.url) or "about:blank"
            if self._ctx.popups is PopupPolicy.FOLLOW:
                self._desk.page = event.page
                draft.warnings.append(f"a new page opened and is followed: {event.page} {where}")
            else:
                draft.warnings.append(f"a new page opened; the session stays where it is: {event.page} {where}")
        elif event.kind is EventKind.GATE_DENIED and draft.dispatched:
            draft.code, draft.status = Code.ORIGIN_NOT_ALLOWED, DispatchStatus.UNKNOWN
            draft.reason = f"A navigation was stopped before its first byte: {scrub_url(event.url)} is not allowed."
            draft.fault, draft.next_step = Fault.POLICY, "Only the operator can add an origin; the page is as it was."
        elif event.kind is EventKind.DOWNLOAD:
            draft.warnings.append("a download was stopped" if not event.path else "a download was put into quarantine")
        elif event.kind is EventKind.DIALOG:
            draft.warnings.append(f"a dialog opened: {event.dialog_kind} ({event.level or 'dismissed'})")
        elif event.kind is EventKind.PAGE_CRASHED:
            draft.warnings.append("the page crashed")

    def _conclude(self, draft: Draft, landing: Landing) -> None:
        if draft.code is not Code.OK:
            if landing.code is not Code.OK:
                draft.status = DispatchStatus.UNKNOWN if landing.landed is Landed.UNKNOWN else DispatchStatus.FAILED
                if landing.landed in (Landed.NOWHERE, Landed.ELSEWHERE) and landing.code in (
                    Code.TARGET_CHANGED,
                    Code.LANDED_ELSEWHERE,
                ):
                    draft.status = DispatchStatus.REJECTED
                draft.fault = draft.fault or Fault.PAGE
                draft.next_step = draft.next_step or "Observe again and decide anew."
            return
        if landing.landed is Landed.ELSEWHERE:
            draft.code, draft.status = Code.LANDED_ELSEWHERE, DispatchStatus.REJECTED
            draft.reason = landing.detail or "The input met another node and was stopped."
            draft.next_step = "Observe again and decide anew."
        elif landing.landed is Landed.UNKNOWN and not (landing.dispatched and draft.target is None):
            # a key pressed on whatever has the focus was meant for no node, so there is no landing to be known
            draft.code, draft.status = Code.DISPATCH_OUTCOME_UNKNOWN, DispatchStatus.UNKNOWN
            draft.reason = landing.detail or "It is not known where the input landed."
            draft.next_step = "Observe before doing anything else."
        else:
            self._confirm(draft)

    @staticmethod
    def _confirm(draft: Draft) -> None:
        draft.status, draft.code, draft.reason = DispatchStatus.CONFIRMED, Code.OK, ""

    async def _verify(
        self, draft: Draft, action: Action, landing: Landing, expectations: tuple[Expectation, ...], page: str
    ) -> None:
        if draft.status is not DispatchStatus.CONFIRMED:
            return
        needed = traits(Verb(action.verb)).post_verification is Need.REQUIRED
        own = [v for v in (landing.value_equal, landing.option_selected, landing.in_viewport) if v is not None]
        if False in own:
            code = (
                Code.VALUE_MISMATCH
                if landing.value_equal is False
                else Code.OPTION_NOT_SELECTED
                if landing.option_selected is False
                else Code.SCROLL_TARGET_UNREACHABLE
            )
            draft.status, draft.code = DispatchStatus.FAILED, code
            draft.reason = "The input landed, but the node does not show what was asked for."
            draft.next_step = "Observe again; the page may have changed what was entered."
        draft.verification = await self._watcher.verify(expectations, page, own=own, needed=needed)

    # -- other verbs -------------------------------------------------------------------------------------------------

    async def _wait(self, draft: Draft, action: Wait, expectations: tuple[Expectation, ...]) -> None:
        page = action.page or self._desk.page
        every = tuple(action.until) + expectations
        if every:
            draft.verification = await self._watcher.verify(every, page, own=[], needed=True, seconds=action.seconds)
        else:
            await asyncio.sleep(action.seconds)
        self._confirm(draft)

    async def _navigate(
        self,
        draft: Draft,
        action: Navigate | Reload | Back | Forward,
        expectations: tuple[Expectation, ...],
        timeout: float | None,
    ) -> None:
        ctx = self._ctx
        page = action.page or self._desk.page
        seconds = bounded_seconds(timeout, ctx.timeouts.navigation)
        if isinstance(action, Navigate):
            verdict = decide(ctx.gate, action.url, RequestKind.NAVIGATE)
            if not verdict.allowed:
                raise PolicyRefusal(
                    f"Navigation refused: {verdict.reason}.",
                    code=verdict.code,
                    next_step="Only the operator can add an origin.",
                )
        before = await bounded(ctx.driver.surface(page, deadline=seconds), seconds, "say which document it shows")
        draft.page_before = scrub_surface(before, Redactor(ctx.detectors))
        draft.dispatched, draft.landed = True, Landed.UNKNOWN
        match action:
            case Navigate():
                call = ctx.driver.navigate(page, action.url, wait_until=action.wait_until, deadline=seconds)
            case Reload():
                call = ctx.driver.reload(page, deadline=seconds)
            case Back():
                call = ctx.driver.back(page, deadline=seconds)
            case Forward():
                call = ctx.driver.forward(page, deadline=seconds)
        result: Navigation = await bounded(call, seconds, "navigate")
        draft.landed = Landed.ON_TARGET
        self._desk.dispatched(None)
        await self._after(draft, page, before, result.kind, settle=False)
        draft.navigation = result.kind
        if result.denied:
            draft.code, draft.status, draft.landed = Code.ORIGIN_NOT_ALLOWED, DispatchStatus.REJECTED, Landed.NOWHERE
            draft.reason = f"Navigation stopped before its first byte: {result.denied}."
            draft.fault, draft.next_step = Fault.POLICY, "Only the operator can add an origin; the page is as it was."
            return
        if result.kind is NavigationKind.NONE and isinstance(action, (Back, Forward)):
            draft.code, draft.status = Code.ACTION_INVALID, DispatchStatus.FAILED
            draft.reason = "There is no such entry in the page's history."
            return
        self._confirm(draft)
        if result.status is not None and result.status >= 400:
            draft.warnings.append(f"the document came with HTTP status {result.status}")
        draft.verification = await self._watcher.verify(
            expectations, page, own=[result.kind is not NavigationKind.NONE], needed=True
        )

    async def _close_page(self, draft: Draft, page: str, seconds: float) -> None:
        ctx = self._ctx
        pages = await bounded(ctx.driver.pages(), seconds, "list its pages")
        if page not in {p.page for p in pages}:
            raise Refusal("There is no such page.", code=Code.PAGE_UNKNOWN, next_step="See session.pages().")
        if len(pages) == 1:
            raise Refusal("The only page stays open.", code=Code.ACTION_INVALID, next_step="Close the session instead.")
        draft.dispatched = True
        await bounded(ctx.driver.close_page(page, deadline=seconds), seconds, "close the page")
        if page == self._desk.page:
            self._desk.page = next(p.page for p in reversed(pages) if p.page != page)
            draft.warnings.append(f"the session falls back to page {self._desk.page}")
        draft.landed = Landed.ON_TARGET
        self._confirm(draft)


class DocumentGoneRefusal(Refusal):
    """The document that the ref was minted in was replaced."""

    def __init__(self) -> None:
        super().__init__(
            "The document that the ref belongs to was replaced.",
            code=Code.DOCUMENT_GONE,
            fault=Fault.PAGE,
            next_step="Observe again.",
        )


def bounded_seconds(timeout: float | None, otherwise: float) -> float:
    """A caller's seconds within 0.1 to 180; a refusal for what is no number."""
    if timeout is None:
        return otherwise
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or timeout != timeout:
        raise Refusal("A timeout is a number of seconds.", code=Code.ACTION_INVALID, next_step="Pass timeout=5.0.")
    return max(0.1, min(float(timeout), 180.0))


def arguments_digest(action: Action) -> str:
    """SHA-256 (32 hex) over an action's arguments without its ref, page and idempotency key."""
    data = action.model_dump_json(exclude={"ref", "page", "idempotency_key"})
    return sha((data,))
