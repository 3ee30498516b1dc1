"""A wrong setting is an error that names its place, the key, what was expected and the nearest key."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.config import Settings, load_settings, setting_keys
from ues_core.contract import ConfigError, Fault

Load = Callable[..., Settings]


@pytest.mark.parametrize(
    ("text", "line", "key", "nearest"),
    [
        ('driver = "x"\nprovidr = "y"\n', "2", "providr", "provider"),
        ("[browser]\n\nheadles = true\n", "3", "browser.headles", "browser.headless"),
        ("[timeoutz]\nwait = 1\n", "1", "timeoutz", "timeouts"),
        ("timeouts.navigatoin = 3\n", "1", "timeouts.navigatoin", "timeouts.navigation"),
        ('executable = "/x"\n', "1", "executable", "browser.executable"),
        ('sources = "mine"\n', "1", "sources", ""),
    ],
)
def test_an_unknown_key_names_file_line_and_nearest_key(
    load: Load, tmp_path: Path, text: str, line: str, key: str, nearest: str
) -> None:
    with pytest.raises(ConfigError) as caught:
        load(operator=text)
    details = caught.value.details
    assert (details["line"], details["key"], details.get("nearest", "")) == (line, key, nearest)
    assert details["file"] == str(tmp_path / "config" / "ues" / "ues.toml")
    assert f"line {line}" in caught.value.sentence
    assert key in caught.value.sentence
    assert caught.value.fault is Fault.OPERATOR


@pytest.mark.parametrize(
    ("text", "line", "key", "expected"),
    [
        ('mode = "always"\n', "1", "mode", 'one of "off", "auto", "force"'),
        ('\n[timeouts]\nnavigation = "5"\n', "3", "timeouts.navigation", "a number from 1 to 180"),
        ("[timeouts]\nnavigation = 1000\n", "2", "timeouts.navigation", "a number from 1 to 180"),
        ("[budgets]\nactions = 1.5\n", "2", "budgets.actions", "a whole number from 1 to 2000"),
        ("[browser]\nno_sandbox = 1\n", "2", "browser.no_sandbox", "true or false"),
        ("[browser]\nexecutable = 1979-05-27\n", "2", "browser.executable", "a path"),
        ("[timeouts]\nwait = inf\n", "2", "timeouts.wait", "a number from 0.1 to 60"),
        ("timeouts = 3\n", "1", "timeouts", "a table"),
        ('driver = "No Such Name"\n', "1", "driver", ""),
        ('allowed_origins = ["https://a.example/path"]\n', "1", "allowed_origins", ""),
        ("[drivers]\ncdp-raw = 3\n", "2", "drivers.cdp-raw", "a table"),
    ],
)
def test_a_wrong_value_names_what_was_expected(load: Load, text: str, line: str, key: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(operator=text)
    details = caught.value.details
    assert (details["line"], details["key"]) == (line, key)
    assert details["expected"]
    assert expected in details["expected"]
    assert details["expected"] in caught.value.sentence


@pytest.mark.parametrize(
    ("text", "line"), [('driver = "x\n', "1"), ("a = 1\na = 2\n", "2"), ("[browser\n", "1"), ('x = """\n\n', "2")]
)
def test_broken_toml_names_the_line(load: Load, text: str, line: str) -> None:
    with pytest.raises(ConfigError, match="not valid TOML") as caught:
        load(operator=text)
    assert caught.value.details["line"] == line


def test_a_file_that_is_not_utf8_or_too_large_is_unreadable(tmp_path: Path) -> None:
    binary = tmp_path / "binary.toml"
    binary.write_bytes(b"driver = '\xff\xfe'\n")
    large = tmp_path / "large.toml"
    large.write_bytes(b"#" * 2_000_000)
    for path in (binary, large, tmp_path):
        with pytest.raises(ConfigError) as caught:
            load_settings(environ={}, config_file=path, cwd=tmp_path)
        assert caught.value.code == "config-unreadable"


@pytest.mark.parametrize(
    ("variable", "value", "expected"),
    [
        ("UES_WEB_REASONING_MODE", "sometimes", '"off"'),
        ("UES_WEB_PACKET_MAX_CHARS", "many", "whole number"),
        ("UES_WEB_PACKET_MAX_CHARS", "12", "from 2000"),
        ("UES_PLUGINS_STRICT", "perhaps", "0, false"),
        ("UES_NO_SANDBOX", "2", "1, true"),
        ("UES_DRIVER", "../evil", "name of an installed driver"),
        ("UES_PLUGINS", "a b", "names of plugins"),
        ("UES_BROWSER_EXECUTABLE", "/x/\udcff", "a path"),
    ],
)
def test_a_bad_variable_is_an_error_that_names_it(load: Load, variable: str, value: str, expected: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(environ={variable: value})
    assert variable in caught.value.sentence
    assert expected in caught.value.details["expected"]


def test_unknown_variables_of_ours_are_reported_with_the_nearest_one(load: Load) -> None:
    settings = load(environ={"UES_DRIVRE": "x", "UES_ZZZ": "y", "OTHER": "z"})
    assert [(i.key, "UES_DRIVER" in i.why) for i in settings.ignored] == [("UES_DRIVRE", True), ("UES_ZZZ", False)]


@pytest.mark.parametrize("arguments", [{"drivr": "x"}, {"timeouts": {"nav": 1}}, {"mode": "on"}, {"driver": object()}])
def test_a_bad_argument_is_the_hosts_fault(load: Load, arguments: dict[str, object]) -> None:
    with pytest.raises(ConfigError) as caught:
        load(arguments=arguments)
    assert caught.value.fault is Fault.HOST
    assert "argument" in caught.value.sentence


@given(st.sampled_from([k for k in setting_keys() if not k.key.endswith("NAME")]), st.data())
def test_whatever_stands_behind_a_key_it_is_taken_or_refused_by_name(key: object, data: st.DataObject) -> None:
    value = data.draw(st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.lists(st.text(), max_size=3))
    name = key.key  # type: ignore[attr-defined]
    refused: dict[str, str] = {}
    settings: Settings | None = None
    try:
        settings = load_settings(environ={"XDG_CONFIG_HOME": "/nonexistent"}, arguments={name: value}, cwd="/nonexistent")
    except ConfigError as error:
        refused = error.details
    if settings is None:
        assert refused["key"] == name
        assert refused["expected"]
    else:
        assert value is None or settings.source(name) == f"argument {name}"


@pytest.mark.parametrize("name", ["~nobody-of-that-name/ues.toml", "nul\0byte"])
def test_a_path_that_cannot_be_is_an_error_of_the_configuration(load: Load, name: str) -> None:
    with pytest.raises(ConfigError):
        load(environ={"UES_CONFIG": name})
    if "~" in name:
        with pytest.raises(ConfigError, match="state_dir"):
            load(arguments={"state_dir": name})
