"""``Host``: the composition root. It owns everything it opens and closes it on every path."""

from __future__ import annotations

import asyncio
import contextlib
import os
import secrets
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, overload

from ues_core.config import Settings, load_settings, override_settings
from ues_core.contract import (
    Action,
    Approval,
    Code,
    Driver,
    ExtraDetector,
    Fault,
    Limits,
    OriginGate,
    PopupPolicy,
    RiskTerms,
    SessionReceipt,
    TerminalState,
    Timeouts,
    UesError,
    UsageError,
)
from ues_core.host.arguments import check_follow_up, check_more, check_question
from ues_core.host.consulting import ConsultDesk
from ues_core.host.lane import Lane
from ues_core.host.opening import Opened, Wish, check_owner, open_driver
from ues_core.host.recorder import LedgerRecorder
from ues_core.host.state import usable, use_state_directory
from ues_core.plugins import ContextDesk, ObserverBus, PluginBook, PluginRow, load_hooks
from ues_core.policy.approvals import ApprovalBook
from ues_core.policy.budgets import SessionBudget
from ues_core.policy.lexicon import lexicon
from ues_core.reasoning import Consultation
from ues_core.reasoning.history import HistoryStore
from ues_core.reasoning.panel import Panel
from ues_core.redact import live_values
from ues_core.seal.history import open_intents
from ues_core.seal.keys import load_or_create_key
from ues_core.seal.ledger import Ledger
from ues_core.seal.records import Head
from ues_core.seal.refs import HostTags, RefTable
from ues_core.session import Session, SessionContext
from ues_core.session._text import iso
from ues_core.web.processes import ProfileHome

MAX_SESSIONS = 32
"""Sessions that one host keeps open at once."""


