"""One clean environment for every test that needs one: making it takes most of a minute, and the suite has ten."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCES = (
    ROOT,
    ROOT / "providers" / "double",
    *(ROOT / "examples" / name for name in ("third_party_driver", "third_party_provider", "hostile_provider")),
)
WAIT_SECONDS = 600.0

BUILD = """
import os, sys
from hatchling.build import build_wheel

target = os.path.abspath(sys.argv[1])
os.makedirs(target)
for source in sys.argv[2:]:
    os.chdir(source)
    build_wheel(target)
"""
"""What a build front end asks of each source, in one process for all."""


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=WAIT_SECONDS)
    assert done.returncode == 0, done.stdout + done.stderr


def _make(folder: Path) -> None:
    """Wheels of the core, the double and the examples, installed with their dependencies pinned as ours are."""
    wheels = folder / "wheels"
    _run([sys.executable, "-c", BUILD, str(wheels), *map(str, SOURCES)])
    _run([sys.executable, "-m", "venv", "--without-pip", str(folder / "venv")])
    pip = [sys.executable, "-m", "pip", "--python", str(_bin(folder) / "python"), "--disable-pip-version-check"]
    install = ["install", "-q", "--no-compile", "-c", str(ROOT / "constraints.txt")]
    _run([*pip, *install, *map(str, wheels.glob("*.whl"))])


def _bin(folder: Path) -> Path:
    return folder / "venv" / ("Scripts" if os.name == "nt" else "bin")


@pytest.fixture(scope="session")
def clean_environment(tmp_path_factory: pytest.TempPathFactory, worker_id: str) -> Path:
    """The folder of programs of a virtual environment into which wheels were installed, and nothing else. Leave it as it is.

    The first worker that asks makes it; the others wait for it.
    """
    base = tmp_path_factory.getbasetemp()
    folder = (base if worker_id == "master" else base.parent) / "clean-environment"
    ready, failed = folder / "ready", folder / "failed"
    try:
        folder.mkdir()
    except FileExistsError:
        until = time.monotonic() + WAIT_SECONDS
        while not ready.exists():
            assert not failed.exists(), failed.read_text()
            assert time.monotonic() < until, "another worker did not come to an end with the environment"
            time.sleep(0.2)
        return _bin(folder)
    try:
        _make(folder)
    except BaseException as error:
        failed.write_text(f"the environment could not be made: {error}")
        raise
    ready.touch()
    return _bin(folder)
