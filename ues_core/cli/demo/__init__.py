"""``ues demo``: the main job, on a real browser, a bundled page and a real repository."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from ues_core.cli._async import run_async
from ues_core.cli._output import FAILED, json_option, print_json, print_table, printable, say

if TYPE_CHECKING:
    from ues_core.cli.demo.steps import DemoResult, Step

_PARTS: Final = {1: "sessions", 2: "refusals", 3: "second opinion", 4: "ledger"}


@click.command("demo")
@click.option("--driver", metavar="NAME", help="The driver to use (ues plugins list shows them).")
@click.option(
    "--repo",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    default=Path(),
    show_default="the current folder",
    help="The repository that the second opinion is about.",
)
@json_option
def command(driver: str | None, repo: Path, as_json: bool) -> int:
    """Run the main job and show that it holds.

    Two owners drive two isolated browsers on a bundled page; five actions are refused; a decision packet is built from the
    repository and a scripted consultant's advice is bound to it; the ledger is verified, and found out when a byte is changed.
    Nothing leaves this machine. Exit code 0 only if every step did what it should.
    """
    from ues_core.cli.demo.serving import serve
    from ues_core.cli.demo.steps import run_demo
    from ues_core.config import load_settings

    repo = repo.resolve()
    settings = load_settings(repo=repo)
    with serve() as origin:
        result = run_async(run_demo(settings, origin, driver=driver, repo=repo, say=_progress))
    if as_json:
        print_json(result.as_dict())
    else:
        _show(result)
    return 0 if result.ok else FAILED


def _progress(step: Step) -> None:
    mark = click.style("ok ", fg="green") if step.ok else click.style("NOT", fg="red", bold=True)
    code = f" [{step.code}]" if step.code not in ("", "ok") else ""
    detail = f": {step.detail}" if step.detail else ""
    click.echo(f"  {mark} {_PARTS[step.part]:<14} {printable(f'{step.name}{code}{detail}')}", err=True)


def _show(result: DemoResult) -> None:
    sections = result.packet.get("sections", [])
    if sections:
        print_table(
            ("section", "rows", "kept", "clipped", "dropped", "characters"),
            [(s["section"], s["rows"], s["kept"], s["clipped"], s["dropped"], s["chars"]) for s in sections],
            title=f"Decision packet: {result.packet['chars']} characters, about {result.packet['tokens_estimated']} tokens",
        )
    claims = result.consultation.get("claims", [])
    if claims:
        print_table(
            ("claim", "binding"), [(c["claim"], c["status"]) for c in claims], title="Advice, held against the repository"
        )
    print_table(
        ("part", "step", "code", "result"),
        [(_PARTS[s.part], s.name, s.code or "", "ok" if s.ok else "NOT as it should be") for s in result.steps],
        title=f"ues demo with driver {result.driver}",
    )
    failed = sum(not s.ok for s in result.steps)
    say(
        f"{len(result.steps) - failed} of {len(result.steps)} steps did what they should. Ledger: {result.ledger.get('path', '-')}"
    )
