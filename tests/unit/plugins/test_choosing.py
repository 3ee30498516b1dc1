"""Choosing one: argument > environment > file > default, and an answer to every name that cannot be had."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ues_core.config import Settings
from ues_core.contract import Driver, PluginError, PluginKind, WebReasoningProvider
from ues_core.plugins import PluginBook

Book = Callable[..., PluginBook]


def test_only_the_chosen_plugin_is_imported(site: Any, book: Book) -> None:
    site.driver("one")
    site.driver("two")
    driver = book(driver="one").driver()
    assert isinstance(driver, Driver)
    assert "ues_test_dist_one" in sys.modules
    assert "ues_test_dist_two" not in sys.modules


def test_the_argument_beats_the_environment_beats_the_default(site: Any, book: Book) -> None:
    for name in ("playwright", "one", "two"):
        site.driver(name)
    assert book().driver_name() == "playwright"
    assert book({"UES_DRIVER": "one"}).driver_name() == "one"
    assert book({"UES_DRIVER": "one"}, driver="two").driver_name() == "two"
    assert book({"UES_DRIVER": "one"}).driver("two").info.name == "two"


def test_the_default_driver_is_playwright_else_the_only_one_else_an_error(site: Any, book: Book) -> None:
    with pytest.raises(PluginError, match="No driver is installed"):
        book().driver()
    site.driver("one")
    assert book().driver_name() == "one"
    site.driver("two")
    with pytest.raises(PluginError, match="one, two"):
        book().driver()
    with pytest.raises(
        PluginError, match=r"\(one, two\) may be loaded: no plugin is loaded \(environment variable UES_PLUGINS\)"
    ):
        book({"UES_PLUGINS": "none"}).driver()
    assert book(disabled_plugins=["one"]).driver_name() == "two"
    site.driver("playwright")
    assert book().driver_name() == "playwright"


def test_there_is_no_default_provider_not_even_the_only_one(site: Any, book: Book) -> None:
    site.provider("double")
    assert book().provider_name() == ""
    with pytest.raises(PluginError) as caught:
        book().provider()
    assert caught.value.code == "no-provider"
    assert book({"UES_WEB_REASONING_PROVIDER": "double"}).provider().info.name == "double"
    assert isinstance(book().provider("double"), WebReasoningProvider)
    assert book(provider="double").provider_name("none") == ""


def test_an_unknown_name_lists_what_is_installed_and_the_nearest(site: Any, book: Book) -> None:
    site.driver("playwright")
    site.driver("cdp-raw")
    site.provider("double")
    with pytest.raises(PluginError) as caught:
        book(driver="playwrihgt").driver()
    assert caught.value.code == "plugin-unknown"
    assert "Installed: cdp-raw, playwright" in caught.value.sentence
    assert "Did you mean playwright?" in caught.value.sentence
    assert "pip install" in caught.value.next_step
    assert caught.value.details["nearest"] == "playwright"
    with pytest.raises(PluginError, match="a provider of that name"):
        book(driver="double").driver()
    with pytest.raises(PluginError, match="Did you mean double"):
        book().provider("duoble")


def test_a_choice_that_the_settings_bar_says_why(site: Any, book: Book) -> None:
    site.driver("one")
    for arguments, code in (
        ({"disabled_plugins": ["dist-one"]}, "plugin-disabled"),
        ({"allowed_plugins": ["two"]}, "plugin-not-allowed"),
        ({"load_plugins": "none"}, "plugin-disabled"),
    ):
        with pytest.raises(PluginError) as caught:
            book(**arguments).driver("one")
        assert caught.value.code == code
    assert book(allowed_plugins=["dist-one"]).driver("one").info.name == "one"
    assert "ues_test_dist_one" in sys.modules


def test_factories_name_the_arguments_they_want(site: Any, book: Book) -> None:
    site.driver("plain")
    site.driver("greedy", arguments="options")
    site.provider("wise", arguments="options")
    options = {"drivers": {"greedy": {"deep": {"list": [1]}}}, "providers": {"wise": {"a": 1}}}
    chosen = book(**options)
    driver: Any = chosen.driver("greedy")
    assert driver.options == {"deep": {"list": [1]}}
    driver.options["deep"]["list"].append(2)
    again: Any = chosen.driver("greedy")
    assert again.options == {"deep": {"list": [1]}}
    provider: Any = chosen.provider("wise")
    assert provider.options == {"a": 1}
    assert chosen.driver("plain").info.name == "plain"


def test_a_factory_may_return_a_class_and_an_entry_point_may_name_an_object(site: Any, book: Book) -> None:
    text = (
        "from ues_core.contract import DriverInfo, hookimpl\n"
        "class Mine:\n    info = DriverInfo(name='held')\n    async def open(self, spec): ...\n"
        "class Plugin:\n    @hookimpl\n    def ues_driver(self): return Mine\n"
        "plugin = Plugin()\n"
    )
    site.add("dist-held", "[ues.drivers]\nheld = ues_test_held:plugin\n", {"ues_test_held": text})
    assert type(book().driver("held")).__name__ == "Mine"


AUTHORITIES = {
    "judge": "authority = property(lambda self: 'judge')",
    "setter": "authority = property(lambda self: Authority.CONSULTANT_ONLY, lambda self, v: None)",
    "constant": "authority = Authority.CONSULTANT_ONLY",
    "absent": "x = 1",
}


@pytest.mark.parametrize("name", sorted(AUTHORITIES))
def test_a_provider_that_could_be_more_than_a_consultant_is_refused(site: Any, book: Book, name: str) -> None:
    site.provider(name, authority=AUTHORITIES[name])
    with pytest.raises(PluginError) as caught:
        book().provider(name)
    assert caught.value.code == "authority-violation"
    assert f"dist-{name} 1.0" in caught.value.sentence
    (row,) = book().list(load=True)
    assert row.state == "failed"


def test_a_repository_cannot_choose_what_the_operator_did_not_allow(
    site: Any, settings: Callable[..., Settings], tmp_path: Path
) -> None:
    site.driver("playwright")
    site.driver("evil")
    (tmp_path / ".git").mkdir()
    (tmp_path / "ues.toml").write_text('driver = "evil"\n')
    chosen = settings()
    assert [i.key for i in chosen.ignored] == ["driver"]
    assert PluginBook(chosen, path=[str(site.path)]).driver_name() == "playwright"


def test_two_books_with_different_settings_share_nothing(site: Any, book: Book) -> None:
    site.driver("one")
    site.driver("two")
    first, second = book(disabled_plugins=["two"]), book(disabled_plugins=["one"])
    assert (first.driver_name(), second.driver_name()) == ("one", "two")


def test_a_plugin_can_be_located_without_importing_it(site: Any, book: Book) -> None:
    site.provider("wise")
    row = book().locate(PluginKind.PROVIDER, "wise")
    assert (row.entry_point, row.distribution, row.loaded) == ("ues_test_wise", "dist-wise", False)
    assert "ues_test_wise" not in sys.modules
    with pytest.raises(PluginError):
        book(disabled_plugins=["wise"]).locate(PluginKind.PROVIDER, "wise")
