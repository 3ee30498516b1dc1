"""``ues schema``: the JSON Schema of every model of the contract."""

from __future__ import annotations

import difflib

import click

from ues_core.cli._output import json_option, print_json, say


@click.command("schema")
@click.argument("name", required=False)
@click.option("--list", "list_names", is_flag=True, help="List the names instead.")
@json_option
def command(name: str | None, list_names: bool, as_json: bool) -> None:
    """Print the JSON Schema of one model of the contract: NAME is action, advice, observation, packet, receipt, site, ...

    The name of a model's class does as well: DriverInfo. Without a name, the names are listed. A schema is JSON with and
    without --json.
    """
    from ues_core.contract import UsageError
    from ues_core.contract.schema import json_schema, schema_name, schema_names

    names = schema_names()
    if list_names or name is None:
        if as_json:
            print_json(names)
        else:
            for each in names:
                say(each)
        return
    known = schema_name(name)
    if known is None:
        near = difflib.get_close_matches(name.lower(), names, n=1)
        raise UsageError(
            f"There is no schema named {name!r}." + (f" Did you mean {near[0]}?" if near else ""),
            next_step="ues schema --list shows every name.",
            details={"asked": name, "nearest": near[0] if near else ""},
        )
    print_json(json_schema(known))
