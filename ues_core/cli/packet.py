"""``ues packet``: build a decision packet and show what would be sent."""

from __future__ import annotations

from pathlib import Path
from typing import IO

import click

from ues_core.cli._output import json_option, note, print_json, print_table, say


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
    as_json: bool,
) -> None:
    """Build a packet from a repository and show its sections. Nothing is sent."""
    from ues_core.contract import PacketTier
    from ues_core.reasoning import build_packet
    from ues_core.reasoning.packet import INPUT_CHARS
    from ues_core.reasoning.report import packet_report

    packet = build_packet(
        task,
        repo,
        constraints=constraints,
        requirements=requirements,
        verification=verification,
        questions=questions,
        failing_log=failing_log.read(INPUT_CHARS) if failing_log is not None else None,
        files=files,
        tier=PacketTier(tier) if tier is not None else None,
    )
    prompt = outbound(packet) if show_prompt else ""
    if as_json:
        print_json(packet_report(packet) | ({"prompt": prompt} if show_prompt else {}))
    elif show_prompt:
        say(prompt)
    else:
        show_packet(packet)


def outbound(packet: object) -> str:
    """The outbound text of a packet under a nonce of its own, scanned as it would be before it is sent."""
    import secrets

    from ues_core.contract import Packet
    from ues_core.reasoning import NONCE_CHARS, check_outbound, render_prompt

    assert isinstance(packet, Packet)
    rendered = render_prompt(packet.sections, nonce=secrets.token_hex(NONCE_CHARS // 2))
    check_outbound(rendered)
    return rendered.text


def show_packet(packet: object) -> None:
    """Print a packet's sections and what was left out."""
    from ues_core.contract import Packet

    assert isinstance(packet, Packet)
    rows = [(r.name, f"{r.kept}/{r.rows_in}", r.clipped, r.dropped, r.chars) for r in packet.reports]
    print_table(("section", "kept", "clipped", "dropped", "chars"), rows)
    for report in packet.reports:
        if report.why:
            note(f"{report.name}: {report.why}")
    say(
        f"{packet.chars} characters outbound (about {packet.tokens_estimated} tokens, estimated), tier {packet.tier}, "
        f"{packet.redactions} redactions, fingerprint {packet.fingerprint}"
    )
    for left in packet.left_out:
        examples = f" ({', '.join(left.examples)})" if left.examples else ""
        note(f"left out as {left.reason}: {left.count}{examples}")
