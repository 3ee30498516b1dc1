"""Runs the arms and says what was measured; what was not is ``None``, with a reason."""

from __future__ import annotations

import asyncio
import itertools
import secrets
import statistics
import subprocess
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from ues_core.contract import ChannelKind, ReasoningMode, UesError, UsageError
from ues_core.reasoning.ab._executor import Attempted, execute, ranked
from ues_core.reasoning.ab._tasks import TASKS, Task
from ues_core.reasoning.accuracy._scripted import Scripted, make_repository
from ues_core.reasoning.channels import make_channel
from ues_core.reasoning.consultation import Consultation
from ues_core.reasoning.inputs import ConsultLimits, PacketInputs, Tools
from ues_core.reasoning.render import NONCE_CHARS
from ues_core.reasoning.wrap import ConsultantOnly

PROVIDER: Final = "deterministic-provider-double"
EXECUTOR: Final = "deterministic-fixture"
LOCAL, ADVICE = "local", "advice"
_TOKENS: Final = "no live consultant and no model took part, so no tokens were used that could be counted"
_MEASURES: Final = (
    "verified_pass_rate",
    "false_pass_rate",
    "attempts",
    "test_runs",
    "wall_ms",
    "consultations",
    "prompt_chars",
)


async def run_bench(*, arm: str = "both", repeat: int = 1, only: Sequence[str] = ()) -> dict[str, Any]:
    """Run tasks in one arm or in both. Every run makes its own repository, gone afterwards. JSON-shaped."""
    unknown = sorted(set(only) - {task.name for task in TASKS})
    if unknown:
        raise UsageError(f"There is no task '{unknown[0]}'.", next_step=f"There are: {', '.join(t.name for t in TASKS)}.")
    arms = (LOCAL, ADVICE) if arm == "both" else (arm,)
    tasks = [task for task in TASKS if not only or task.name in only]
    runs = [await _run(task, which) for _ in range(repeat) for task in tasks for which in arms]
    summaries = {which: _summary([run for run in runs if run["arm"] == which]) for which in arms}
    complete = len(arms) == 2 and all(run["measured"] for run in runs)
    return {
        "provider": PROVIDER,
        "executor": EXECUTOR,
        "repeat": repeat,
        "arms": summaries,
        "comparison": _comparison(summaries),
        "conclusion": "measured-both-arms" if complete else "incomplete-measurement-no-conclusion",
        "readiness": "deterministic-only-no-live-claim",
        "claims_verified": False,
        "claims_reason": "no live consultant was asked; scripted advice says nothing about any model",
        "runs": runs,
    }


async def _run(task: Task, arm: str) -> dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="ues-bench-", ignore_cleanup_errors=True) as folder:
        root = Path(folder) / task.name
        shape: dict[str, Any] = {"task": task.name, "difficulty": task.difficulty, "arm": arm}
        started = time.monotonic()
        try:
            await asyncio.to_thread(make_repository, root, task.files, f"Start {task.name}")
            started = time.monotonic()
            consultation = await _consulted(task, root) if arm == ADVICE else None
            order = ranked(task, consultation.advice if consultation is not None else None)
            done = await asyncio.to_thread(execute, task, root, order)
        except (OSError, subprocess.SubprocessError, UesError) as error:
            done, consultation = Attempted((), 0, 0, "", False, None, f"{type(error).__name__} while it ran"), None
    sent = consultation.request if consultation is not None else None
    return shape | {
        "measured": done.verified is not None,
        "passed": done.passed,
        "verified_pass": done.verified,
        "false_pass": None if done.verified is None else done.passed and not done.verified,
        "attempts": done.attempts,
        "test_runs": done.test_runs,
        "order": list(done.order),
        "chosen": done.chosen,
        "wall_ms": round((time.monotonic() - started) * 1_000, 1),
        "consultations": int(sent is not None),
        "consultation": str(consultation.outcome) if consultation is not None else "",
        "code": str(consultation.code) if consultation is not None else "",
        "prompt_chars": len(sent.prompt) if sent is not None else 0,
        "tokens": None,
        "reason": done.problem or (consultation.reason if consultation is not None else ""),
    }


async def _consulted(task: Task, root: Path) -> Consultation:
    numbers = itertools.count(1)
    consultation = Consultation(
        provider=ConsultantOnly(Scripted([task.advice])),
        mode=ReasoningMode.AUTO,
        inputs=PacketInputs(task=task.text, repo=root),
        tools=Tools(
            record=lambda receipt: None,
            clock=time.monotonic,
            now=lambda: "",
            new_id=lambda prefix: f"{prefix}-{next(numbers):08}",
            nonce=lambda: secrets.token_hex(NONCE_CHARS // 2),
        ),
        open_channel=lambda: make_channel(ChannelKind.NONE),
        limits=ConsultLimits(exchange=30.0),
    )
    try:
        return await consultation.run()
    finally:
        await consultation.close()


def _summary(runs: Sequence[dict[str, Any]]) -> dict[str, Any]:
    measured = [run for run in runs if run["measured"]]
    whole = len(measured) == len(runs) and bool(runs)
    why = "" if whole else f"{len(runs) - len(measured)} of {len(runs)} runs could not be measured"
    return {
        "runs": len(runs),
        "verified_pass_rate": _rate(runs, "verified_pass") if whole else None,
        "false_pass_rate": _rate(runs, "false_pass") if whole else None,
        "attempts": sum(run["attempts"] for run in runs) if whole else None,
        "test_runs": sum(run["test_runs"] for run in runs) if whole else None,
        "wall_ms": round(statistics.median(run["wall_ms"] for run in runs), 1) if whole else None,
        "consultations": sum(run["consultations"] for run in runs),
        "prompt_chars": sum(run["prompt_chars"] for run in runs),
        "tokens": None,
        "tokens_reason": _TOKENS,
        "reason": why,
    }


def _rate(runs: Sequence[dict[str, Any]], key: str) -> float:
    return round(sum(bool(run[key]) for run in runs) / len(runs), 4)


def _comparison(summaries: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Each measure in both arms and the difference, when both were measured."""
    rows: dict[str, dict[str, Any]] = {}
    for key in _MEASURES:
        local, advice = (summaries.get(arm, {}).get(key) for arm in (LOCAL, ADVICE))
        missing = [arm for arm, value in ((LOCAL, local), (ADVICE, advice)) if value is None]
        rows[key] = {
            "local": local,
            "advice": advice,
            "delta": None if local is None or advice is None else round(advice - local, 4),
            "reason": f"not measured: {', '.join(missing)}" if missing else "",
        }
    rows["tokens"] = {"local": None, "advice": None, "delta": None, "reason": _TOKENS}
    return rows
