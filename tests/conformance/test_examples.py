"""The example packages of third parties pass the suites, run as their authors would run them."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"
PACKAGES = {"third_party_driver": "ues_driver_stockroom", "third_party_provider": "ues_provider_relay"}


@pytest.mark.parametrize("example", PACKAGES)
def test_an_example_passes_its_own_tests(example: str) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist", "tests"],
        cwd=EXAMPLES / example,
        env={**os.environ, "PYTHONPATH": str(EXAMPLES / example), "PYTEST_ADDOPTS": ""},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout


@pytest.mark.parametrize("example", PACKAGES)
def test_an_example_imports_the_contract_and_no_other_room(example: str) -> None:
    code = f"import sys, {PACKAGES[example]}; print(*{{m.split('.')[1] for m in sys.modules if m.startswith('ues_core.')}})"
    done = subprocess.run(
        [sys.executable, "-c", code],
        env={**os.environ, "PYTHONPATH": str(EXAMPLES / example)},
        capture_output=True,
        text=True,
        timeout=60,
        check=True,
    )
    assert done.stdout.split() == ["contract"]
