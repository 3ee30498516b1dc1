"""``ues bench``: measure what a second opinion is worth."""

from __future__ import annotations

from typing import Any

import click

from ues_core.cli._async import run_async
from ues_core.cli._output import FAILED, json_option, print_json, print_table, say


@click.group("bench")
def command() -> None:
    """Measure; claim nothing that was not measured."""


@command.command("reasoning")
@click.option(
    "--arm", type=click.Choice(["local", "advice", "both"]), default="both", show_default=True, help="Which arm runs."
)
@click.option("--repeat", type=click.IntRange(1, 50), default=1, show_default=True, help="How often every task is run.")
@click.option("--task", "names", multiple=True, metavar="NAME", help="Only this task; repeatable.")
@click.option("--live", is_flag=True, help="Ask a real consultant. Refused: this version has no live run.")
@json_option
def reasoning(arm: str, repeat: int, names: tuple[str, ...], live: bool, as_json: bool) -> int:
    """Compare working alone with working after a second opinion, by running each task's own tests.

    The consultant and the executor are scripted and labelled so: this shows that the pipeline measures, not that any model
    helps. What cannot be measured is null, with a reason. Exit code 1: an arm could not be measured.
    """
    from ues_core.contract import NotSupported
    from ues_core.reasoning.ab import run_bench

    if live:
        raise NotSupported(
            "A live benchmark is not part of this version: no live consultant can be asked unattended.",
            next_step="Run it without --live; its numbers are labelled as those of a scripted consultant.",
            details={"capability": "live-benchmark"},
        )
    report = run_async(run_bench(arm=arm, repeat=repeat, only=names))
    if as_json:
        print_json(report)
    else:
        _show(report)
    return 0 if all(row["measured"] for row in report["runs"]) else FAILED


def _show(report: dict[str, Any]) -> None:
    runs = [
        (r["task"], r["arm"], "yes" if r["verified_pass"] else "no", r["attempts"], r["consultation"] or "-", r["reason"])
        for r in report["runs"]
    ]
    print_table(("task", "arm", "verified", "attempts", "consultation", "note"), runs)
    rows = []
    for key, row in report["comparison"].items():
        rows.append((key, _cell(row["local"]), _cell(row["advice"]), _cell(row["delta"]), row["reason"]))
    print_table(("measure", "local", "advice", "delta", "why not"), rows)
    say(f"{report['provider']}, executor {report['executor']}: {report['conclusion']}")
    say(f"Claims verified: {str(report['claims_verified']).lower()} ({report['claims_reason']})")


def _cell(value: object) -> str:
    return "null" if value is None else f"{value:g}" if isinstance(value, float) else str(value)
