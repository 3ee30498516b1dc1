"""``ues plugins``: what is installed, and whether it can be used."""

from __future__ import annotations

import contextlib
import sys
from typing import TYPE_CHECKING

import click

from ues_core.cli._output import FAILED, json_option, note, print_json, print_table, say

if TYPE_CHECKING:
    from ues_core.plugins import PluginBook, PluginRow


@click.group("plugins")
def command() -> None:
    """List the plugins that are installed, and check them."""


@command.command("list")
@click.option("--load", is_flag=True, help="Import each plugin that may be loaded, and validate it.")
@click.option(
    "--strict", is_flag=True, help="Exit with 1 when any plugin is broken (also: UES_PLUGINS_STRICT, strict_plugins)."
)
@click.option("--config", "config_file", type=click.Path(), help="The configuration file to read.")
@json_option
def list_plugins(load: bool, strict: bool, config_file: str | None, as_json: bool) -> int:
    """List drivers, providers, deciders and hook packages. Names come from metadata: without --load nothing is imported.

    Strict, with --load: exit code 1 when any plugin failed, is incompatible or is a duplicate, or a chosen one cannot be used.
    """
    from ues_core.config import load_settings
    from ues_core.contract import PluginState
    from ues_core.plugins import PluginBook

    settings = load_settings(config_file=config_file, arguments={"strict_plugins": True} if strict else None)
    book = PluginBook(settings)
    # a plugin that prints while it is imported must not spoil the one JSON value on standard output
    with contextlib.redirect_stdout(sys.stderr):
        rows = book.list(load=load)
    hooks = book.hooks()
    chosen = _chosen(book)
    if as_json:
        print_json({"plugins": rows, "hooks": hooks, "chosen": chosen, "ignored": settings.ignored})
    else:
        _print(rows)
        for hook in hooks:
            what = "loaded at start" if hook.listed else "not listed in hooks, never loaded"
            say(f"hook package: {hook.distribution} {hook.version} ({what})")
        for ignored in settings.ignored:
            note(f"Ignored: {ignored.key} ({ignored.where}): {ignored.why}.")
        for kind, choice in chosen.items():
            if choice["problem"]:
                note(f"The chosen {kind} cannot be used ({choice['source']}): {choice['problem']}")
    broken = any(row.state in (PluginState.FAILED, PluginState.INCOMPATIBLE, PluginState.DUPLICATE) for row in rows)
    broken = broken or any(choice["problem"] for choice in chosen.values())
    return FAILED if broken and settings.strict_plugins else 0


def _chosen(book: PluginBook) -> dict[str, dict[str, str]]:
    """What is configured for each kind, where, and why it cannot be used (empty when it can, or nothing is chosen)."""
    from ues_core.contract import PluginKind

    return {
        str(kind): {
            "name": str(getattr(book.settings, kind)),
            "source": book.settings.source(str(kind)),
            "problem": book.problem(kind) or "",
        }
        for kind in (PluginKind.DRIVER, PluginKind.PROVIDER)
    }


def _print(rows: tuple[PluginRow, ...]) -> None:
    if not rows:
        say("No plugin is installed. For a browser: pip install ues-driver-playwright")
        return
    print_table(
        ("name", "kind", "distribution", "contract", "state", "capabilities or cause"),
        [
            (
                row.name,
                row.kind,
                f"{row.distribution} {row.version}",
                row.contract_version if row.contract_version is not None else "-",
                row.state,
                row.cause or (", ".join(row.words()) if row.loaded else "(not loaded; --load tells)"),
            )
            for row in rows
        ],
    )
