from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pluggy
import pytest

from ues_core.config import load_settings
from ues_core.contract import PROJECT
from ues_core.hooks import ContributorSpecs, ObserverSpecs
from ues_core.plugins import HookPackages, Observer, load_hooks


@pytest.fixture
def hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., HookPackages]]:
    """``hooks({"dist": "module text"}, listed=[...])`` installs hook packages in a site of their own and loads the listed."""
    site = tmp_path / "site"
    site.mkdir()
    monkeypatch.syspath_prepend(str(site))
    modules: list[str] = []

    def call(packages: dict[str, str], *, listed: list[str] | None = None, **arguments: object) -> HookPackages:
        for name, text in packages.items():
            module = f"ues_test_hook_{name}".replace("-", "_")
            modules.append(module)
            info = site / f"{name}-1.0.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
            (info / "entry_points.txt").write_text(f"[ues.hooks]\n{name} = {module}\n")
            (site / f"{module}.py").write_text("from ues_core.contract import ExtraDetector, RiskTerms, hookimpl\n" + text)
        settings = load_settings(
            environ={"XDG_CONFIG_HOME": str(tmp_path / "none")},
            arguments={"hooks": list(packages) if listed is None else listed, **arguments},
            cwd=tmp_path,
        )
        return load_hooks(settings, path=[str(site)])

    yield call
    for module in modules:
        sys.modules.pop(module, None)


@pytest.fixture
def observer() -> Callable[..., Observer]:
    """An ``Observer`` around any object with hook implementations."""

    def call(plugin: Any, name: str = "dist") -> Observer:
        manager = pluggy.PluginManager(PROJECT)
        manager.add_hookspecs(ObserverSpecs)
        manager.add_hookspecs(ContributorSpecs)
        manager.register(plugin, name=name)
        return Observer(name, manager)

    return call
