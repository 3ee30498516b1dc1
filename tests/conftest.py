"""Which tests begin, and how many run at a time."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

LONGEST = Path(__file__).parent / "hosts"
"""Whole demonstrations, pages of the docs, clean environments: one of them left to the end keeps a single core busy."""


def pytest_xdist_auto_num_workers() -> int:
    """One more than there are cores: a test of a browser or of a process waits for a third of its time."""
    return (os.cpu_count() or 1) + 1


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest begin first."""
    items.sort(key=lambda item: LONGEST not in item.path.parents)
