"""``ues validate``: hold the kit itself to what it promises."""

from __future__ import annotations

import click

from ues_core.cli._async import run_async
from ues_core.cli._output import FAILED, json_option, print_json, print_table, say


@click.group("validate")
def command() -> None:
    """Hold the kit itself to what it promises."""


@command.command("accuracy")
@click.option("--case", "names", multiple=True, metavar="NAME", help="Only this case; repeatable.")
@json_option
def accuracy(names: tuple[str, ...], as_json: bool) -> int:
    """Judge known answers, right and wrong ones, and say of each whether the judgement was the right one.

    Every case makes a small git repository of its own and runs a whole consultation with a scripted consultant; nobody else is
    asked. Exit code 0: every judgement was right; 1: at least one was not.
    """
    from ues_core.contract import UsageError
    from ues_core.reasoning.accuracy import SEED_CASES, all_cases, run_cases

    cases = all_cases()
    unknown = sorted(set(names) - {case.name for case in cases})
    if unknown:
        raise UsageError(f"There is no case '{unknown[0]}'.", next_step="Run it without --case to see their names.")
    chosen = [case for case in cases if not names or case.name in names]
    verdicts = run_async(run_cases(chosen))
    wrong = [verdict for verdict in verdicts if not verdict.ok]
    if as_json:
        seeds = {case.name for case in SEED_CASES}
        print_json(
            {
                "ok": not wrong,
                "provider": "deterministic-provider-double",
                "cases": len(verdicts),
                "failed": len(wrong),
                "seed_cases": sum(verdict.name in seeds for verdict in verdicts),
                "verdicts": verdicts,
            }
        )
    else:
        rows = [("ok" if v.ok else "WRONG", v.name, v.outcome, v.code, v.about) for v in verdicts]
        print_table(("judged", "case", "outcome", "code", "what it is"), rows)
        for verdict in wrong:
            say(f"{verdict.name}: {'; '.join(verdict.problems)}")
        say(f"{len(verdicts) - len(wrong)} of {len(verdicts)} judged as they must be (scripted consultant).")
    return FAILED if wrong else 0
