"""A repository's own file is untrusted: it narrows, chooses among what was allowed, and everything else is ignored aloud."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from ues_core.config import Settings, load_settings, narrow_to_repository, setting_keys
from ues_core.contract import ConfigError, ReasoningMode

Load = Callable[..., Settings]


def ignored(settings: Settings) -> dict[str, str]:
    return {i.key: i.why for i in settings.ignored}


def test_it_narrows_mode_budgets_and_origins(load: Load) -> None:
    settings = load(
        operator='mode = "force"\nallowed_origins = ["https://a.example", "https://b.example"]\n',
        repository=(
            'mode = "off"\nallowed_origins = ["https://b.example"]\ndenied_origins = ["https://c.example"]\n'
            "[budgets]\nactions = 10\n[packet]\npacket_chars = 4000\n[timeouts]\naction = 2\n"
        ),
    )
    assert settings.mode is ReasoningMode.OFF
    assert settings.allowed_origins == ("https://b.example",)
    assert settings.denied_origins == ("https://c.example",)
    assert (settings.budgets.actions, settings.packet.packet_chars, settings.timeouts.action) == (10, 4000, 2.0)
    assert settings.ignored == ()
    assert "the-repo" in settings.source("mode")


def test_it_cannot_widen(load: Load) -> None:
    settings = load(
        operator='mode = "off"\nallowed_origins = ["https://a.example"]\ndenied_origins = ["https://d.example"]\n',
        repository=(
            'mode = "auto"\nallowed_origins = ["https://a.example", "https://evil.example"]\ndenied_origins = []\n'
            "[budgets]\nactions = 2000\n[packet]\npacket_chars = 90000\n[timeouts]\nnavigation = 100\n"
        ),
    )
    assert settings.mode is ReasoningMode.OFF
    assert settings.allowed_origins == ("https://a.example",)
    assert settings.denied_origins == ("https://d.example",)
    assert (settings.budgets.actions, settings.packet.packet_chars, settings.timeouts.navigation) == (200, 48_000, 30.0)
    assert set(ignored(settings)) == {
        "mode",
        "allowed_origins",
        "budgets.actions",
        "packet.packet_chars",
        "timeouts.navigation",
    }
    assert "https://evil.example" in ignored(settings)["allowed_origins"]


def test_an_operator_who_allows_every_origin_can_be_narrowed_to_some(load: Load) -> None:
    assert load(repository='allowed_origins = ["https://a.example"]\n').allowed_origins == ("https://a.example",)


def test_it_chooses_only_among_allowed_plugins(load: Load) -> None:
    allowed = 'driver = "playwright"\nallowed_plugins = ["playwright", "cdp-raw"]\n'
    assert load(operator=allowed, repository='driver = "cdp-raw"\n').driver == "cdp-raw"
    settings = load(operator=allowed, repository='driver = "evil"\nprovider = "double"\n')
    assert (settings.driver, settings.provider) == ("playwright", "")
    assert "evil is not among" in ignored(settings)["driver"]
    assert "double is not among" in ignored(settings)["provider"]


def test_where_the_operator_lists_no_plugins_it_chooses_none(load: Load) -> None:
    settings = load(repository='driver = "cdp-raw"\nprovider = "double"\n')
    assert (settings.driver, settings.provider) == ("", "")
    assert set(ignored(settings)) == {"driver", "provider"}


def test_it_can_turn_the_provider_off(load: Load) -> None:
    assert load(operator='provider = "double"\n', repository='provider = "none"\n').provider == ""


FORBIDDEN = {
    "state_dir": '"x"',
    "cache": '"x"',
    "allowed_plugins": '["x"]',
    "disabled_plugins": '["x"]',
    "load_plugins": '"none"',
    "strict_plugins": "true",
    "hooks": '["x"]',
    "isolation": '"in-process"',
    "isolation_strict": "false",
    "popups": '"follow"',
    "dialogs": '"hold"',
    "browser.executable": '"/bin/sh"',
    "browser.no_sandbox": "true",
    "frame_origins": '["https://evil.example"]',
    "browser.headless": "false",
    "browser.args": '["--remote-debugging-port=1"]',
    "profiles.dir": '"x"',
    "drivers.NAME": "{}",
    "providers.NAME": '{ trust = "https://evil.example" }',
}


@pytest.mark.parametrize("key", sorted(FORBIDDEN))
def test_a_key_of_the_operator_is_ignored_and_reported_with_its_line(load: Load, key: str) -> None:
    settings = load(repository=f"# hello\n{key} = {FORBIDDEN[key]}\n")
    assert settings.model_copy(update={"ignored": ()}) == load(repository="")
    (only,) = settings.ignored
    assert only.key == key
    assert only.where.endswith("ues.toml, line 2")
    assert "operator" in only.why


def test_every_key_is_either_narrowing_or_tested_as_forbidden() -> None:
    assert {k.key for k in setting_keys() if k.repository == "never"} == set(FORBIDDEN)


def test_environment_and_arguments_outrank_it(load: Load) -> None:
    settings = load(
        repository='mode = "off"\n[budgets]\nactions = 5\n',
        environ={"UES_WEB_REASONING_MODE": "force"},
        arguments={"budgets.actions": 50},
    )
    assert settings.mode is ReasoningMode.FORCE
    assert settings.budgets.actions == 50


def test_what_arguments_allow_counts_for_the_choice(load: Load) -> None:
    settings = load(repository='provider = "double"\n', arguments={"allowed_plugins": ["double"]})
    assert settings.provider == "double"


def test_an_invalid_one_is_an_error_like_any_other(load: Load) -> None:
    with pytest.raises(ConfigError, match=r"the-repo.*line 1"):
        load(repository="driver = 1\n")


def test_a_key_that_no_setting_has_is_ignored_and_named_for_a_repository_may_not_stop_the_operator(load: Load) -> None:
    settings = load(repository='drivr = 1\nmode = "off"\n[approvals]\nall = true\n[browser]\nexecutible = "/bin/sh"\n')
    assert settings.mode == "off"
    ignored = {entry.key: entry for entry in settings.ignored}
    assert {"drivr", "approvals", "browser.executible"} <= set(ignored)
    assert "line 1" in ignored["drivr"].where


def test_it_is_found_from_a_subdirectory_and_named_as_the_operators_file_it_is_trusted_once(repo: Path) -> None:
    (repo / "ues.toml").write_text('driver = "x"\n')
    below = repo / "a" / "b"
    below.mkdir(parents=True)
    nowhere = {"XDG_CONFIG_HOME": str(repo / "none")}
    assert [i.key for i in load_settings(environ=nowhere, cwd=below).ignored] == ["driver"]
    named = load_settings(environ=nowhere, cwd=below, config_file=repo / "ues.toml")
    assert (named.driver, named.ignored) == ("x", ())


def test_outside_of_a_repository_no_file_of_the_directory_is_read(tmp_path: Path) -> None:
    (tmp_path / "ues.toml").write_text('mode = "off"\n')
    settings = load_settings(environ={"XDG_CONFIG_HOME": str(tmp_path / "none")}, cwd=tmp_path)
    assert settings.mode is ReasoningMode.AUTO


def test_settings_that_exist_are_narrowed_to_another_repository(load: Load, repo: Path) -> None:
    settings = load(operator='mode = "force"\n', arguments={"budgets.actions": 50})
    (repo / "ues.toml").write_text('mode = "off"\nhooks = ["evil"]\n[budgets]\nactions = 5\nfollow_ups = 0\n')
    (repo / "deep").mkdir()
    narrowed = narrow_to_repository(settings, repo / "deep")
    assert (narrowed.mode, narrowed.budgets.actions, narrowed.budgets.follow_ups) == (ReasoningMode.OFF, 50, 0)
    assert [i.key for i in narrowed.ignored] == ["hooks"]
    assert narrowed.hooks == ()
    assert narrow_to_repository(narrowed, repo) == narrowed
    assert settings.mode is ReasoningMode.FORCE
