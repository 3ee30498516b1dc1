"""The ``ues`` command: quick help, exit codes, errors as text and as JSON."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from pathlib import Path

import click
import pytest

from ues_core import __version__
from ues_core.cli import STOPPED, VERBS, LazyGroup, run
from ues_core.cli._output import print_json, print_table, printable, report_error, say
from ues_core.contract import Launch, UsageError
from ues_core.contract.words import BrowserChannel

HEAVY = ("pydantic", "stevedore", "playwright", "rich", "websockets", "psutil", "cryptography", "asyncio")


def modules_after(code: str) -> set[str]:
    """The modules that a fresh interpreter has loaded after ``code``."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('\\n' + '|'.join(sorted(sys.modules)))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.splitlines()[-1].split("|"))


@pytest.mark.parametrize(
    "code",
    [
        "import ues_core",
        "from ues_core.cli import run; assert run(['--help']) == 0",
        "from ues_core.cli import run; assert run(['--version']) == 0",
        "from ues_core.cli import run; assert run(['no-such-verb']) == 2",
    ],
)
def test_the_package_and_the_help_load_nothing_heavy(code: str) -> None:
    loaded = modules_after(code)
    assert not loaded & set(HEAVY)
    assert not [
        name for name in loaded if name.startswith(("ues_core.contract", "ues_core.host", "ues_driver", "ues_provider"))
    ]


