"""The scripted executor: tries edits in an order, each in a scratch copy, and runs the task's own tests in a bounded process."""

from __future__ import annotations

import contextlib
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Final, NamedTuple

from ues_core.contract import Advice, AdviceAction, BindingStatus
from ues_core.reasoning.ab._tasks import Candidate, Task

TEST_SECONDS: Final = 60.0
"""One run of a task's tests, at most; they take a fraction of a second."""
_OUTPUT_CHARS: Final = 20_000
_RAN: Final = re.compile(r"^Ran (\d+) tests? in ", re.MULTILINE)
_USABLE: Final = frozenset({BindingStatus.PRESENT, BindingStatus.MOVED})


class Attempted(NamedTuple):
    """What the executor did. ``passed`` is what it believes, ``verified`` what the hidden tests say; ``None``: not measured."""

    order: tuple[str, ...]
    attempts: int
    test_runs: int
    chosen: str
    passed: bool
    verified: bool | None
    problem: str = ""


def ranked(task: Task, advice: Advice | None) -> tuple[Candidate, ...]:
    """The task's edits, those first that touch lines at which accepted advice points. Rejected advice changes nothing."""
    if advice is None or advice.action is not AdviceAction.IMPLEMENT_THEN_VERIFY:
        return task.candidates
    bound = [b for b in advice.bindings if b.status in _USABLE and b.start_line is not None]

    def pointed_at(candidate: Candidate) -> bool:
        text = task.files[candidate.path]
        line = text.count("\n", 0, text.index(candidate.old)) + 1
        return any(b.path == candidate.path and (b.start_line or 0) <= line <= (b.end_line or b.start_line or 0) for b in bound)

    return tuple(sorted(task.candidates, key=lambda candidate: not pointed_at(candidate)))


def execute(task: Task, root: Path, candidates: Sequence[Candidate]) -> Attempted:
    """Try edits until the visible tests pass or the attempts are used up; then let the hidden tests decide.

    ``root`` is never changed. Blocking: run it in a thread. Nothing is left behind.
    """
    order = tuple(candidate.name for candidate in candidates)
    runs = 0
    for number, candidate in enumerate(candidates[: task.attempts], 1):
        with tempfile.TemporaryDirectory(prefix="ues-bench-", ignore_cleanup_errors=True) as folder:
            copy = Path(folder) / "copy"
            shutil.copytree(root, copy, ignore=shutil.ignore_patterns(".git", "__pycache__"))
            target = copy / candidate.path
            target.write_text(target.read_text(encoding="utf-8").replace(candidate.old, candidate.new, 1), encoding="utf-8")
            visible, problem = _tests_pass(copy, task.visible)
            runs += 1
            if visible is None:
                return Attempted(order, number, runs, candidate.name, False, None, problem)
            if visible:
                hidden, problem = _tests_pass(copy, task.hidden)
                return Attempted(order, number, runs + 1, candidate.name, True, hidden, problem)
    tried = min(task.attempts, len(candidates))
    return Attempted(order, tried, runs, "", False, False)


def _tests_pass(copy: Path, text: str) -> tuple[bool | None, str]:
    """Whether the tests pass; ``None`` and why when that could not be found out."""
    folder = copy / "checks"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    (folder / "test_task.py").write_text(text, encoding="utf-8")
    command = [sys.executable, "-E", "-s", "-B", "-m", "unittest", "discover", "-s", "checks", "-t", "."]
    (folder / "__init__.py").write_text("", encoding="utf-8")
    environment = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "LD_LIBRARY_PATH") if name in os.environ}
    output = copy / "output.txt"
    with output.open("wb") as sink:
        process = subprocess.Popen(
            command,
            cwd=copy,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=sink,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            code = process.wait(timeout=TEST_SECONDS)
        except subprocess.TimeoutExpired:
            return None, f"its tests took more than {TEST_SECONDS:g} s"
        finally:
            _end(process)
    with output.open("rb") as file:
        said = file.read(_OUTPUT_CHARS).decode("utf-8", "replace")
    ran = _RAN.search(said)
    if ran is None or not int(ran[1]):
        return None, "its tests did not run"
    return code == 0, ""


def _end(process: subprocess.Popen[bytes]) -> None:
    """End tests that still run, with whatever they started. A number that was given back is never signalled."""
    if process.poll() is not None:
        return
    if hasattr(os, "killpg"):
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    else:
        process.kill()
    process.wait()
