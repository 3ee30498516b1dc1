"""Runs cases: a real repository in a temporary folder, the real consultation, a scripted consultant."""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import secrets
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from ues_core.contract import (
    AdviceAction,
    Authority,
    ChannelKind,
    ConsultOutcome,
    ConsultReceipt,
    EvidenceKind,
    EvidenceRow,
    UesError,
)
from ues_core.reasoning.accuracy._case import SHOP, Case, CaseVerdict, Expect
from ues_core.reasoning.accuracy._scripted import Scripted, make_repository
from ues_core.reasoning.channels import make_channel
from ues_core.reasoning.consultation import Consultation
from ues_core.reasoning.escalate import EscalationFacts
from ues_core.reasoning.inputs import ConsultLimits, PacketInputs, Tools
from ues_core.reasoning.render import NONCE_CHARS
from ues_core.reasoning.wrap import ConsultantOnly

CASE_SECONDS: Final = 60.0
"""One case, at most; on an idle machine one takes well under a second."""
AT_ONCE: Final = 4


async def run_cases(cases: Sequence[Case]) -> tuple[CaseVerdict, ...]:
    """Run cases, a few at a time; verdicts in the cases' order. Never raises for what a case does."""
    turn = asyncio.Semaphore(AT_ONCE)

    async def one(case: Case) -> CaseVerdict:
        async with turn:
            return await run_case(case)

    return tuple(await asyncio.gather(*(one(case) for case in cases)))


async def run_case(case: Case) -> CaseVerdict:
    """Run one case in a temporary folder that is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="ues-accuracy-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / "shop"
        try:
            async with asyncio.timeout(CASE_SECONDS):
                await asyncio.to_thread(_prepare, case, root)
                return await _held(case, root)
        except TimeoutError:
            return CaseVerdict(name=case.name, about=case.about, ok=False, problems=(f"took more than {CASE_SECONDS:g} s",))
        except (OSError, subprocess.SubprocessError) as error:
            problem = f"its repository could not be made: {type(error).__name__}"
            return CaseVerdict(name=case.name, about=case.about, ok=False, problems=(problem,))


async def _held(case: Case, root: Path) -> CaseVerdict:
    provider = Scripted(
        [case.answer, *([case.follow_up.answer] if case.follow_up is not None else [])],
        raw=case.raw,
        wrap=case.wrap,
        meanwhile=(lambda: meanwhile(root)) if (meanwhile := case.meanwhile) is not None else None,
    )
    receipts: list[ConsultReceipt] = []
    numbers = itertools.count(1)
    consultation = Consultation(
        provider=ConsultantOnly(provider),
        mode=case.mode,
        inputs=PacketInputs(task=case.task, repo=root),
        tools=Tools(
            record=receipts.append,
            clock=time.monotonic,
            now=lambda: "2026-01-01T00:00:00Z",
            new_id=lambda prefix: f"{prefix}-{next(numbers):08}",
            nonce=lambda: secrets.token_hex(NONCE_CHARS // 2),
        ),
        open_channel=lambda: make_channel(ChannelKind.NONE),
        facts=EscalationFacts(task=case.task, subsystems=case.subsystems),
        limits=ConsultLimits(exchange=CASE_SECONDS / 3),
    )
    problems: list[str] = []
    try:
        with contextlib.suppress(UesError):
            await consultation.run()
        problems += _problems(case.expect, consultation, provider)
        if case.follow_up is not None and not problems:
            more = case.follow_up
            row = EvidenceRow(evidence=EvidenceKind.FAILED_OUTPUT, source="pytest", text=more.evidence)
            await consultation.follow_up(more.question, evidence=[row])
            problems += _problems(more.expect, consultation, provider)
            if consultation.delta is None or "original-task" in consultation.delta.sent:
                problems.append("the follow-up sent what had not changed")
    except UesError as error:
        problems.append(f"raised {error.code}: {error.sentence}"[:300])
    finally:
        await consultation.close()
    if len(receipts) != case.expect.receipts + (case.follow_up is not None):
        problems.append(f"{len(receipts)} receipts")
    for word in case.prompt_lacks:
        if any(word in prompt for prompt in provider.prompts):
            problems.append(f"sent {word[:20]!r}...")
    advice = consultation.advice
    return CaseVerdict(
        name=case.name,
        about=case.about,
        ok=not problems,
        outcome=str(consultation.outcome),
        code=str(consultation.code),
        bindings=tuple(str(b.status) for b in advice.bindings) if advice is not None else (),
        problems=tuple(problems),
    )


def _problems(expect: Expect, consultation: Consultation, provider: Scripted) -> list[str]:
    """Everything that is not as it must be, in this case and in every case."""
    advice = consultation.advice
    found: list[tuple[str, object, object]] = [
        ("outcome", expect.outcome, consultation.outcome),
        ("code", expect.code, consultation.code),
        ("exchanges", expect.exchanges, len(provider.prompts)),
    ]
    if expect.cause is not None:
        found.append(("cause", expect.cause, consultation.cause))
    bindings = tuple(str(b.status) for b in advice.bindings) if advice is not None else ()
    if expect.bindings is not None:
        found.append(("bindings", expect.bindings, bindings))
    if expect.categories:
        seen = set(consultation.receipts[-1].authority_claims)
        found.append(("authority claims", (), tuple(sorted(set(expect.categories) - seen))))
    if expect.unknown_keys:
        found.append(("unknown keys", expect.unknown_keys, advice.unknown_keys if advice is not None else ()))
    if advice is not None:
        usable = advice.action is AdviceAction.IMPLEMENT_THEN_VERIFY
        found += [
            ("can produce a pass", False, advice.can_produce_pass),
            ("is a verdict", False, advice.is_task_verdict),
            ("authority", Authority.CONSULTANT_ONLY, advice.authority),
            ("may be implemented", consultation.outcome is ConsultOutcome.ANSWERED, usable),
            ("every claim is bound", len(advice.claims), len(advice.bindings)),
        ]
    for prompt, nonce in zip(provider.prompts, provider.nonces, strict=True):
        found += [
            ("opened frames", 1, prompt.count(f"<<<UES DATA {nonce}")),
            ("closed frames", 1, prompt.count(f"UES DATA {nonce}>>>")),
        ]
    return [f"{what}: expected {wanted}, got {got}" for what, wanted, got in found if wanted != got]


def _prepare(case: Case, root: Path) -> None:
    make_repository(root, {**SHOP, **case.files}, case.commit)
    if case.prepare is not None:
        case.prepare(root)
