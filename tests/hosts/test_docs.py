"""The README and the docs are executed: shell commands, Python blocks, configuration; links lead somewhere; help is generated.

The blocks of one page are one story: its commands run in one shell, its Python blocks in one interpreter, in the order in
which they stand, in a copy of the checkout with a state directory of its own.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
from asyncio.subprocess import PIPE, STDOUT, Process
from dataclasses import dataclass, field
from pathlib import Path
from textwrap import dedent

import pytest

from ues_core.config import load_settings

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted([*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")])
GENERATED = {"docs/reference/cli.md"}
LIMIT = 100.0
"""Seconds for one command or block: a demonstration on a busy machine."""
MARK = "@@done"
EXEMPT = re.compile(r"<!-- not executed: (.+) -->")
ALLOWED = ("install", "rerun", "run everything", "waits for a person")
"""What a block may be exempt for."""

RUNNER = f"""
import ast, asyncio, inspect, json, sys, traceback

space = {{"__name__": "docs"}}
for line in sys.stdin:
    try:
        code = compile(json.loads(line), "block", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
        if code.co_flags & inspect.CO_COROUTINE:
            asyncio.run(eval(code, space))
        else:
            exec(code, space)
        status = 0
    except BaseException:
        traceback.print_exc(file=sys.stdout)
        status = 1
    print("{MARK}", status, flush=True)
"""


@dataclass
class Block:
    """One fenced block of a page."""

    language: str
    line: int
    lines: list[str] = field(default_factory=list)
    exempt: str = ""

    @property
    def text(self) -> str:
        return dedent("\n".join(self.lines)) + "\n"

    def commands(self) -> list[tuple[str, list[str]]]:
        """``(command, lines of output that are shown)``."""
        found: list[tuple[str, list[str]]] = []
        for line in self.text.splitlines():
            if line.startswith("$ "):
                found.append((line[2:], []))
            elif line.startswith("> ") and found:
                found[-1] = (f"{found[-1][0]}\n{line[2:]}", found[-1][1])
            elif line.strip() and found:
                found[-1][1].append(line.strip())
        return found


def blocks_of(page: Path) -> list[Block]:
    blocks: list[Block] = []
    open_block: Block | None = None
    exempt = ""
    for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), start=1):
        fence = line.strip()
        if open_block is not None:
            if fence == "```":
                blocks.append(open_block)
                open_block, exempt = None, ""
            else:
                open_block.lines.append(line)
        elif fence.startswith("```"):
            open_block = Block(fence[3:].strip(), number, exempt=exempt)
        elif fence:
            found = EXEMPT.fullmatch(fence)
            exempt = found[1] if found else ""
    assert open_block is None, f"{page}: the block at line {open_block and open_block.line} does not end"
    return blocks


def name_of(page: Path) -> str:
    return page.relative_to(ROOT).as_posix()


STORIES = [page for page in PAGES if any(b.language in ("console", "sh", "python") for b in blocks_of(page))]


@pytest.fixture(scope="module")
def checkout(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A copy of what is needed of the checkout, as a git repository of its own."""
    folder = tmp_path_factory.mktemp("docs") / "checkout"
    folder.mkdir()
    # Of the core one room is enough to be asked about: each consultation reads the whole repository.
    for name in ("ues_core/reasoning", "docs", "examples"):
        shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", ".mypy_cache"))
    for page in ROOT.glob("*.md"):
        shutil.copy(page, folder)
    who = ["-c", "user.name=Docs", "-c", "user.email=docs@example.org", "-c", "commit.gpgsign=false"]
    for command in (["init", "-q"], ["add", "."], [*who, "commit", "-q", "-m", "A copy to read the docs in"]):
        subprocess.run(["git", *command], cwd=folder, check=True, timeout=60, capture_output=True)
    return folder


def environment(folder: Path) -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("UES_", "PYTEST_", "COV_"))}
    return {
        **kept,
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{kept.get('PATH', '')}",
        "UES_STATE_DIR": str(folder / "state"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "COLUMNS": "200",
        "PYTHONUNBUFFERED": "1",
    }


class Story:
    """A shell and an interpreter for the blocks of one page."""

    def __init__(self, shell: Process, python: Process) -> None:
        self._shell, self._python = shell, python

    @classmethod
    async def begin(cls, cwd: Path, env: dict[str, str]) -> Story:
        async def start(*command: str) -> Process:
            return await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=STDOUT, cwd=cwd, env=env, start_new_session=True, limit=2**24
            )

        return cls(await start("bash", "--norc"), await start(sys.executable, "-c", RUNNER))

    async def command(self, text: str) -> tuple[int, list[str]]:
        return await self._ask(self._shell, f"{{ {text}\n}} </dev/null; status=$?; echo; echo {MARK} $status\n")

    async def block(self, text: str) -> tuple[int, list[str]]:
        return await self._ask(self._python, json.dumps(text) + "\n")

    async def _ask(self, process: Process, text: str) -> tuple[int, list[str]]:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(text.encode())
        await process.stdin.drain()
        said: list[str] = []
        async with asyncio.timeout(LIMIT):
            while raw := await process.stdout.readline():
                line = raw.decode(errors="replace").rstrip()
                if line.startswith(f"{MARK} "):
                    return int(line.removeprefix(MARK)), said
                said.append(line)
        return -1, said

    async def end(self) -> None:
        """End both, and what they started in the background."""
        for process in (self._shell, self._python):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            await process.communicate()