class Host:
    """Gives each owner isolated sessions, asks for second opinions, keeps the ledger. Made by :func:`open_host`.

    Not thread-safe: it belongs to the event loop that opened it. Two hosts share nothing but the state directory.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        environ: Mapping[str, str],
        plugins: PluginBook,
        bus: ObserverBus,
        ledger: Ledger,
        tags: HostTags,
        side_effects: set[str],
        detectors: tuple[ExtraDetector, ...],
        risk_terms: tuple[RiskTerms, ...],
        profiles: ProfileHome,
        context: ContextDesk,
    ) -> None:
        self.settings = settings
        self._environ = environ
        self._plugins = plugins
        self._bus = bus
        self._ledger = ledger
        self._tags = tags
        self._side_effects = side_effects
        self._detectors = detectors
        self._risk_terms = risk_terms
        self._profiles = profiles
        self._recorder = LedgerRecorder(ledger, bus.emit, detectors)
        self._approvals = ApprovalBook()
        self._sessions: dict[str, tuple[Session, Path | None]] = {}
        self._opening = 0
        self._lanes: dict[str, Lane] = {}
        self._consults = ConsultDesk(settings, plugins, self._recorder, detectors, self._approvals, context)
        self._expiry: dict[str, asyncio.TimerHandle] = {}
        self._background: set[asyncio.Task[None]] = set()
        self._closed = False
        self.head: Head | None = None
        """The ledger's final head; set at close. Pin it elsewhere."""

    # -- sessions ----------------------------------------------------------------------------------------------------

    async def session(
        self,
        owner: str,
        *,
        driver: str | None = None,
        url: str | None = None,
        allowed_origins: Sequence[str] | None = None,
        headless: bool = True,
        profile: str | None = None,
        storage_state: Mapping[str, Any] | None = None,
        attach: str | None = None,
        popups: PopupPolicy | str | None = None,
        timeouts: Timeouts | Mapping[str, float] | None = None,
    ) -> Session:
        """Open an isolated session for ``owner``.

        ``allowed_origins`` can only narrow what the operator allowed. Raises ``UsageError``, ``ConfigError``, ``PluginError``,
        ``NotSupported``, ``PolicyRefusal`` or ``DriverError``; on any of them nothing is left running.
        """
        self._must_be_open()
        self._recorder.check()
        check_owner(owner)
        if len(self._sessions) + self._opening >= MAX_SESSIONS:
            raise UsageError(
                f"The host keeps {MAX_SESSIONS} sessions open already.",
                code=Code.BUDGET_EXHAUSTED,
                next_step="Close one: await session.close().",
            )
        name, found = await asyncio.to_thread(self._chosen_driver, driver)
        wish = Wish(
            url=url,
            allowed_origins=allowed_origins,
            headless=headless,
            profile=profile,
            storage_state=storage_state,
            attach=attach,
            popups=popups if popups is not None else self.settings.popups,
            timeouts=timeouts,
        )
        session_id = self._new_id("s")
        self._opening += 1
        try:
            opened = await open_driver(name, found, wish, self.settings, self._environ, self._profiles)
        except UesError as error:
            self._session_receipt(session_id, owner, name, "failed", error)
            raise
        finally:
            self._opening -= 1
        if self._closed:
            await opened.driver.close()
            self._must_be_open()
        session = Session(self._context(session_id, owner, name, found.info.capabilities, opened), opened.first.page)
        self._sessions[session_id] = (session, opened.profile)
        self._session_receipt(session_id, owner, name, "opened", None)
        loop = asyncio.get_running_loop()
        self._expiry[session_id] = loop.call_later(self._patience(session, loop.time()), self._expire, session, loop.time())
        session.on_close(self._session_closed)
        return session

    async def release(self, owner: str) -> int:
        """Close every session of ``owner``; how many there were. Idempotent."""
        check_owner(owner)
        mine = [session for session, _ in self._sessions.values() if session.owner == owner]
        await asyncio.gather(*(session.close() for session in mine))
        self._lanes.pop(owner, None)
        return len(mine)

    def lane(self, owner: str) -> Lane:
        """The owner's lane: gate and receipt around tool calls that the host dispatches by itself."""
        self._must_be_open()
        check_owner(owner)
        if owner not in self._lanes:
            self._lanes[owner] = Lane(
                owner,
                recorder=self._recorder,
                origins=OriginGate(allowed_origins=self.settings.allowed_origins, denied_origins=self.settings.denied_origins),
                budget=SessionBudget(self.settings.budgets.actions),
                now=time.time,
                new_id=self._new_id,
            )
        return self._lanes[owner]

    # -- approvals ---------------------------------------------------------------------------------------------------

    async def approve(self, session: Session, action: Action | Mapping[str, Any], *, seconds: float = 60.0) -> Approval:
        """Approve exactly one external side effect, once, for ``seconds`` (at most 600).

        It is bound to the owner, session, page, document, ref, the node as it is now, the verb, its arguments and the form's
        values; any change refuses it with ``approval-mismatch``.
        """
        self._must_be_open()
        number = isinstance(seconds, int | float) and not isinstance(seconds, bool) and seconds > 0
        if not isinstance(session, Session) or not number:
            raise UsageError(
                "An approval is for a session, for a number of seconds above zero.", next_step="host.approve(session, action)"
            )
        if session.id not in self._sessions:
            raise UsageError("This session is not one of this host's open ones.", next_step="Pass a session of host.session().")
        return await session.prepare_approval(action, seconds=max(1.0, min(seconds, 600.0)))

    def revoke(self, approval: Approval | str) -> bool:
        """Take an approval back; whether it was still unused."""
        word = approval.approval_id if isinstance(approval, Approval) else approval
        return isinstance(word, str) and self._approvals.revoke(word)

    # -- second opinions ---------------------------------------------------------------------------------------------

    @overload
    async def consult(
        self,
        task: str,
        *,
        repo: str | os.PathLike[str] | None = None,
        provider: str | None = None,
        providers: None = None,
        mode: str | None = None,
        constraints: Sequence[str] = (),
        evidence: Sequence[Any] = (),
        **more: Any,
    ) -> Consultation: ...

    @overload
    async def consult(
        self,
        task: str,
        *,
        repo: str | os.PathLike[str] | None = None,
        provider: None = None,
        providers: Sequence[str],
        mode: str | None = None,
        constraints: Sequence[str] = (),
        evidence: Sequence[Any] = (),
        **more: Any,
    ) -> Panel: ...

    async def consult(
        self,
        task: str,
        *,
        repo: str | os.PathLike[str] | None = None,
        provider: str | None = None,
        providers: Sequence[str] | None = None,
        mode: str | None = None,
        constraints: Sequence[str] = (),
        evidence: Sequence[Any] = (),
        **more: Any,
    ) -> Consultation | Panel:
        """Ask for a second opinion about ``task``. The answer is advice; it never becomes a verdict or a permission.

        Returns the finished consultation, whatever its outcome; with ``mode="force"`` a consultation that could not be held
        raises ``UesError`` (``WEB_REASONING_UNAVAILABLE``). With ``providers`` each of them is asked for itself, and a ``Panel``
        shows where they agree and conflict; it raises only when nobody could be asked.
        """
        check_question(task, repo=repo, provider=provider, providers=providers, constraints=constraints, evidence=evidence)
        check_more(more)
        self._must_be_open()
        self._recorder.check()
        return await self._consults.consult(
            task,
            repo=repo,
            provider=provider,
            providers=providers,
            mode=mode,
            constraints=constraints,
            evidence=evidence,
            new_id=self._new_id,
            **more,
        )

    async def follow_up(
        self,
        consultation: str,
        question: str,
        *,
        repo: str | os.PathLike[str] | None = None,
        evidence: Sequence[Any] = (),
        **more: Any,
    ) -> Consultation:
        """Ask once more in the conversation of a consultation, by its id; also after the host that held it has ended.

        Raises ``UsageError`` when it cannot be taken up again: ``consultation-unknown``, ``consultation-expired``,
        ``other-repository``, ``provider-changed`` or ``resume-refused``. A fresh conversation is never started instead.
        """
        check_follow_up(consultation, question, repo=repo, evidence=evidence)
        check_more(more)
        self._must_be_open()
        self._recorder.check()
        return await self._consults.follow_up(consultation, question, repo=repo, evidence=evidence, new_id=self._new_id, **more)

    @property
    def consultations(self) -> HistoryStore:
        """What was kept of consultations, also of earlier hosts with this state directory."""
        return self._consults.history

    # -- looking -----------------------------------------------------------------------------------------------------

    def plugins(self, *, load: bool = False) -> tuple[PluginRow, ...]:
        """Every plugin with its state and cause; ``load=True`` imports each to validate it."""
        return self._plugins.list(load=load)

    @property
    def ledger(self) -> Ledger:
        """This host's chain: ``ledger.path``, ``ledger.head``."""
        return self._ledger

    # -- closing -----------------------------------------------------------------------------------------------------

    async def close(self) -> Head:
        """Close sessions and consultations, end the chain, stop the observers. Idempotent; bounded."""
        if self._closed and self.head is not None:
            return self.head
        self._closed = True
        complete = TerminalState.COMPLETE
        try:
            await self._consults.close()
            results = await asyncio.gather(*(s.close() for s, _ in list(self._sessions.values())), return_exceptions=True)
            if any(isinstance(r, BaseException) for r in results):
                complete = TerminalState.INTERRUPTED
            if self._background:
                await asyncio.wait(tuple(self._background), timeout=10)
        finally:
            for handle in self._expiry.values():
                handle.cancel()
            self._expiry.clear()
            if self._recorder.failure is not None:
                complete = TerminalState.INTERRUPTED
            try:
                self.head = await asyncio.shield(asyncio.to_thread(self._ledger.close, complete))
            finally:
                await asyncio.to_thread(self._bus.close)
        return self.head

    # -- private -----------------------------------------------------------------------------------------------------

    def _context(self, session_id: str, owner: str, name: str, capabilities: Any, opened: Opened) -> SessionContext:
        budgets = self.settings.budgets
        return SessionContext(
            owner=owner,
            session_id=session_id,
            driver_name=name,
            capabilities=capabilities,
            driver=opened.driver,
            refs=RefTable.open(self._tags, owner, secrets.token_bytes),
            approvals=self._approvals,
            recorder=self._recorder,
            now=time.time,
            entropy=secrets.token_bytes,
            new_id=self._new_id,
            gate=opened.gate,
            timeouts=opened.timeouts,
            limits=Limits(max_nodes=budgets.max_nodes, max_bytes=budgets.max_bytes),
            frame_origins=self.settings.frame_origins,
            observation_ttl=budgets.observation_ttl,
            budget=SessionBudget(budgets.actions),
            popups=opened.popups,
            detectors=self._detectors,
            risk_terms=self._risk_terms,
            side_effects=self._side_effects,
        )

    def _chosen_driver(self, name: str | None) -> tuple[str, Driver]:
        chosen = self._plugins.driver_name(name)
        return chosen, self._plugins.driver(chosen)

    def _must_be_open(self) -> None:
        if self._closed:
            raise UsageError("The host is closed.", code=Code.HOST_CLOSED, fault=Fault.HOST, next_step="Open another host.")

    @staticmethod
    def _new_id(prefix: str) -> str:
        return f"{prefix}-{secrets.token_hex(8)}"

    def _session_receipt(self, session: str, owner: str, driver: str, event: Any, error: UesError | None) -> None:
        self._recorder.receipt(
            SessionReceipt(
                receipt_id=self._new_id("ses"),
                owner=owner,
                session=session,
                driver=driver,
                event=event,
                code=error.code if error is not None else Code.OK,
                reason=error.sentence[:500] if error is not None else "",
                at=iso(time.time()),
            )
        )

    def _patience(self, session: Session, opened: float) -> float:
        """Seconds until the session has been idle for too long or has lived its whole life, whichever is first."""
        now, limits = asyncio.get_running_loop().time(), self.settings.timeouts
        idle = limits.idle if session.idle_since is None else session.idle_since + limits.idle - now
        return max(0.0, min(idle, opened + limits.session - now))

    def _expire(self, session: Session, opened: float) -> None:
        loop = asyncio.get_running_loop()
        left = self._patience(session, opened)
        if left > 0:
            self._expiry[session.id] = loop.call_later(left, self._expire, session, opened)
            return
        task = loop.create_task(session.close())
        self._background.add(task)
        task.add_done_callback(self._background.discard)

    async def _session_closed(self, session: Session) -> None:
        _, profile = self._sessions.pop(session.id, (None, None))
        handle = self._expiry.pop(session.id, None)
        if handle is not None:
            handle.cancel()
        if profile is not None:
            await asyncio.shield(self._profiles.remove_async(profile))


