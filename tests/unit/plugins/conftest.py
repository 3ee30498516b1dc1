from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ues_core.config import Settings, load_settings
from ues_core.plugins import PluginBook

DRIVER = """
from ues_core.contract import Driver, DriverCapabilities, DriverInfo, hookimpl


class Mine:
    def __init__(self, options=None):
        self.options = options

    @property
    def info(self):
        return DriverInfo(name={name!r}, contract_version={version}, capabilities=DriverCapabilities(navigation=True))

    async def open(self, spec):
        raise AssertionError("never opened here")


@hookimpl
def ues_driver({arguments}):
    return Mine({arguments})
"""

PROVIDER = """
from ues_core.contract import Authority, ChannelKind, ProviderInfo, hookimpl


class Mine:
    def __init__(self, options=None):
        self.options = options

    @property
    def info(self):
        return ProviderInfo(name={name!r}, contract_version={version}, channel=ChannelKind.NONE)

    {authority}

    async def capability(self): ...
    async def start_session(self, channel, resume=None): ...
    async def consult(self, session, request, deadline): ...
    async def follow_up(self, session, delta, deadline): ...
    async def close_session(self, session): ...


@hookimpl
def ues_provider({arguments}):
    return Mine({arguments})
"""

HONEST = "authority = property(lambda self: Authority.CONSULTANT_ONLY)"


class Site:
    """A directory with distributions of our own making: metadata and modules as an installer would leave them."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.modules: set[str] = set()

    def add(self, distribution: str, entry_points: str, modules: dict[str, str], *, version: str = "1.0") -> None:
        info = self.path / f"{distribution.replace('-', '_')}-{version}.dist-info"
        info.mkdir(parents=True)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: {version}\n")
        (info / "entry_points.txt").write_text(entry_points)
        for module, text in modules.items():
            (self.path / f"{module}.py").write_text(text)
            self.modules.add(module)

    def driver(self, name: str, distribution: str = "", *, info: str = "", version: int = 1, arguments: str = "") -> None:
        distribution = distribution or f"dist-{name}"
        module = f"ues_test_{distribution}".replace("-", "_")
        text = DRIVER.format(name=info or name, version=version, arguments=arguments)
        self.add(distribution, f"[ues.drivers]\n{name} = {module}\n", {module: text})

    def provider(self, name: str, *, authority: str = HONEST, version: int = 1, arguments: str = "") -> None:
        module = f"ues_test_{name}".replace("-", "_")
        text = PROVIDER.format(name=name, version=version, arguments=arguments, authority=authority)
        self.add(f"dist-{name}", f"[ues.providers]\n{name} = {module}\n", {module: text})

    def module(self, name: str, text: str, *, kind: str = "drivers") -> None:
        """A driver (or other) whose module is exactly ``text``."""
        module = f"ues_test_{name}".replace("-", "_")
        self.add(f"dist-{name}", f"[ues.{kind}]\n{name} = {module}\n", {module: text})


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    """An empty site directory on the import path; its modules are forgotten afterwards."""
    made = Site(tmp_path / "site")
    made.path.mkdir()
    monkeypatch.syspath_prepend(str(made.path))
    yield made
    for module in made.modules:
        sys.modules.pop(module, None)


@pytest.fixture
def settings(tmp_path: Path) -> Callable[..., Settings]:
    """Settings of these arguments (and this environment), apart from this machine's own configuration."""

    def call(environ: dict[str, str] | None = None, **arguments: object) -> Settings:
        nowhere = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state")}
        return load_settings(environ={**nowhere, **(environ or {})}, arguments=arguments, cwd=tmp_path)

    return call


@pytest.fixture
def book(site: Site, settings: Callable[..., Settings]) -> Callable[..., PluginBook]:
    """A book that sees the site directory only."""

    def call(environ: dict[str, str] | None = None, **arguments: object) -> PluginBook:
        return PluginBook(settings(environ, **arguments), path=[str(site.path)])

    return call
