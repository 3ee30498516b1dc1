"""``ues consult``: ask for a second opinion about a task in a repository."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from ues_core.cli._async import run_async
from ues_core.cli._opinion import show_consultation, show_panel
from ues_core.cli._output import FAILED, json_option, note, print_json, say

if TYPE_CHECKING:
    from ues_core.config import Settings
    from ues_core.reasoning import Consultation


@click.command("consult")
@click.argument("task")
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), show_default="this folder", help="The repository.")
@click.option(
    "--provider",
    "providers",
    multiple=True,
    metavar="NAME",
    help="Who is asked (ues plugins list shows them); repeated: each is asked, and their claims are shown side by side.",
)
@click.option("--mode", type=click.Choice(["off", "auto", "force"]), help="When to ask; auto asks only on a signal.")
@click.option(
    "--constraint", "constraints", multiple=True, metavar="TEXT", help="What must or must not be; repeatable, never cut."
)
@click.option(
    "--evidence", "evidence", multiple=True, type=click.File("r", errors="replace"), help="A file of evidence; repeatable."
)
@click.option("--failing-log", type=click.File("r", errors="replace"), help="The output of a failing run.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file that must be looked at; repeatable.")
@click.option("--tier", type=click.Choice(["small", "medium", "large"]), help="The packet's size.")
@click.option(
    "--fact",
    "facts",
    multiple=True,
    metavar="NAME=VALUE",
    help="What is known beside the task's words, for mode auto: subsystems=3, verifier_retries=2, local_confidence=0.4, "
    "candidate_fixes=2, edit_sites=4, root_cause_ambiguous=true, grounded_low_risk=true, ...; repeatable.",
)
@click.option("--relay-dir", type=click.Path(path_type=Path), help="Where a prompt is handed to a person.")
@click.option("--relay-print", is_flag=True, help="Print that prompt too (to standard error), besides its file.")
@click.option("--seconds", type=click.FloatRange(1, 3_600), help="How long one exchange may take.")
@click.option("--follow-up", "earlier", metavar="ID", help="Ask TASK as one more question of this kept consultation.")
@click.option("--dry-run", is_flag=True, help="Build and show the packet and where it would go; ask nobody.")
@json_option
def command(
    task: str,
    repo: Path,
    providers: tuple[str, ...],
    mode: str | None,
    constraints: tuple[str, ...],
    evidence: tuple[IO[str], ...],
    failing_log: IO[str] | None,
    files: tuple[str, ...],
    tier: str | None,
    facts: tuple[str, ...],
    relay_dir: Path | None,
    relay_print: bool,
    seconds: float | None,
    earlier: str | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Ask for a second opinion about TASK. The answer is advice: it is checked against the repository and decides nothing.

    Exit code 0: answered, or skipped with a reason; 1: nothing usable came back.
    """
    from ues_core.config import load_settings
    from ues_core.reasoning.packet import INPUT_CHARS

    settings = load_settings(repo=repo if repo.is_dir() else None)
    known = _facts(facts)
    log = failing_log.read(INPUT_CHARS + 1) if failing_log is not None else None
    rows = [{"evidence": "tool-output", "source": file.name, "text": file.read(INPUT_CHARS + 1)} for file in evidence]
    if dry_run and earlier is None:
        return _dry_run(settings, task, repo, providers, mode, constraints, rows, log, files, tier, known, as_json)

    from ues_core.cli._packets import ignored_here, show_ignored
    from ues_core.contract import ConsultOutcome
    from ues_core.host import open_host
    from ues_core.reasoning.panel import Panel
    from ues_core.reasoning.report import consultation_report, panel_report

    if earlier is not None:
        _only_a_question(providers, mode, constraints, files, tier, log, facts, dry_run)
    show: dict[str, Any] = {
        "relay_dir": relay_dir,
        "relay_show": _print_prompt if relay_print else _tell_person,
        "seconds": seconds,
    }
    first: dict[str, Any] = {
        "mode": mode,
        "constraints": constraints,
        "failing_log": log,
        "files": files,
        "tier": tier,
        "facts": known,
        **({"providers": providers} if len(providers) > 1 else {"provider": providers[0] if providers else None}),
    }

    async def ask() -> tuple[ConsultOutcome | None, bool, dict[str, Any]]:
        async with open_host(settings) as host:
            opinion: Consultation | Panel = (
                await host.follow_up(earlier, task, repo=repo, evidence=rows, **show)
                if earlier is not None
                else await host.consult(task, repo=repo, evidence=rows, **first, **show)
            )
        several = isinstance(opinion, Panel)
        return opinion.outcome, several, panel_report(opinion) if isinstance(opinion, Panel) else consultation_report(opinion)

    if not as_json:
        show_ignored(settings)
    outcome, several, report = run_async(ask())
    if as_json:
        print_json(report | {"ignored": ignored_here(settings)})
    elif several:
        show_panel(report)
    else:
        show_consultation(report)
    return 0 if outcome in (ConsultOutcome.ANSWERED, ConsultOutcome.SKIPPED) else FAILED