@asynccontextmanager
async def open_host(
    settings: Settings | None = None, *, environ: Mapping[str, str] | None = None, **overrides: Any
) -> AsyncIterator[Host]:
    """Open a host: ``async with open_host() as host``.

    ``settings``   what :func:`ues_core.config.load_settings` built; default: built from the operator's file and the environment.
    ``environ``    the variables to read instead of this process's own.
    ``overrides``  settings by name, the highest precedence: ``driver="cdp-raw"``, ``allowed_origins=["https://example.org"]``,
                   ``browser={"headless": False}``.

    Raises ``ConfigError``, ``PluginError`` or ``LedgerError`` before anything is started. Folders that a killed host left
    behind are removed here.
    """
    variables = dict(os.environ if environ is None else environ)
    if settings is None:
        settings = load_settings(arguments=overrides, environ=variables)
    elif overrides:
        settings = override_settings(settings, overrides)
    host = await asyncio.to_thread(_build, settings, variables)
    try:
        yield host
    finally:
        await _closed_for_sure(host)


async def _closed_for_sure(host: Host) -> None:
    """Close the host even if this task is cancelled meanwhile; the cancellation goes on afterwards."""
    closing = asyncio.ensure_future(host.close())
    try:
        await asyncio.shield(closing)
    except asyncio.CancelledError:
        with contextlib.suppress(UesError):
            await closing
        raise


