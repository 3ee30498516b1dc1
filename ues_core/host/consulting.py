"""``host.consult``: chooses and wraps the provider, lends the consultation what it needs, closes what it opened."""

from __future__ import annotations

import asyncio
import hashlib
import os
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from pydantic import ValidationError

from ues_core.config import Settings, narrow_to_repository
from ues_core.contract import (
    ChannelKind,
    Code,
    EvidenceKind,
    EvidenceRow,
    ExtraDetector,
    Fault,
    NotSupported,
    PacketTier,
    ReasoningMode,
    UesError,
    UsageError,
)
from ues_core.host.recorder import LedgerRecorder
from ues_core.plugins import PluginBook
from ues_core.reasoning import (
    NONCE_CHARS,
    ConsultantOnly,
    Consultation,
    ConsultLimits,
    PacketInputs,
    Relay,
    Tools,
    make_channel,
)
from ues_core.session._text import iso

RELAY_FOLDER: Final = "relay"
"""Where prompts for a person are handed over when nobody names a folder; below the state directory."""
_NONCE_ALPHABET: Final = "ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz23456789"


class ConsultDesk:
    """The host's consultations."""

    def __init__(
        self, settings: Settings, plugins: PluginBook, recorder: LedgerRecorder, detectors: tuple[ExtraDetector, ...]
    ) -> None:
        self._settings = settings
        self._plugins = plugins
        self._recorder = recorder
        self._detectors = detectors
        self._open: list[Consultation] = []
        self._held = 0

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
        files: Sequence[str] = (),
        failing_log: str | None = None,
        tier: PacketTier | str | None = None,
        owner: str = "",
        model: str = "",
        relay_dir: str | os.PathLike[str] | None = None,
        relay_show: Callable[[Path, Path, str], None] | None = None,
        seconds: float | None = None,
    ) -> Consultation:
        """Hold one consultation; see ``Host.consult``."""
        settings = self._settings if repo is None else narrow_to_repository(self._settings, repo)
        wanted = self._mode(mode, settings)
        if providers is not None:
            raise NotSupported(
                "Asking several providers at once is not part of this version.",
                next_step="Ask them one after another with 'provider'.",
                details={"capability": "multi-provider"},
            )
        consultant = await self._consultant(provider, wanted, settings)
        if wanted is not ReasoningMode.OFF and self._held >= settings.budgets.consultations:
            raise UsageError(
                f"This host has used its {settings.budgets.consultations} consultations.",
                code=Code.BUDGET_EXHAUSTED,
                fault=Fault.POLICY,
                next_step="Raise budgets.consultations in the operator's configuration.",
            )
        folder = Path(relay_dir) if relay_dir is not None else self._settings.state_dir / RELAY_FOLDER
        relay = Relay(folder, show=relay_show)
        limits = ConsultLimits(follow_ups=settings.budgets.follow_ups)
        if seconds is not None:
            limits = ConsultLimits(exchange=max(0.1, min(seconds, 3_600.0)), follow_ups=settings.budgets.follow_ups)
        consultation = Consultation(
            provider=consultant,
            mode=wanted,
            inputs=PacketInputs(
                task=task,
                repo=Path(repo) if repo is not None else None,
                constraints=tuple(constraints),
                requirements=tuple(requirements),
                verification=tuple(verification),
                evidence=tuple(evidence_row(item) for item in evidence),
                questions=tuple(questions),
                failing_log=failing_log,
                files=tuple(files),
                budget=settings.packet,
                tier=PacketTier(tier) if tier is not None else None,
            ),
            tools=Tools(
                record=self._recorder.receipt,
                clock=time.monotonic,
                now=lambda: iso(time.time()),
                new_id=new_id,
                nonce=lambda: "".join(secrets.choice(_NONCE_ALPHABET) for _ in range(NONCE_CHARS)),
            ),
            open_channel=lambda: make_channel(
                consultant.info.channel if consultant is not None else ChannelKind.NONE, relay=relay
            ),
            limits=limits,
            detectors=self._detectors,
            owner=owner,
            model=model,
        )
        self._open.append(consultation)
        if wanted is not ReasoningMode.OFF:
            self._held += 1
        return await consultation.run()

    async def close(self) -> None:
        """Close every consultation; bounded by each one's own close."""
        consultations, self._open = self._open, []
        await asyncio.gather(*(c.close() for c in consultations), return_exceptions=True)

    # -- private -----------------------------------------------------------------------------------------------------

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

    async def _consultant(self, name: str | None, mode: ReasoningMode, settings: Settings) -> ConsultantOnly | None:
        """The chosen provider, wrapped. ``off`` loads none; with ``auto`` one that cannot be loaded is none."""
        chosen = self._plugins.provider_name(settings.provider if name is None else name)
        if mode is ReasoningMode.OFF or not chosen:
            return None
        try:
            return ConsultantOnly(await asyncio.to_thread(self._plugins.provider, chosen))
        except UesError:
            if name is not None or mode is ReasoningMode.FORCE:
                raise
            return None


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
