from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ues_core.config import Settings, load_settings


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A directory that looks like the root of a repository."""
    root = tmp_path / "repo"
    (root / ".git").mkdir(parents=True)
    return root


@pytest.fixture
def load(tmp_path: Path) -> Callable[..., Settings]:
    """``load(operator="toml", repo="toml", environ={}, arguments={})`` in a directory of its own, apart from this machine."""

    def call(
        *,
        operator: str | None = None,
        repository: str | None = None,
        environ: dict[str, str] | None = None,
        arguments: dict[str, object] | None = None,
    ) -> Settings:
        root = tmp_path / "the-repo"
        (root / ".git").mkdir(parents=True, exist_ok=True)
        variables = {"XDG_CONFIG_HOME": str(tmp_path / "config"), "XDG_STATE_HOME": str(tmp_path / "state"), **(environ or {})}
        if operator is not None:
            (tmp_path / "config" / "ues").mkdir(parents=True, exist_ok=True)
            (tmp_path / "config" / "ues" / "ues.toml").write_text(operator)
        if repository is not None:
            (root / "ues.toml").write_text(repository)
        return load_settings(environ=variables, arguments=arguments, repo=root, cwd=tmp_path)

    return call
