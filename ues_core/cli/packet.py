"""``ues packet``: build a decision packet and show what would be sent."""

from __future__ import annotations

from pathlib import Path
from typing import IO, TYPE_CHECKING

import click

from ues_core.cli._output import json_option, note, print_json, print_table, say

if TYPE_CHECKING:
    from ues_core.config import Settings
    from ues_core.contract import Packet


@click.group("packet")
def command() -> None:
    """Look at decision packets before anything is sent."""


@command.command("build")
@click.option("--task", required=True, help="What is to be done, in a sentence or more.")
@click.option("--repo", type=click.Path(path_type=Path), default=Path(), show_default="this folder", help="The repository.")
@click.option(
    "--constraint", "constraints", multiple=True, metavar="TEXT", help="What must or must not be; repeatable, never cut."
)
@click.option("--requirement", "requirements", multiple=True, metavar="TEXT", help="What is required; repeatable, never cut.")
@click.option("--verification", "verification", multiple=True, metavar="TEXT", help="How it will be verified; repeatable.")
@click.option("--question", "questions", multiple=True, metavar="TEXT", help="An open question; repeatable.")
@click.option("--failing-log", type=click.File("r", errors="replace"), help="The output of a failing run.")
@click.option("--file", "files", multiple=True, metavar="PATH", help="A file that must be looked at; repeatable.")
@click.option("--tier", type=click.Choice(["small", "medium", "large"]), help="The size; the facts decide without one.")
@click.option("--prompt", "show_prompt", is_flag=True, help="Print the outbound text itself.")
@click.option(
    "--dry-run",
    is_flag=True,
    help="Only say what would be in it, how large, what was left out and where it would go; print no content.",
)
@json_option
def build(
    task: str,
    repo: Path,
    constraints: tuple[str, ...],
    requirements: tuple[str, ...],
    verification: tuple[str, ...],
    questions: tuple[str, ...],
    failing_log: IO[str] | None,
    files: tuple[str, ...],
    tier: str | None,
    show_prompt: bool,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Build a packet from a repository and show its sections. Nothing is sent, with or without --dry-run."""
    from ues_core.cli._packets import outbound, packet_for, show_ignored
    from ues_core.config import load_settings
    from ues_core.contract import PacketTier
    from ues_core.reasoning.packet import INPUT_CHARS
    from ues_core.reasoning.report import packet_report

    if dry_run and show_prompt:
        raise click.UsageError("--dry-run prints no content, and --prompt is the content.")
    settings = load_settings(repo=repo if repo.is_dir() else None)
    packet, detectors = packet_for(
        settings,
        task,
        repo,
        constraints=constraints,
        requirements=requirements,
        verification=verification,
        questions=questions,
        failing_log=failing_log.read(INPUT_CHARS + 1) if failing_log is not None else None,
        files=files,
        tier=PacketTier(tier) if tier is not None else None,
    )
    prompt = outbound(packet, detectors)  # scanned in every case: a packet that could not be sent is not one
    if as_json:
        content = [section.model_dump(mode="json") for section in packet.sections]
        shape = packet_report(packet) | ({"prompt": prompt} if show_prompt else {})
        if dry_run:
            shape |= {"dry_run": True, "destination": _destination(settings)}
        elif not show_prompt:
            shape |= {"content": content}
        print_json(shape)
        return
    show_ignored(settings)
    if show_prompt:
        say(prompt)
        return
    show_packet(packet)
    if dry_run:
        say(f"It would be sent to {_destination(settings)}. Nothing was sent, and no content is shown: --prompt shows it.")


def _destination(settings: Settings) -> str:
    from ues_core.cli._async import run_async
    from ues_core.host.providing import destination
    from ues_core.reasoning.report import destination_of

    name = settings.provider
    return run_async(destination(settings, name)) if name and name != "none" else destination_of(None)


def show_packet(packet: Packet) -> None:
    """Print a packet's sections, which hook packages added to it, and what was left out."""
    rows = [(r.name, f"{r.kept}/{r.rows_in}", r.clipped, r.dropped, r.chars) for r in packet.reports]
    print_table(("section", "kept", "clipped", "dropped", "chars"), rows)
    for report in packet.reports:
        if report.why:
            note(f"{report.name}: {report.why}")
    say(
        f"{packet.chars} characters outbound (about {packet.tokens_estimated} tokens, estimated), tier {packet.tier}, "
        f"{packet.redactions} redactions, fingerprint {packet.fingerprint}"
    )
    for asked in packet.context:
        why = f": {asked.cause}" if asked.cause else ""
        note(f"context of {asked.distribution}: {asked.state}, {asked.sections} sections, {asked.chars} characters{why}")
    for left in packet.left_out:
        examples = f" ({', '.join(left.examples)})" if left.examples else ""
        note(f"left out as {left.reason}: {left.count}{examples}")