def _only_a_question(
    providers: tuple[str, ...],
    mode: str | None,
    constraints: tuple[str, ...],
    files: tuple[str, ...],
    tier: str | None,
    log: str | None,
    facts: tuple[str, ...],
    dry_run: bool,
) -> None:
    """A follow-up goes on with what was asked: nothing of that can be changed any more."""
    given = {
        "--provider": providers,
        "--mode": mode,
        "--constraint": constraints,
        "--file": files,
        "--tier": tier,
        "--failing-log": log,
        "--fact": facts,
        "--dry-run": dry_run,
    }
    wrong = [option for option, value in given.items() if value]
    if wrong:
        raise click.UsageError(f"--follow-up takes no {wrong[0]}: the conversation has its own. New facts go into --evidence.")


def _facts(given: tuple[str, ...]) -> dict[str, Any]:
    """``NAME=VALUE`` pairs; what the values must be is checked where they are used."""
    facts: dict[str, Any] = {}
    for pair in given:
        name, equals, value = pair.partition("=")
        if not equals or not name.strip():
            raise click.UsageError(f"--fact is NAME=VALUE, not '{pair[:60]}'.")
        facts[name.strip()] = value.strip().split(",") if name.strip() == "declared" else value.strip()
    return facts


def _dry_run(
    settings: Settings,
    task: str,
    repo: Path,
    providers: tuple[str, ...],
    mode: str | None,
    constraints: tuple[str, ...],
    evidence: list[dict[str, str]],
    failing_log: str | None,
    files: tuple[str, ...],
    tier: str | None,
    facts: dict[str, Any],
    as_json: bool,
) -> int:
    from ues_core.cli._packets import ignored_here, outbound, packet_for, show_ignored
    from ues_core.cli.packet import show_packet
    from ues_core.contract import EvidenceKind, EvidenceRow, PacketTier, ReasoningMode
    from ues_core.host.arguments import escalation_facts
    from ues_core.host.providing import destination
    from ues_core.reasoning import decide
    from ues_core.reasoning.report import destination_of, packet_report

    decision = decide(ReasoningMode(mode) if mode else settings.mode, escalation_facts(task, facts))
    names = providers or ((settings.provider,) if settings.provider else ())
    destinations = [run_async(destination(settings, name)) for name in names if name != "none"] or [destination_of(None)]
    packet, detectors = packet_for(
        settings,
        task,
        repo,
        constraints=constraints,
        evidence=[EvidenceRow(evidence=EvidenceKind.TOOL_OUTPUT, source=e["source"], text=e["text"]) for e in evidence],
        failing_log=failing_log,
        files=files,
        tier=PacketTier(tier) if tier is not None else None,
    )
    prompt = outbound(packet, detectors)
    if as_json:
        would = {
            "escalate": decision.escalate,
            "basis": str(decision.basis),
            "signals": [str(signal) for signal in decision.signals],
            "skips": [str(skip) for skip in decision.skips],
            "reasons": list(decision.reasons),
        }
        print_json(
            {
                "dry_run": True,
                "provider": ", ".join(names) or "none",
                "destination": destinations,
                "decision": would,
                "packet": packet_report(packet),
                "ignored": ignored_here(settings),
                "prompt": prompt,
            }
        )
        return 0
    show_ignored(settings)
    show_packet(packet)
    for place in destinations:
        say(f"It would {'' if decision.escalate else 'not '}be sent to {place} ({decision.reason})")
    note("Nothing was sent. Exactly this would leave, with another nonce:")
    say(prompt)
    return 0


def _tell_person(prompt: Path, answer: Path, text: str) -> None:
    note(f"Give the content of {prompt} ({len(text)} characters) to the consultant,")
    note(f"then save the answer as {answer}")


def _print_prompt(prompt: Path, answer: Path, text: str) -> None:
    note(text)
    _tell_person(prompt, answer, text)
