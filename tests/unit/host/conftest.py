"""Hosts over the in-memory driver, found like any other plugin: through an entry point."""

from __future__ import annotations

from pathlib import Path

import pytest

from ues_core.config import Isolation, Settings

DRIVER = """
from ues_core.contract import hookimpl
from ues_core.testing import GoTo, MemoryDriver, MemoryNode, MemoryPage, RemoveNode, SetText

PAGES = [
    MemoryPage(url="https://a.test/", title="A", nodes=(
        MemoryNode(role="heading", name="Nobody", id="h"),
        MemoryNode(role="textbox", name="Name", id="n", value=""),
        MemoryNode(role="button", name="Greet", on_click=(SetText(node="h", text="Hello"),)),
        MemoryNode(role="button", name="Delete account", on_click=(RemoveNode(node="n"),)),
    )),
    MemoryPage(url="https://b.test/", title="B"),
]

@hookimpl
def ues_driver():
    return MemoryDriver(PAGES, name="in-memory")
"""


@pytest.fixture
def memory_plugin(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """An installed driver named ``in-memory``."""
    site = tmp_path / "site"
    info = site / "ues_in_memory_plugin-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "ues_in_memory_plugin.py").write_text(DRIVER)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: ues-in-memory-plugin\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ues.drivers]\nin-memory = ues_in_memory_plugin\n")
    monkeypatch.syspath_prepend(str(site))
    return "in-memory"


@pytest.fixture
def host_settings(tmp_path: Path, memory_plugin: str) -> Settings:
    """Settings with a state directory of their own; providers run in this process, which is quicker."""
    return Settings(
        driver=memory_plugin, state_dir=tmp_path / "state", cache=tmp_path / "cache", isolation=Isolation.IN_PROCESS
    )
