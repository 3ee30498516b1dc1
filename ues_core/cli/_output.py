"""What every verb prints with: JSON, tables, lines, errors. Results go to standard output, the rest to standard error."""

from __future__ import annotations

import json
import sys
import traceback
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from ues_core.contract import UesError

FAILED = 1
"""Exit code of a command that did not do what it should."""

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON value instead of text.")
"""The option that every verb takes; the parameter is ``as_json``."""


def print_json(value: Any) -> None:
    """Print one JSON value: models, and lists and mappings of them, as their JSON shape."""
    plain = _plain(value)
    text = json.dumps(plain, ensure_ascii=False, indent=2)
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        text = json.dumps(plain, indent=2)
    click.echo(text)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[object]], *, title: str = "") -> None:
    """Print a table; cells are shown as they are, never as markup."""
    from rich.box import SIMPLE_HEAD
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(title=Text(title) if title else None, box=SIMPLE_HEAD, title_justify="left")
    for number, column in enumerate(columns):
        table.add_column(column, overflow="fold", no_wrap=number == 0)
    for row in rows:
        table.add_row(*(Text(printable(str(cell))) for cell in row))
    Console(soft_wrap=False, highlight=False).print(table)


def say(line: str) -> None:
    """Print one line of the result."""
    click.echo(printable(line))


def note(line: str) -> None:
    """Print one line about the work: progress, a remark."""
    click.echo(printable(line), err=True)


def printable(text: str) -> str:
    """The text without what could steer a terminal; line breaks and tabs stay."""
    return "".join(char if char in "\n\t" or char.isprintable() else "�" for char in text)


def report_error(error: Exception, *, as_json: bool) -> int:
    """Print an error - what happened, whose doing, what to do, its code - and return the exit code.

    An exception that is none of ours is a fault of the kit; it is shown with its traceback.
    """
    from ues_core.contract import UesError

    if isinstance(error, UesError):
        ours = error
    else:
        traceback.print_exception(error)
        ours = UesError(
            f"The kit failed: {type(error).__name__}: {error}",
            next_step="This is a bug; please report it with the lines above.",
        )
    if as_json:
        print_json({"error": ours.as_dict()})
    else:
        _print_error(ours)
    return FAILED


def _print_error(error: UesError) -> None:
    note(f"{click.style('Error:', fg='red', bold=True) if sys.stderr.isatty() else 'Error:'} {printable(error.sentence)}")
    if error.next_step:
        note(f"  Next step: {error.next_step}")
    note(f"  Code: {error.code} (whose doing: {error.fault})")


def _plain(value: Any) -> Any:
    if hasattr(value, "model_dump"):
        return value.model_dump(mode="json")
    if isinstance(value, dict):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [_plain(item) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    return str(value)