def test_the_package_alone_loads_no_command_line_library() -> None:
    assert "click" not in modules_after("import ues_core")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_loads_says_what_it_does_and_takes_json(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    module, text = VERBS[verb]
    assert module.startswith("ues_core.cli.")
    assert text.endswith(".")
    assert run([verb, "--help"]) == 0
    assert capsys.readouterr().out.startswith(f"Usage: ues {verb}")


def test_the_help_lists_every_verb(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--help"]) == 0
    listed = capsys.readouterr().out
    assert all(f"\n  {verb} " in listed for verb in VERBS)


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--version"]) == 0
    assert capsys.readouterr().out == f"ues {__version__}\n"


def test_a_mistyped_verb_is_answered_with_the_nearest(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["brwoser"]) == 2
    assert "'browser'" in capsys.readouterr().err


def test_a_wrong_command_line_as_json_is_an_error_object(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["browser", "find", "--colour", "--json"]) == 2
    assert json.loads(capsys.readouterr().out)["error"]["code"] == "usage"


@pytest.fixture
def no_browser(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> str:
    path = str(tmp_path / "no-browser")
    monkeypatch.setenv("UES_BROWSER_EXECUTABLE", path)
    return path


@pytest.mark.parametrize("verb", ["find", "install"])
def test_a_bad_override_ends_both_browser_verbs_and_is_named(
    no_browser: str, capsys: pytest.CaptureFixture[str], verb: str
) -> None:
    assert run(["browser", verb]) == 1
    printed = capsys.readouterr()
    assert printed.out == ""
    assert no_browser in printed.err
    assert "browser-override-invalid" in printed.err
    assert "Next step:" in printed.err


def test_an_error_as_json_goes_to_standard_output(no_browser: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["browser", "find", "--json"]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["fault"]) == ("browser-override-invalid", "operator")
    assert error["details"]["value"] == no_browser


def test_a_browser_that_is_there_is_listed_as_text_and_as_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    browser = tmp_path / "browser"
    browser.write_text("#!/bin/sh\necho Chromium 150.1.2.3\n")
    browser.chmod(0o755)
    monkeypatch.setenv("UES_BROWSER_EXECUTABLE", str(browser))
    assert run(["browser", "find"]) == 0
    assert "150.1.2.3" in capsys.readouterr().out
    assert run(["browser", "find", "--json"]) == 0
    first = json.loads(capsys.readouterr().out)[0]
    assert first == {"path": str(browser), "channel": "custom", "version": "150.1.2.3", "source": "override"}


# -- printing --------------------------------------------------------------------------------------------------------


def test_json_takes_models_words_and_text_that_no_terminal_takes(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"launch": Launch(), "channel": BrowserChannel.EDGE, "odd": "\ud800", "list": (1, None, Path("a"))})
    value = json.loads(capsys.readouterr().out)
    assert value["launch"]["headless"] is True
    assert (value["channel"], value["odd"], value["list"]) == ("edge", "\ud800", [1, None, "a"])


def test_untrusted_text_can_neither_steer_the_terminal_nor_be_markup(capsys: pytest.CaptureFixture[str]) -> None:
    assert printable("a\x1b[31mb\x07\u202ec\n\td") == "a�[31mb��c\n\td"
    say("\x1b]0;title\x07")
    print_table(("[bold]name[/bold]",), [("[red]x[/red]\x1b[2J",)])
    printed = capsys.readouterr().out
    assert "\x1b" not in printed
    assert "[red]x[/red]" in printed


def test_an_exception_that_is_none_of_ours_is_reported_as_the_kits_fault(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_error(ZeroDivisionError("oops"), as_json=True) == 1
    printed = capsys.readouterr()
    assert json.loads(printed.out)["error"]["code"] == "internal"
    assert "ZeroDivisionError" in printed.err


def test_an_error_says_what_whose_and_what_next(capsys: pytest.CaptureFixture[str]) -> None:
    assert report_error(UsageError("It broke.", next_step="Mend it."), as_json=False) == 1
    said = capsys.readouterr().err
    assert [part in said for part in ("It broke.", "Mend it.", "usage", "host")] == [True] * 4


def test_a_verb_module_without_a_command_is_a_fault_that_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ues_core.cli.VERBS", {"odd": ("ues_core.cli._output", "Odd.")})
    group = LazyGroup("ues")
    with pytest.raises((TypeError, AttributeError)):
        group.get_command(click.Context(group), "odd")


# -- stopping --------------------------------------------------------------------------------------------------------

SLEEPER = """
import asyncio, signal, sys
import click
import ues_core.cli as cli
from ues_core.cli._async import run_async

async def work():
    print("working", flush=True)
    try:
        await asyncio.sleep(600)
    finally:
        await asyncio.sleep(0.05)
        print("cleaned up", flush=True)

@click.command("sleep")
def command():
    run_async(work())

signal.signal(signal.SIGINT, signal.default_int_handler)  # whoever runs the tests in the background ignores it
sys.modules["sleeper"] = sys.modules["__main__"]
cli.VERBS = {"sleep": ("sleeper", "Sleep.")}
sys.exit(cli.run(["sleep"]))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such signals")
@pytest.mark.parametrize(
    ("number", "code"),
    [(signal.SIGINT, STOPPED), (signal.SIGTERM, 128 + signal.SIGTERM), (signal.SIGHUP, 128 + signal.SIGHUP)],
)
def test_every_way_to_stop_a_command_lets_it_clean_up(number: signal.Signals, code: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SLEEPER], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "working\n"
        process.send_signal(number)
        out, err = process.communicate(timeout=30)
    assert out == "cleaned up\n"
    assert process.returncode == code
    assert "Traceback" not in err


def test_a_reader_that_leaves_is_no_traceback() -> None:
    many = "from ues_core.cli._output import say\nfor n in range(200_000): say('x' * 100)\n"
    code = (
        "import sys, click, ues_core.cli as cli\n"
        f"def work():\n    exec({many!r})\n"
        "command = click.Command('many', callback=work)\n"
        "sys.modules['many'] = sys.modules['__main__']\n"
        "cli.VERBS = {'many': ('many', 'Many.')}\n"
        "sys.exit(cli.run(['many']))\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.readline()
        process.stdout.close()
        err = process.stderr.read().decode()
        process.wait(30)
    assert "Traceback" not in err
    assert process.returncode == 1
