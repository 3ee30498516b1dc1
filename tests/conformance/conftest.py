"""What a browser driver is told to start, and what both web drivers are meant to declare."""

from __future__ import annotations

import os
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest
import pytest_asyncio

from ues_core.contract import Launch
from ues_core.testing.sharing import Sharing
from ues_core.web.browsers import choose_browser, running_as_root


@pytest.fixture(scope="session")
def browser_launch() -> Callable[[], Launch]:
    """The first browser of this machine, headless; each driver makes and removes a profile folder of its own."""
    executable = choose_browser(os.environ).path
    return lambda: Launch(executable=executable, no_sandbox=running_as_root())


@pytest_asyncio.fixture(scope="session", loop_scope="session")
async def shared_sessions() -> AsyncIterator[Sharing]:
    """The browsers of this process that wait for a test."""
    sharing = Sharing()
    yield sharing
    await sharing.close()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The tests of both web drivers run on one event loop, on which the shared browsers live."""
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents and item.get_closest_marker("browser") and pytest_asyncio.is_async_test(item):
            item.add_marker(pytest.mark.asyncio(loop_scope="session"), append=False)
