"""``ues providers``: who could be asked, where each would send a prompt, and whether you agreed to that."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from ues_core.cli._async import run_async
from ues_core.cli._output import FAILED, json_option, note, print_json, print_table, say

if TYPE_CHECKING:
    from ues_core.config import Settings
    from ues_core.host.providing import Looked
    from ues_core.host.trust import TrustBook
    from ues_core.plugins import PluginRow

name_argument = click.argument("name")


@click.group("providers")
def command() -> None:
    """List providers of second opinions, look at one, and agree to where it sends prompts."""


@command.command("list")
@json_option
def list_providers(as_json: bool) -> int:
    """List the installed providers and what was agreed. Nothing is imported; ``show`` looks at one."""
    from ues_core.contract import UesError
    from ues_core.host.trust import OURS, canonical

    settings, book = _settings()
    rows: list[dict[str, Any]] = []
    for row in _installed(settings):
        entry: dict[str, Any] = {
            "name": row.name,
            "distribution": row.distribution,
            "version": row.version,
            "chosen": row.name == settings.provider,
            "agreed": None,
            "origins": [],
            "cause": row.cause,
        }
        try:
            agreement = book.agreement(row.distribution, row.name)
        except UesError as error:
            entry["cause"] = error.sentence
        else:
            ours = OURS.get(canonical(row.distribution))
            if agreement is not None:
                entry["agreed"] = "revoked" if agreement.revoked else "trusted"
                entry["origins"] = list(agreement.origins)
            elif ours is not None:
                entry["agreed"], entry["origins"] = "ours", list(ours)
        rows.append(entry)
    if as_json:
        print_json({"providers": rows})
    elif not rows:
        say("No provider is installed. For a scripted one: pip install ues-provider-double")
    else:
        print_table(
            ("name", "distribution", "agreed", "origins or cause"),
            [
                (
                    f"{r['name']} (chosen)" if r["chosen"] else r["name"],
                    f"{r['distribution']} {r['version']}",
                    r["agreed"] or "nothing yet",
                    r["cause"] or ", ".join(r["origins"]) or "-",
                )
                for r in rows
            ],
        )
    return 0


@command.command("show")
@name_argument
@json_option
def show(name: str, as_json: bool) -> int:
    """Look at one provider: where it would send a prompt, whether that is agreed, what its process is kept from.

    It is loaded as for a consultation and asked nothing.
    """
    from ues_core.host.providing import look_at

    settings, _ = _settings()
    looked = run_async(look_at(settings, name))
    if as_json:
        print_json(_report(looked))
        return 0
    _describe(looked)
    say(f"isolation: {looked.held}")
    if looked.seal is not None:
        for area in _areas():
            say(f"  {area}: {getattr(looked.seal, area)}")
        for detail in looked.seal.details:
            say(f"  {detail}")
    return 0


@command.command("trust")
@name_argument
@click.option("--yes", is_flag=True, help="Agree without being asked; for scripts.")
@click.option("--dry-run", is_flag=True, help="Show where it would send prompts and what is agreed; change nothing.")
@json_option
def trust(name: str, yes: bool, dry_run: bool, as_json: bool) -> int:
    """Agree that the provider NAME may send prompts to the origins that it names now.

    Kept per distribution. When the origins change, nothing is sent until you have agreed again.
    """
    from ues_core.host.providing import look_at

    settings, book = _settings()
    looked = run_async(look_at(settings, name))
    verdict = looked.verdict
    if not as_json:
        _describe(looked)
    if dry_run or verdict.allowed:
        if as_json:
            print_json(_report(looked))
        elif dry_run:
            say("Nothing was changed.")
        return 0
    if not yes and not _agreed(as_json):
        if as_json:
            print_json({**_report(looked), "error": {"code": "usage", "sentence": _NOT_ASKED, "next_step": "Pass --yes."}})
        else:
            note("Nothing was changed: you did not agree.")
        return FAILED
    book.agree(looked.info, looked.row.distribution, version=looked.row.version, now=_now())
    if as_json:
        print_json({**_report(looked), "state": "trusted", "allowed": True, "added": [], "removed": []})
    else:
        say(f"Agreed: {name} of {looked.row.distribution} may send prompts to {', '.join(verdict.origins)}.")
    return 0


@command.command("untrust")
@name_argument
@json_option
def untrust(name: str, as_json: bool) -> int:
    """Take it back: the provider NAME may send nothing anywhere until you agree again. Works for ours as well.

    Nothing is imported.
    """
    from ues_core.contract import PluginKind
    from ues_core.plugins import PluginBook

    settings, book = _settings()
    row = PluginBook(settings).locate(PluginKind.PROVIDER, name)
    book.revoke(name, row.distribution, version=row.version, now=_now())
    if as_json:
        print_json({"provider": name, "distribution": row.distribution, "state": "revoked"})
    else:
        say(f"{name} of {row.distribution} may send prompts nowhere until you agree again: ues providers trust {name}")
    return 0


_NOT_ASKED = "Nobody agreed: there was no terminal to ask at."


def _agreed(as_json: bool) -> bool:
    """Ask the person; without one the answer is no."""
    if as_json or not sys.stdin.isatty():
        if not as_json:
            note(f"{_NOT_ASKED} Pass --yes to agree.")
        return False
    return click.confirm("May prompts, with parts of your repository in them, be sent there?", default=False)


def _settings() -> tuple[Settings, TrustBook]:
    from ues_core.config import load_settings
    from ues_core.host.trust import TrustBook

    settings = load_settings()
    return settings, TrustBook(settings.state_dir)


def _installed(settings: Settings) -> list[PluginRow]:
    from ues_core.contract import PluginKind
    from ues_core.plugins import PluginBook

    return [row for row in PluginBook(settings).list() if row.kind is PluginKind.PROVIDER]


def _areas() -> tuple[str, ...]:
    from ues_core.reasoning.sealed import AREAS

    return AREAS


def _describe(looked: Looked) -> None:
    say(f"{looked.row.name} of {looked.row.distribution} {looked.row.version}")
    if looked.info.description:
        say(f"  {looked.info.description}")
    say(f"destination: {looked.destination}")
    say(f"trust: {looked.verdict.words()}")


def _report(looked: Looked) -> dict[str, Any]:
    return {
        **looked.verdict.model_dump(mode="json"),
        "version": looked.row.version,
        "allowed": looked.verdict.allowed,
        "destination": looked.destination,
        "channel": str(looked.info.channel),
        "seal": None if looked.seal is None else {**looked.seal.model_dump(mode="json"), "complete": looked.seal.complete},
    }


def _now() -> str:
    import datetime

    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
