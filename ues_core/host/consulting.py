"""``host.consult``: chooses and wraps the providers, lends the consultation what it needs, closes what it opened."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ues_core.config import Settings, narrow_to_repository
from ues_core.contract import (
    ChannelKind,
    Code,
    ConsultReceipt,
    EvidenceKind,
    EvidenceRow,
    ExtraDetector,
    Fault,
    PacketTier,
    PluginKind,
    ProviderInfo,
    ReasoningMode,
    UesError,
    UsageError,
)
from ues_core.host.arguments import escalation_facts
from ues_core.host.providing import ProviderShelf
from ues_core.host.recorder import LedgerRecorder
from ues_core.host.trust import TrustBook
from ues_core.plugins import ContextDesk, PluginBook
from ues_core.policy.approvals import ApprovalBook
from ues_core.reasoning import (
    NONCE_CHARS,
    ConsultantOnly,
    Consultation,
    ConsultLimits,
    EscalationFacts,
    PacketInputs,
    Relay,
    Tools,
    decide,
    make_channel,
)
from ues_core.reasoning.channels import Channel
from ues_core.reasoning.history import (
    HistoryStore,
    Identity,
    KeptConsultation,
    KeptPanel,
    check_resumable,
    earlier_attempts,
    kept_of,
    repository_identity,
    resumed,
)
from ues_core.reasoning.packet import PacketCache
from ues_core.reasoning.panel import PANEL_MOST, Panel
from ues_core.reasoning.report import destination_of
from ues_core.reasoning.reuse import AnswerShelf
from ues_core.session._text import iso

RELAY_FOLDER: Final = "relay"
"""Where prompts for a person are handed over when nobody names a folder; below the state directory."""


@dataclass(frozen=True, slots=True)
class _Wish:
    """One call of ``consult``, read: the same for everybody who is asked."""

    inputs: PacketInputs
    mode: ReasoningMode
    settings: Settings
    limits: ConsultLimits
    relay: Relay
    new_id: Callable[[str], str]
    facts: EscalationFacts
    owner: str = ""
    model: str = ""
    panel: str = ""
    reuse: bool = True


class ConsultDesk:
    """The host's consultations."""

    def __init__(
        self,
        settings: Settings,
        plugins: PluginBook,
        recorder: LedgerRecorder,
        detectors: tuple[ExtraDetector, ...],
        approvals: ApprovalBook,
        context: ContextDesk,
    ) -> None:
        self._settings = settings
        self._plugins = plugins
        self._recorder = recorder
        self._detectors = detectors
        self._shelf = ProviderShelf(settings, plugins)
        self._trust = TrustBook(settings.state_dir)
        self._approvals = approvals
        self._context = context
        self._packets = PacketCache()
        self._answers = AnswerShelf()
        self._open: list[Consultation] = []
        self._held = 0
        self.history = HistoryStore(settings.state_dir, detectors=detectors)
        """What was kept of consultations, also of earlier hosts."""

    async def consult(
        self,
        task: str,
        *,
        repo: str | os.PathLike[str] | None,
        provider: str | None,
        providers: Sequence[str] | None,
        mode: ReasoningMode | str | None,
        constraints: Sequence[str],
        evidence: Sequence[Any],
        new_id: Callable[[str], str],
        requirements: Sequence[str] = (),
        verification: Sequence[str] = (),
        questions: Sequence[str] = (),
        attempts: Sequence[str] = (),
        facts: Mapping[str, Any] | None = None,
        reuse: bool = True,
        files: Sequence[str] = (),
        failing_log: str | None = None,
        tier: PacketTier | str | None = None,
        owner: str = "",
        model: str = "",
        relay_dir: str | os.PathLike[str] | None = None,
        relay_show: Callable[[Path, Path, str], None] | None = None,
        seconds: float | None = None,
    ) -> Consultation | Panel:
        """Hold one consultation, or one with each of ``providers``; see ``Host.consult``."""
        settings = self._settings if repo is None else narrow_to_repository(self._settings, repo)
        root = Path(repo) if repo is not None else None
        chosen, known = self._mode(mode, settings), escalation_facts(task, facts)
        ask = decide(chosen, known).escalate
        wish = _Wish(
            inputs=PacketInputs(
                task=task,
                repo=root,
                constraints=tuple(constraints),
                requirements=tuple(requirements),
                verification=tuple(verification),
                evidence=tuple(evidence_row(item) for item in evidence),
                questions=tuple(questions),
                attempts=tuple(attempts),
                history=await asyncio.to_thread(earlier_attempts, self._settings.state_dir, root) if ask else (),
                failing_log=failing_log,
                files=tuple(files),
                budget=settings.packet,
                tier=PacketTier(tier) if tier is not None else None,
            ),
            mode=chosen,
            facts=known,
            settings=settings,
            limits=_limits(settings, seconds),
            relay=self._relay(relay_dir, relay_show),
            new_id=new_id,
            owner=owner,
            model=model,
            reuse=reuse,
        )
        if providers is not None:
            return await self._panel(_several(providers, provider), replace(wish, panel=new_id("pan")))
        consultant = await self._consultant(provider, wish.mode, settings)
        self._spend(wish, 1)
        consultation = await self._prepared(consultant, wish).run()
        self._held -= bool(consultation.reused)
        return consultation

    async def follow_up(
        self,
        consultation_id: str,
        question: str,
        *,
        repo: str | os.PathLike[str] | None,
        evidence: Sequence[Any],
        new_id: Callable[[str], str],
        owner: str = "",
        relay_dir: str | os.PathLike[str] | None = None,
        relay_show: Callable[[Path, Path, str], None] | None = None,
        seconds: float | None = None,
    ) -> Consultation:
        """Go on with a consultation, also with one of an earlier host; see ``Host.follow_up``."""
        rows = tuple(evidence_row(item) for item in evidence)
        mine = next((c for c in self._open if c.id == consultation_id and c.session_handle), None)
        if mine is not None and mine.receipts[-1].owner == owner:
            if mine.provider_info is not None:  # trust may have been taken back since
                self._trust.require(mine.provider_info, self._identity(mine.provider).distribution)
            return await mine.follow_up(question, evidence=rows)
        kept = await asyncio.to_thread(self.history.get, consultation_id)
        if kept.owner != owner:
            raise UsageError(
                f"There is no consultation '{consultation_id}' of this owner.",
                code=Code.CONSULTATION_UNKNOWN,
                next_step="Ask as the owner who started it.",
            )
        settings = self._settings if repo is None else narrow_to_repository(self._settings, repo)
        if settings.mode is ReasoningMode.OFF:
            raise UsageError("Consulting is switched off here.", fault=Fault.POLICY, next_step="Set mode to auto or force.")
        root = Path(repo) if repo is not None else None
        identity = self._identity(kept.provider.name) if kept.provider.name else Identity(name="")
        resume = await asyncio.to_thread(check_resumable, kept, provider=identity, root=root, now=time.time())
        consultant = await self._consultant(kept.provider.name, ReasoningMode.FORCE, settings)
        assert isinstance(consultant, ConsultantOnly)
        relay = self._relay(relay_dir, relay_show)
        keeper = _Keeper(self.history, identity, destination_of(consultant.info), root, earlier=kept)
        consultation = resumed(
            kept,
            resume,
            provider=consultant,
            root=root,
            tools=self._tools(new_id, keeper, root, reuse=False),
            open_channel=lambda: self._way_out(consultant.info, identity, relay),
            limits=_limits(settings, seconds),
            detectors=self._detectors,
            owner=owner,
        )
        keeper.consultation = consultation
        self._open.append(consultation)
        return await consultation.resume_and_ask(question, evidence=rows)

    async def close(self) -> None:
        """Close every consultation; bounded by each one's own close."""
        consultations, self._open = self._open, []
        await asyncio.gather(*(c.close() for c in consultations), return_exceptions=True)
        await self._shelf.close()

    # -- private -----------------------------------------------------------------------------------------------------

    async def _panel(self, names: Sequence[str], wish: _Wish) -> Panel:
        """Ask everybody at the same time, each for itself: what one of them does or fails to do is its own."""
        if wish.mode is not ReasoningMode.OFF:
            for name in names:
                self._identity(name)  # a name that nobody has is a mistake of the caller, before anybody is asked
        self._spend(wish, len(names))
        parts: dict[str, Consultation] = {}
        failed: dict[str, UesError] = {}

        async def ask(name: str) -> None:
            try:
                consultant = await self._consultant(name, wish.mode, wish.settings)
                parts[name] = self._prepared(consultant, wish)
                await parts[name].run()
            except UesError as error:
                failed[name] = error

        # everybody is waited for, also when one of them failed in a way that nobody foresaw
        results = await asyncio.gather(*(ask(name) for name in names), return_exceptions=True)
        for result in results:
            if result is not None:
                raise result
        panel = Panel(wish.panel, [parts[name] for name in names if name in parts], mode=wish.mode, failed=failed)
        if len(failed) == len(names):
            raise failed[names[0]]
        kept = KeptPanel(
            panel=panel.id,
            task=wish.inputs.task[:2_000],
            parts=tuple(part.id for part in panel.parts),
            failed={name: error.sentence for name, error in failed.items()},
            changed_at=time.time(),
        )
        with contextlib.suppress(OSError):
            await asyncio.to_thread(self.history.keep, kept)
        return panel

    def _prepared(self, consultant: ConsultantOnly | UesError | None, wish: _Wish) -> Consultation:
        info = consultant.info if isinstance(consultant, ConsultantOnly) else None
        identity = self._identity(info.name) if info is not None else Identity(name="")
        keeper = _Keeper(self.history, identity, destination_of(info), wish.inputs.repo, panel=wish.panel)
        consultation = Consultation(
            provider=consultant,
            mode=wish.mode,
            inputs=wish.inputs,
            tools=self._tools(wish.new_id, keeper, wish.inputs.repo, reuse=wish.reuse),
            open_channel=lambda: self._way_out(info, identity, wish.relay),
            limits=wish.limits,
            detectors=self._detectors,
            facts=wish.facts,
            owner=wish.owner,
            model=wish.model,
        )
        keeper.consultation = consultation
        self._open.append(consultation)
        return consultation

    def _tools(self, new_id: Callable[[str], str], keeper: _Keeper, root: Path | None, *, reuse: bool) -> Tools:
        def record(receipt: ConsultReceipt) -> None:
            self._recorder.receipt(receipt)
            keeper.keep()

        return Tools(
            record=record,
            clock=time.monotonic,
            now=lambda: iso(time.time()),
            new_id=new_id,
            nonce=lambda: secrets.token_hex(NONCE_CHARS // 2),
            repository=repository_identity(root),
            provider=keeper.provider,
            answers=self._answers if reuse else None,
            packets=self._packets,
            collect=self._context.collect if self._context else None,
            approvals=self._approvals,
        )

    def _spend(self, wish: _Wish, count: int) -> None:
        if not decide(wish.mode, wish.facts).escalate:
            return  # nobody will be asked, and an easy task says so instead of speaking of budgets
        allowed = self._settings.budgets.consultations
        if self._held + count > allowed:
            raise UsageError(
                f"This host has used {self._held} of its {allowed} consultations; {count} more are too many.",
                code=Code.BUDGET_EXHAUSTED,
                fault=Fault.POLICY,
                next_step="Raise budgets.consultations in the operator's configuration.",
            )
        self._held += count

    def _relay(self, folder: str | os.PathLike[str] | None, show: Callable[[Path, Path, str], None] | None) -> Relay:
        return Relay(Path(folder) if folder is not None else self._settings.state_dir / RELAY_FOLDER, show=show)

    def _way_out(self, info: ProviderInfo | None, identity: Identity, relay: Relay) -> Channel:
        """The channel of a provider whose destination the operator agreed to; asked anew for each consultation."""
        if info is None:
            return make_channel(ChannelKind.NONE)
        self._trust.require(info, identity.distribution)
        return make_channel(info.channel, relay=relay)

    def _identity(self, name: str) -> Identity:
        row = self._plugins.locate(PluginKind.PROVIDER, name)
        return Identity(name=name, distribution=row.distribution, version=row.version, entry_point=row.entry_point)

    @staticmethod
    def _mode(mode: ReasoningMode | str | None, settings: Settings) -> ReasoningMode:
        if mode is None:
            return settings.mode
        try:
            return ReasoningMode(mode)
        except ValueError:
            raise UsageError(
                f"mode={mode!r} is not one of {', '.join(ReasoningMode)}.", next_step="Pass 'off', 'auto' or 'force'."
            ) from None

    async def _consultant(self, name: str | None, mode: ReasoningMode, settings: Settings) -> ConsultantOnly | UesError | None:
        """The chosen provider, wrapped. ``off`` loads none; with ``auto`` one of the settings that cannot be loaded is why."""
        chosen = self._plugins.provider_name(settings.provider if name is None else name)
        if mode is ReasoningMode.OFF or not chosen:
            return None
        try:
            return ConsultantOnly(await self._shelf.get(chosen))
        except UesError as error:
            if name is not None or mode is ReasoningMode.FORCE:
                raise
            return error


class _Keeper:
    """Keeps one consultation after each of its exchanges. A history that cannot be written stops nobody's work."""

    def __init__(
        self,
        store: HistoryStore,
        identity: Identity,
        destination: str,
        root: Path | None,
        *,
        earlier: KeptConsultation | None = None,
        panel: str = "",
    ) -> None:
        self._store = store
        self._identity = identity
        self._destination = destination
        self._repository = repository_identity(root)
        self._kept = earlier
        self._panel = panel
        self.provider = f"{identity.distribution} {identity.version} {identity.entry_point}"
        """Which installed provider it is about."""
        self.consultation: Consultation | None = None

    def keep(self) -> None:
        """Write what there is now."""
        if self.consultation is None:
            return
        self._kept = kept_of(
            self.consultation,
            provider=self._identity,
            destination=self._destination,
            repository=self._repository,
            now=time.time(),
            earlier=self._kept,
            panel=self._panel,
        )
        with contextlib.suppress(OSError):
            self._store.keep(self._kept)


def _limits(settings: Settings, seconds: float | None) -> ConsultLimits:
    limits = ConsultLimits(follow_ups=settings.budgets.follow_ups, evidence_rounds=settings.budgets.evidence_rounds)
    return limits if seconds is None else replace(limits, exchange=max(0.1, min(seconds, 3_600.0)))


def _several(providers: Sequence[str], provider: str | None) -> tuple[str, ...]:
    names = tuple(providers)
    wrong = (
        "both 'provider' and 'providers' were given"
        if provider is not None
        else "'providers' is one text, not a list of names"
        if isinstance(providers, str)
        else f"{len(names)} providers were named; a panel has 1 to {PANEL_MOST}"
        if not 1 <= len(names) <= PANEL_MOST
        else "a provider is named twice, and one that agrees with itself proves nothing"
        if len(set(names)) != len(names)
        else ""
    )
    if wrong:
        raise UsageError(f"This panel cannot be asked: {wrong}.", next_step="Name different installed providers.")
    return names


def evidence_row(item: Any) -> EvidenceRow:
    """Evidence as a row: a row, a mapping with its fields, or plain text (kind ``tool-output``)."""
    if isinstance(item, EvidenceRow):
        return item
    try:
        if isinstance(item, str):
            return EvidenceRow(
                evidence=EvidenceKind.TOOL_OUTPUT, source="host", text=item, digest=hashlib.sha256(item.encode()).hexdigest()
            )
        if isinstance(item, Mapping):
            return EvidenceRow.model_validate({"kind": "evidence", **item})
    except (ValidationError, UnicodeEncodeError) as error:
        raise UsageError(
            f"A piece of evidence is wrong: {type(error).__name__}.", next_step="Pass text, or {'evidence': kind, 'text': ...}."
        ) from error
    raise UsageError(
        f"Evidence is text, a mapping or a row, not {type(item).__name__}.",
        next_step="Pass text, or {'evidence': kind, 'text': ...}.",
    )
