"""``ues consult``: ask for a second opinion about a task in a repository."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import click

from ues_core.cli._async import run_async
from ues_core.cli._output import FAILED, json_option, note, print_json, print_table, say

if TYPE_CHECKING:
    from ues_core.reasoning import Consultation


@click.command("consult")
@click.argument("task")
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), show_default="this folder", help="The repository.")
@click.option("--provider", metavar="NAME", help="Who is asked (ues plugins list shows them).")
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
@click.option("--relay-dir", type=click.Path(path_type=Path), help="Where a prompt is handed to a person.")
@click.option("--relay-print", is_flag=True, help="Print that prompt too (to standard error), besides its file.")
@click.option("--seconds", type=click.FloatRange(1, 3_600), help="How long one exchange may take.")
@click.option("--dry-run", is_flag=True, help="Build and show the packet and where it would go; ask nobody.")
@json_option
def command(
    task: str,
    repo: Path,
    provider: str | None,
    mode: str | None,
    constraints: tuple[str, ...],
    evidence: tuple[IO[str], ...],
    failing_log: IO[str] | None,
    files: tuple[str, ...],
    tier: str | None,
    relay_dir: Path | None,
    relay_print: bool,
    seconds: float | None,
    dry_run: bool,
    as_json: bool,
) -> int:
    """Ask for a second opinion about TASK. The answer is advice: it is checked against the repository and decides nothing.

    Exit code 0: answered, or skipped with a reason; 1: nothing usable came back.
    """
    from ues_core.reasoning.packet import INPUT_CHARS

    log = failing_log.read(INPUT_CHARS) if failing_log is not None else None
    rows = [{"evidence": "tool-output", "source": file.name, "text": file.read(INPUT_CHARS)} for file in evidence]
    if dry_run:
        return _dry_run(task, repo, provider, mode, constraints, rows, log, files, tier, as_json)

    from ues_core.config import load_settings
    from ues_core.host import open_host

    settings = load_settings(repo=repo if repo.is_dir() else None)

    async def ask() -> Consultation:
        async with open_host(settings) as host:
            return await host.consult(
                task,
                repo=repo,
                provider=provider,
                mode=mode,
                constraints=constraints,
                evidence=rows,
                failing_log=log,
                files=files,
                tier=tier,
                relay_dir=relay_dir,
                relay_show=_print_prompt if relay_print else _tell_person,
                seconds=seconds,
            )

    consultation = run_async(ask())
    from ues_core.contract import ConsultOutcome
    from ues_core.reasoning.report import consultation_report

    report = consultation_report(consultation)
    if as_json:
        print_json(report)
    else:
        _show(report)
    return 0 if consultation.outcome in (ConsultOutcome.ANSWERED, ConsultOutcome.SKIPPED) else FAILED


def _dry_run(
    task: str,
    repo: Path,
    provider: str | None,
    mode: str | None,
    constraints: tuple[str, ...],
    evidence: list[dict[str, str]],
    failing_log: str | None,
    files: tuple[str, ...],
    tier: str | None,
    as_json: bool,
) -> int:
    from ues_core.cli.packet import outbound, show_packet
    from ues_core.config import load_settings
    from ues_core.contract import EvidenceKind, EvidenceRow, PacketTier, ReasoningMode
    from ues_core.reasoning import EscalationFacts, build_packet, decide
    from ues_core.reasoning.report import packet_report

    settings = load_settings(repo=repo if repo.is_dir() else None)
    destination = provider or settings.provider or "none"
    decision = decide(ReasoningMode(mode) if mode else settings.mode, EscalationFacts(task=task))
    packet = build_packet(
        task,
        repo,
        constraints=constraints,
        evidence=[EvidenceRow(evidence=EvidenceKind.TOOL_OUTPUT, source=e["source"], text=e["text"]) for e in evidence],
        failing_log=failing_log,
        files=files,
        budget=settings.packet,
        tier=PacketTier(tier) if tier is not None else None,
    )
    prompt = outbound(packet)
    if as_json:
        would = {"escalate": decision.escalate, "basis": str(decision.basis), "reasons": list(decision.reasons)}
        print_json(
            {"dry_run": True, "provider": destination, "decision": would, "packet": packet_report(packet), "prompt": prompt}
        )
    else:
        show_packet(packet)
        say(f"It would {'be sent to' if decision.escalate else 'not be sent to'} '{destination}': {decision.reason}.")
        note("Nothing was sent. With --json the outbound text is printed too.")
    return 0


def _tell_person(prompt: Path, answer: Path, text: str) -> None:
    note(f"Give the content of {prompt} ({len(text)} characters) to the consultant,")
    note(f"then save the answer as {answer}")


def _print_prompt(prompt: Path, answer: Path, text: str) -> None:
    note(text)
    _tell_person(prompt, answer, text)


def _show(report: dict[str, Any]) -> None:
    cause = f", because of {report['cause']}" if report["cause"] else ""
    say(f"{report['outcome']}{cause}: {report['reason']} [{report['code']}]")
    if report["next_step"]:
        note(f"  Next step: {report['next_step']}")
    if report["sent"]:
        sent = report["sent"]
        filled = [s["name"] for s in sent["sections"] if s["chars"]]
        say(
            f"Sent to {report['provider']}: {sent['chars']} characters, {len(filled)} filled sections, digest {sent['digest'][:16]}"
        )
    advice = report["advice"]
    if advice is None:
        return
    say(f"\n{advice['summary']}\n")
    for title, key in (("Hypotheses", "hypotheses"), ("Approach", "approach"), ("Risks", "risks"), ("Verify", "verification")):
        for text in advice[key]:
            say(f"  {title}: {text}")
    rows = [
        (
            c["number"],
            c["kind"],
            c["path"],
            c["binding"]["status"] if c["binding"] else "",
            c["statement"] or (c["binding"] or {}).get("detail", ""),
        )
        for c in advice["claims"]
    ]
    if rows:
        print_table(("claim", "kind", "path", "binding", "what it says"), rows)
    for finding in advice["authority_findings"]:
        note(f"  Claims authority ({finding['category']}) in {finding['field']}: {finding['quote']}")
    say(f"Authority {advice['authority']}; at most {advice['action']}; confidence {advice['confidence']:.2f}, its own.")