def _build(settings: Settings, environ: Mapping[str, str]) -> Host:
    plugins = PluginBook(settings)
    plugins.check_strict()
    hooks = load_hooks(settings)
    lexicon(hooks.risk_terms)  # compiled now: a bad term is refused at start, and the first action does not wait for it
    state = settings.state_dir
    profiles = ProfileHome(settings.profiles_dir / "temporary")
    use_state_directory(state)
    with usable(settings.profiles_dir):
        profiles.sweep()
    tags = HostTags(secrets.token_bytes)
    key = load_or_create_key(state, secrets.token_bytes)
    side_effects = {found.intent.guard_key for found in open_intents(state) if found.intent.guard_key}
    ledger = Ledger(state, key, tags.host_tag, now=time.time, entropy=secrets.token_bytes)
    try:
        bus = ObserverBus(hooks.observers)
    except BaseException:
        ledger.close(TerminalState.INTERRUPTED)
        raise
    return Host(
        settings,
        environ=environ,
        plugins=plugins,
        bus=bus,
        ledger=ledger,
        tags=tags,
        side_effects=side_effects,
        detectors=(*hooks.detectors, *([live] if (live := live_values(environ)) else [])),
        risk_terms=hooks.risk_terms,
        profiles=profiles,
        context=ContextDesk(hooks.observers),
    )
