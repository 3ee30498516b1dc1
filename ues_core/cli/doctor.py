"""``ues doctor``: is everything here that the kit needs, and did anything stay behind?"""

from __future__ import annotations

import os

import click

from ues_core.cli._output import FAILED, json_option, print_json, print_table


@click.command("doctor")
@click.option("--fix", is_flag=True, help="Remove profile folders (and browsers) that killed hosts left behind.")
@json_option
def command(fix: bool, as_json: bool) -> int:
    """Look at Python, configuration, browser, sandbox, plugins, state directory, left-overs and ledgers.

    Exit code 1 when something is an error; warnings alone are 0.
    """
    from ues_core.config import load_settings
    from ues_core.host.doctor import examine

    findings = examine(load_settings(), os.environ, fix=fix)
    if as_json:
        print_json(findings)
    else:
        print_table(
            ("subject", "level", "finding"),
            [(f.subject, f.level, f"{f.sentence} {f.next_step}".strip()) for f in findings],
        )
    return FAILED if any(f.level == "error" for f in findings) else 0
