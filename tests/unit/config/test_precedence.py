"""defaults < operator's file < environment < arguments, and every value knows where it came from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ues_core.config import Isolation, Settings, load_settings, override_settings
from ues_core.contract import ConfigError, ReasoningMode, Timeouts

Load = Callable[..., Settings]


def test_without_anything_every_value_is_a_default(load: Load, tmp_path: Path) -> None:
    settings = load()
    assert settings.driver == ""
    assert settings.provider == ""
    assert settings.mode is ReasoningMode.AUTO
    assert settings.isolation is Isolation.AUTO
    assert settings.allowed_origins is None
    assert settings.state_dir == tmp_path / "state" / "ues"
    assert settings.profiles_dir == tmp_path / "state" / "ues" / "profiles"
    assert settings.sources == {}
    assert settings.source("driver") == "default"
    assert settings.ignored == ()


def test_file_beats_default_environment_beats_file_argument_beats_environment(load: Load) -> None:
    file = 'driver = "from-file"\n'
    environ = {"UES_DRIVER": "from-environment"}
    assert load(operator=file).driver == "from-file"
    assert load(operator=file, environ=environ).driver == "from-environment"
    settings = load(operator=file, environ=environ, arguments={"driver": "from-argument"})
    assert settings.driver == "from-argument"
    assert settings.source("driver") == "argument driver"


def test_a_table_is_merged_key_by_key(load: Load) -> None:
    settings = load(operator="[timeouts]\nnavigation = 20\naction = 3.5\n", arguments={"timeouts": {"action": 4}})
    assert (settings.timeouts.navigation, settings.timeouts.action, settings.timeouts.wait) == (20.0, 4.0, 5.0)


def test_the_source_names_file_and_line(load: Load, tmp_path: Path) -> None:
    settings = load(operator='# a comment\nmode = "off"\n\n[browser]\nargs = [\n  "--x",\n]\nheadless = false\n')
    file = tmp_path / "config" / "ues" / "ues.toml"
    assert settings.source("mode") == f"{file}, line 2"
    assert settings.source("browser.args") == f"{file}, line 5"
    assert settings.source("browser.headless") == f"{file}, line 8"


def test_each_environment_variable_sets_its_key(load: Load, tmp_path: Path) -> None:
    settings = load(
        environ={
            "UES_DRIVER": "cdp-raw",
            "UES_WEB_REASONING_PROVIDER": "double",
            "UES_WEB_REASONING_MODE": "force",
            "UES_WEB_PACKET_MAX_CHARS": "5000",
            "UES_BROWSER_EXECUTABLE": "/opt/browser",
            "UES_STATE_DIR": "here",
            "UES_PLUGINS": "double, cdp-raw",
            "UES_PLUGINS_STRICT": "yes",
            "UES_NO_SANDBOX": "0",
        }
    )
    assert settings.driver == "cdp-raw"
    assert settings.provider == "double"
    assert settings.mode is ReasoningMode.FORCE
    assert settings.packet.packet_chars == 5000
    assert settings.browser.executable == "/opt/browser"
    assert settings.state_dir == tmp_path / "here"
    assert settings.load_plugins == ("double", "cdp-raw")
    assert settings.strict_plugins is True
    assert settings.browser.no_sandbox is False
    assert settings.source("packet.packet_chars") == "environment variable UES_WEB_PACKET_MAX_CHARS"


def test_an_empty_variable_is_as_good_as_unset(load: Load) -> None:
    assert load(operator='driver = "one"\n', environ={"UES_DRIVER": ""}).driver == "one"


@pytest.mark.parametrize(("value", "expected"), [("none", "none"), ("all", "all"), ("a,b", ("a", "b")), (",", ())])
def test_ues_plugins_takes_none_all_or_a_list(load: Load, value: str, expected: object) -> None:
    assert load(environ={"UES_PLUGINS": value}).load_plugins == expected


def test_provider_none_means_no_provider(load: Load) -> None:
    assert load(operator='provider = "double"\n', environ={"UES_WEB_REASONING_PROVIDER": "none"}).provider == ""


def test_ues_config_names_the_file_and_replaces_the_users(load: Load, tmp_path: Path) -> None:
    other = tmp_path / "other.toml"
    other.write_text('provider = "double"\n')
    settings = load(operator='driver = "one"\n', environ={"UES_CONFIG": str(other)})
    assert (settings.driver, settings.provider) == ("", "double")


def test_a_named_file_that_is_not_there_is_an_error(load: Load, tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        load(environ={"UES_CONFIG": "missing.toml"})
    assert caught.value.code == "config-unreadable"
    assert str(tmp_path / "missing.toml") in caught.value.sentence


def test_relative_paths_of_a_file_are_relative_to_that_file(load: Load, tmp_path: Path) -> None:
    settings = load(operator='state_dir = "state"\n[profiles]\ndir = "../profiles"\n')
    assert settings.state_dir == tmp_path / "config" / "ues" / "state"
    assert settings.profiles_dir == tmp_path / "config" / "ues" / ".." / "profiles"


def test_arguments_may_be_dotted_nested_or_models_and_none_means_not_given(load: Load) -> None:
    settings = load(
        operator='driver = "one"\n',
        arguments={
            "driver": None,
            "budgets.actions": 7,
            "budgets": {"follow_ups": 1},
            "timeouts": Timeouts(wait=2.0),
            "allowed_origins": ("HTTPS://Example.org:443",),
            "mode": ReasoningMode.OFF,
        },
    )
    assert settings.driver == "one"
    assert (settings.budgets.actions, settings.budgets.follow_ups) == (7, 1)
    assert settings.timeouts.wait == 2.0
    assert settings.allowed_origins == ("https://example.org",)
    assert settings.mode is ReasoningMode.OFF


def test_option_tables_reach_plugins_as_data(load: Load) -> None:
    settings = load(operator='[drivers.cdp-raw]\npipe = true\nlist = [1, "two"]\n[providers.double]\nscript = "x.json"\n')
    assert settings.drivers == {"cdp-raw": {"pipe": True, "list": [1, "two"]}}
    assert settings.providers == {"double": {"script": "x.json"}}


def test_settings_are_frozen(load: Load) -> None:
    with pytest.raises(ValueError, match="frozen"):
        load().driver = "x"  # type: ignore[misc]


def test_two_environments_in_one_process_give_two_settings(tmp_path: Path) -> None:
    one = load_settings(environ={"XDG_STATE_HOME": "/one", "XDG_CONFIG_HOME": "/none"}, cwd=tmp_path)
    two = load_settings(environ={"XDG_STATE_HOME": "/two", "XDG_CONFIG_HOME": "/none", "UES_DRIVER": "x"}, cwd=tmp_path)
    assert (one.state_dir, one.driver) == (Path("/one/ues"), "")
    assert (two.state_dir, two.driver) == (Path("/two/ues"), "x")


def test_dot_env_files_are_never_read(load: Load, tmp_path: Path) -> None:
    (tmp_path / "the-repo" / ".git").mkdir(parents=True)
    for folder in (tmp_path, tmp_path / "the-repo"):
        (folder / ".env").write_text("UES_DRIVER=evil\n")
    assert load().driver == ""


def test_override_keeps_what_it_does_not_name_and_validates_the_rest(load: Load) -> None:
    base = load(operator='driver = "one"\n[timeouts]\nwait = 2\n')
    changed = override_settings(base, {"timeouts.action": 3, "provider": "double"})
    assert (changed.driver, changed.provider) == ("one", "double")
    assert (changed.timeouts.wait, changed.timeouts.action) == (2.0, 3.0)
    assert changed.source("provider") == "argument provider"
    assert changed.source("driver") == base.source("driver")
    with pytest.raises(ConfigError):
        override_settings(base, {"timeouts.action": 0})


def test_the_sandbox_is_off_for_root_unless_somebody_decided(load: Load) -> None:
    assert load().browser.sandbox_is_off(is_root=True) is True
    assert load().browser.sandbox_is_off(is_root=False) is False
    assert load(environ={"UES_NO_SANDBOX": "1"}).browser.sandbox_is_off(is_root=False) is True
    assert load(environ={"UES_NO_SANDBOX": "0"}).browser.sandbox_is_off(is_root=True) is False
