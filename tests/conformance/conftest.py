"""What a browser driver is told to start, and what both web drivers are meant to declare."""

from __future__ import annotations

import os
from collections.abc import Callable

import pytest

from ues_core.contract import Launch
from ues_core.web.browsers import choose_browser, running_as_root


@pytest.fixture(scope="session")
def browser_launch() -> Callable[[], Launch]:
    """The first browser of this machine, headless; each driver makes and removes a profile folder of its own."""
    executable = choose_browser(os.environ).path
    return lambda: Launch(executable=executable, no_sandbox=running_as_root())