def missing(shown: list[str], said: list[str]) -> str:
    """The first shown line that does not stand in the output, in order; ``...`` stands for anything."""
    rest = iter(said)
    for line in shown:
        pattern = re.compile(".*".join(re.escape(part) for part in line.split("...")))
        if not any(pattern.fullmatch(real.strip()) for real in rest):
            return line
    return ""


@pytest.mark.browser
@pytest.mark.timeout(400)
@pytest.mark.parametrize("page", STORIES, ids=name_of)
async def test_a_page_does_what_it_says(page: Path, checkout: Path, tmp_path: Path) -> None:
    """Every command exits with 0 and says what is shown; every Python block runs."""
    story = await Story.begin(checkout, environment(tmp_path))
    try:
        for block in blocks_of(page):
            where = f"{name_of(page)}:{block.line}"
            if block.exempt:
                continue
            if block.language in ("console", "sh"):
                commands = block.commands()
                assert commands, f"{where}: a {block.language} block without a command ($ ...)"
                for command, shown in commands:
                    code, said = await story.command(command)
                    output = "\n".join(said)
                    assert code == 0, f"{where}: {command} ended with {code}:\n{output}"
                    assert not missing(shown, said), f"{where}: {missing(shown, said)!r} is not in the output:\n{output}"
            elif block.language == "python":
                code, said = await story.block(block.text)
                assert code == 0, f"{where}:\n" + "\n".join(said)
    finally:
        await story.end()


def test_only_blocks_that_install_or_rerun_are_not_executed() -> None:
    """Each says why."""
    reasons = {name_of(page): b.exempt for page in PAGES for b in blocks_of(page) if b.exempt}
    assert reasons
    assert not {page: why for page, why in reasons.items() if not any(word in why for word in ALLOWED)}


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_say_what_they_are_and_settings_are_valid(page: Path, tmp_path: Path) -> None:
    """A TOML block that is no ``pyproject.toml`` is an operator's configuration, and loads."""
    for block in blocks_of(page):
        where = f"{name_of(page)}:{block.line}"
        assert block.language, f"{where}: a block without a language"
        if block.language == "toml" and "[project]" not in block.text:
            file = tmp_path / "ues.toml"
            file.write_text(block.text, encoding="utf-8")
            assert load_settings(config_file=file, environ={}).sources, where


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_links_lead_somewhere(page: Path) -> None:
    """Relative links are files of this repository."""
    text = re.sub(r"```.*?```", "", page.read_text(encoding="utf-8"), flags=re.DOTALL)
    for target in re.findall(r"\]\(([^)\s]+)\)", text):
        if not target.startswith(("http://", "https://", "#")):
            assert (page.parent / target.split("#")[0]).exists(), f"{name_of(page)}: {target}"


def test_every_page_is_in_the_table_of_contents() -> None:
    """What is not listed is not found."""
    contents = (ROOT / "docs" / "README.md").read_text(encoding="utf-8")
    for page in (ROOT / "docs").rglob("*.md"):
        relative = page.relative_to(ROOT / "docs").as_posix()
        assert relative == "README.md" or f"({relative})" in contents, relative


def test_the_command_line_reference_is_what_the_commands_say() -> None:
    """Repair: ``python docs/reference/generate_cli.py``."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "reference" / "generate_cli.py"), "--check"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert done.returncode == 0, done.stderr
