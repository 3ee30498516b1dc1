"""``ues plugins`` and ``ues schema``, as a person or a script calls them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ues_core.cli import run


@pytest.fixture(autouse=True)
def apart(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Away from this machine's configuration, and in no repository."""
    for name in ("UES_CONFIG", "UES_PLUGINS", "UES_PLUGINS_STRICT", "UES_DRIVER", "UES_WEB_REASONING_PROVIDER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.chdir(tmp_path)


def listed(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, Any]]:
    return {row["name"]: row for row in json.loads(capsys.readouterr().out)["plugins"]}


def test_list_prints_one_json_value_with_every_field(site: Any, capsys: pytest.CaptureFixture[str]) -> None:
    site.driver("calm")
    site.module("noisy", "print('hello from the import')\n1/0")
    assert run(["plugins", "list", "--json"]) == 0
    row = listed(capsys)["calm"]
    assert set(row) >= {"name", "kind", "distribution", "version", "contract_version", "capabilities", "state", "cause"}
    assert row["state"] == "ok"
    assert run(["plugins", "list", "--json", "--load"]) == 0
    rows = listed(capsys)
    assert (rows["noisy"]["state"], rows["calm"]["contract_version"]) == ("failed", 1)


def test_strict_gives_an_exit_code_by_flag_variable_and_file(
    site: Any, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    site.module("raises", "1/0")
    assert run(["plugins", "list", "--load"]) == 0
    assert run(["plugins", "list", "--load", "--strict"]) == 1
    strict = tmp_path / "strict.toml"
    strict.write_text("strict_plugins = true\n")
    assert run(["plugins", "list", "--load", "--config", str(strict)]) == 1
    monkeypatch.setenv("UES_PLUGINS_STRICT", "1")
    capsys.readouterr()
    assert run(["plugins", "list", "--load", "--json"]) == 1
    assert listed(capsys)["raises"]["state"] == "failed"
    monkeypatch.setenv("UES_PLUGINS", "calm")
    assert run(["plugins", "list", "--load"]) == 0


def test_what_a_repository_may_not_say_is_shown(site: Any, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / "ues.toml").write_text('hooks = ["evil"]\n')
    assert run(["plugins", "list"]) == 0
    assert "Ignored: hooks" in capsys.readouterr().err
    assert run(["plugins", "list", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["ignored"][0]["key"] == "hooks"


def test_a_wrong_file_is_an_error_with_its_code(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    (tmp_path / "bad.toml").write_text("drivr = 1\n")
    assert run(["plugins", "list", "--json", "--config", str(tmp_path / "bad.toml")]) == 1
    error = json.loads(capsys.readouterr().out)["error"]
    assert (error["code"], error["details"]["nearest"]) == ("config-invalid", "driver")


def test_schema_prints_the_schema_of_a_name_and_lists_names(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["schema", "advice"]) == 0
    assert "recommendedApproach" in json.loads(capsys.readouterr().out)["properties"]
    assert run(["schema", "--list", "--json"]) == 0
    assert {"action", "observation", "receipt", "packet", "site"} <= set(json.loads(capsys.readouterr().out))
    assert run(["schema"]) == 0
    assert "observation" in capsys.readouterr().out.splitlines()
    assert run(["schema", "obsrvation"]) == 1
    assert "Did you mean observation?" in capsys.readouterr().err
