"""Write ``docs/reference/cli.md`` from the help texts of ``ues``; ``--check`` compares instead."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

import click

from ues_core.cli import ues

TARGET = Path(__file__).with_name("cli.md")
WIDTH = 100
"""Columns of the help texts, whatever terminal this runs in."""
HEAD = """# Command line

Generated from `ues --help` and the help of every command by `docs/reference/generate_cli.py`. Do not edit.

Exit codes: 0, it did what it should; 1, it did not, and says why; 2, the command line is wrong; 130, stopped with Ctrl-C.
Commands with verdicts of their own say so in their help.
"""


def sections(command: click.Command, path: str, parent: click.Context | None = None) -> Iterator[tuple[str, str]]:
    """``(path, help)`` of a command and of everything below it."""
    context = command.make_context(
        path.rpartition(" ")[2], [], parent, resilient_parsing=True, terminal_width=WIDTH, max_content_width=WIDTH
    )
    yield path, command.get_help(context).rstrip()
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            below = command.get_command(context, name)
            if below is not None and not below.hidden:
                yield from sections(below, f"{path} {name}", context)


def render() -> str:
    """The whole page."""
    parts = [HEAD]
    for path, text in sections(ues, "ues"):
        parts.append(f"\n## {path}\n\n```text\n{text}\n```\n")
    return "".join(parts)


def main() -> int:
    """Write or compare; 1 when the page is not what it should be."""
    text = render()
    if "--check" not in sys.argv[1:]:
        TARGET.write_text(text, encoding="utf-8")
        return 0
    if TARGET.read_text(encoding="utf-8") == text:
        return 0
    sys.stderr.write(f"{TARGET} is not what the commands say. Run: python {Path(__file__).name}\n")
    return 1


if __name__ == "__main__":
    sys.exit(main())
