"""The ``ues`` command. A verb is a module of this package; it is imported when it is used, so ``ues --help`` stays quick.

To add a verb: write ``ues_core/cli/<verb>.py`` with a click command or group named ``command``, and one line in ``VERBS``.
"""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final, NoReturn

import click

from ues_core import __version__

__all__ = ["VERBS", "main", "run", "ues"]

VERBS: Final[Mapping[str, tuple[str, str]]] = MappingProxyType(
    {
        "demo": ("ues_core.cli.demo", "Run the main job and show that it holds."),
        "doctor": ("ues_core.cli.doctor", "Look whether everything is here, and whether anything stayed behind."),
        "see": ("ues_core.cli.see", "Take a picture of a page, with a numbered box per observed node."),
        "observe": ("ues_core.cli.observe", "Observe a page as a host is given it."),
        "receipts": ("ues_core.cli.receipts", "Read and verify the signed records that hosts leave behind."),
        "consult": ("ues_core.cli.consult", "Ask for a second opinion about a task in a repository."),
        "packet": ("ues_core.cli.packet", "Build a decision packet and show what would be sent."),
        "advice": ("ues_core.cli.advice", "Judge a raw answer, claim by claim, without asking anybody."),
        "consultations": ("ues_core.cli.consultations", "List and show the second opinions that were asked for."),
        "providers": ("ues_core.cli.providers", "List providers, look at one, agree to where it sends prompts."),
        "validate": ("ues_core.cli.validate", "Hold the kit itself to what it promises."),
        "bench": ("ues_core.cli.bench", "Measure what a second opinion is worth."),
        "browser": ("ues_core.cli.browser", "Find a browser on this machine, or fetch one."),
        "plugins": ("ues_core.cli.plugins", "List the plugins that are installed, and check them."),
        "schema": ("ues_core.cli.schema", "Print the JSON Schema of a model of the contract."),
    }
)
"""Name -> (module, one line of help), in the order in which ``ues --help`` lists them."""

STOPPED: Final = 130
"""Exit code after Ctrl-C, as shells have it."""


class LazyGroup(click.Group):
    """A group whose commands are imported when they are named; listing them imports none."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names, in the table's order."""
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command of that name, imported now."""
        if cmd_name not in VERBS:
            return None
        command = importlib.import_module(VERBS[cmd_name][0]).command
        if not isinstance(command, click.Command):
            raise TypeError(f"{VERBS[cmd_name][0]}.command is no click command")
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table, not the commands: their modules stay unloaded."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, text) for name, (_, text) in VERBS.items()])

    def resolve_command(self, ctx: click.Context, args: list[str]) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but an unknown verb is answered with the nearest one, without importing any."""
        if args and args[0] not in VERBS and not args[0].startswith("-"):
            import difflib

            near = difflib.get_close_matches(args[0], VERBS, n=1)
            hint = f" Did you mean {near[0]!r}?" if near else f" There are: {', '.join(VERBS)}."
            raise click.UsageError(f"There is no command {args[0]!r}.{hint}", ctx)
        return super().resolve_command(ctx, args)


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="ues", message="%(prog)s %(version)s")
def ues() -> None:
    """A browser that a coding-agent host can drive, and a second opinion that it can ask for.

    Every command takes --json. Exit code 0: it did what it should; 1: it did not, and says why; 2: the command line is wrong.
    """


def main() -> NoReturn:
    """The entry point of the ``ues`` script."""
    sys.exit(run(sys.argv[1:]))


def run(args: Sequence[str]) -> int:
    """Run one command line and return its exit code; errors are printed, never raised."""
    as_json = "--json" in args
    try:
        result = ues.main(args=list(args), prog_name="ues", standalone_mode=False)
    except click.ClickException as error:
        return _click_error(error, as_json)
    except (click.Abort, KeyboardInterrupt):
        click.echo("Stopped.", err=True)
        return STOPPED
    except BrokenPipeError:
        # The reader of our output left; what Python flushes at exit must go nowhere.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except Exception as error:  # noqa: BLE001 - the border of the program: everything is reported with its code
        from ues_core.cli._output import report_error

        return report_error(error, as_json=as_json)
    return result if isinstance(result, int) else 0


def _click_error(error: click.ClickException, as_json: bool) -> int:
    if not as_json:
        error.show()
        return error.exit_code
    from ues_core.cli._output import print_json

    next_step = "Run the command with --help."
    print_json(
        {"error": {"code": "usage", "sentence": error.format_message(), "fault": "host", "next_step": next_step, "details": {}}}
    )
    return error.exit_code
