"""The example of a driver that drives no browser passes the suite, run as its author would run it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parents[2] / "examples" / "third_party_driver"


def test_the_example_driver_passes_its_own_tests() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "tests"],
        cwd=EXAMPLE,
        env={**os.environ, "PYTHONPATH": str(EXAMPLE), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


def test_the_example_driver_imports_the_contract_and_no_other_room() -> None:
    code = "import sys, ues_driver_stockroom; print(*{m.split('.')[1] for m in sys.modules if m.startswith('ues_core.')})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(EXAMPLE)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["contract"]
