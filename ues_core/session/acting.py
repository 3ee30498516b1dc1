"""Acting: one path. Resolve, inspect, judge, intend, dispatch, verify, record. Every exit is a receipt."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from ues_core.contract import (
    Action,
    AnswerDialog,
    Back,
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
    Inspection,
    Landed,
    Landing,
    LedgerError,
    Navigate,
    Navigation,
    NavigationKind,
    Need,
    Observe,
    PolicyRefusal,
    PopupPolicy,
    Receipt,
    Refusal,
    Reload,
    RequestKind,
    Scroll,
    Surface,
    UesError,
    Verb,
    Wait,
    decide,
)
from ues_core.policy.capability import require_for_action
from ues_core.policy.taxonomy import traits
from ues_core.redact import scrub_url
from ues_core.seal.refs import RefEntry
from ues_core.session._text import iso
from ues_core.session.context import SessionContext, bounded
from ues_core.session.desk import Ask, ObservationDesk
from ues_core.session.drafting import Draft, parse_action, parse_expectations
from ues_core.session.evidence import EvidenceBook
from ues_core.session.gestures import check_hit, gesture_of
from ues_core.session.judging import intend, judge_link, judge_risk, judge_target
from ues_core.session.landing import conclude, confirm, note_landing
from ues_core.session.observing import Redactor, scrub_surface
from ues_core.session.waiting import Watcher

SETTLE_SECONDS: Final = 0.05
"""Pause after a gesture before the surface is looked at: a click's navigation or new page starts after the click returns."""
GUARD_RETRIES: Final = 2
"""New attempts after the guard stopped an input whose target had drifted: nothing had reached the page."""

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
                confirm(draft)
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
                confirm(draft)
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
                judge_target(self._ctx, draft, verb, entry, inspection, facts, identity)
            external = judge_risk(self._ctx, draft, action, verb, facts)
            gesture = gesture_of(action, page, entry.key if entry else None, facts, to.key if to else None)
            judge_link(self._ctx, action, facts)
            if inspection is not None:
                check_hit(verb, inspection)
            if external:
                await intend(self._ctx, draft, action, verb, entry, inspection, before, approval)
            draft.dispatched, draft.landed = True, Landed.UNKNOWN
            landing = await bounded(
                ctx.driver.dispatch(gesture, expect=identity, deadline=seconds), seconds, "perform the input"
            )
            note_landing(draft, landing)
            drifted = landing.code is Code.TARGET_CHANGED and landing.landed is Landed.NOWHERE
            if not drifted or external or attempt == GUARD_RETRIES:
                break
            draft.dispatched = False
        if landing is None:
            raise DriverError("The driver reported no landing.", next_step="Observe again.")
        if draft.dispatched:
            self._desk.dispatched(entry.key if entry is not None else None)
        await self._after(draft, page, before, landing.navigation, settle=not isinstance(action, Scroll))
        conclude(draft, landing)
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

    # -- after the input ---------------------------------------------------------------------------------------------

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
        confirm(draft)

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
        started = time.monotonic()
        before = await self._whence(page, seconds)
        seconds = max(0.1, seconds - (time.monotonic() - started))
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
        confirm(draft)
        if result.status is not None and result.status >= 400:
            draft.warnings.append(f"the document came with HTTP status {result.status}")
        draft.verification = await self._watcher.verify(
            expectations, page, own=[result.kind is not NavigationKind.NONE], needed=True
        )

    async def _whence(self, page: str, seconds: float) -> Surface:
        """What a page shows that is about to be left. One that crashed or hangs cannot say, and is left all the same."""
        ctx = self._ctx
        look = min(seconds / 3, ctx.timeouts.wait)
        try:
            return await bounded(ctx.driver.surface(page, deadline=look), look, "say which document it shows")
        except DriverError as error:
            if error.code not in (Code.PAGE_CRASHED, Code.DEADLINE_EXCEEDED):
                raise
            known = await bounded(ctx.driver.pages(), seconds, "list its pages")
            found = next((surface for surface in known if surface.page == page), None)
            if found is None:
                raise
            return found

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
        confirm(draft)


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
    """A caller's seconds, taken for 0.1 to 180; a refusal for what is no number above zero."""
    if timeout is None:
        return otherwise
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise Refusal("A timeout is a number of seconds above zero.", code=Code.ACTION_INVALID, next_step="Pass timeout=5.0.")
    return max(0.1, min(float(timeout), 180.0))
