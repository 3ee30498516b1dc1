"""Importing the testing room costs no test framework."""

from __future__ import annotations

import subprocess
import sys

import ues_core.testing
import ues_core.testing.conformance


def test_the_in_memory_driver_needs_no_pytest() -> None:
    code = "import sys, ues_core.testing; print('pytest' in sys.modules, 'playwright' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["False", "False"]


def test_every_public_name_is_there() -> None:
    for module in (ues_core.testing, ues_core.testing.conformance):
        assert sorted(module.__all__) == sorted(set(module.__all__))
        assert all(hasattr(module, name) for name in module.__all__)
