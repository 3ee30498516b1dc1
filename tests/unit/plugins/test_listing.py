"""Listing: every entry point with its state, without importing; with ``load``, each validated alone."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import pytest

from ues_core.contract import PluginError, PluginState
from ues_core.plugins import PluginBook, PluginRow

Book = Callable[..., PluginBook]


def by_name(rows: tuple[PluginRow, ...]) -> dict[str, PluginRow]:
    return {row.name: row for row in rows}


def test_names_come_from_metadata_without_importing(site: Any, book: Book) -> None:
    site.module("explosive", "raise SystemExit('imported!')")
    site.driver("calm")
    rows = by_name(book().list())
    assert set(rows) == {"explosive", "calm"}
    assert {row.state for row in rows.values()} == {PluginState.OK}
    assert not any(row.loaded for row in rows.values())
    assert rows["calm"].distribution == "dist-calm"
    assert rows["calm"].version == "1.0"
    assert rows["calm"].entry_point == "ues_test_dist_calm"
    assert rows["calm"].contract_version is None
    assert not any(name.startswith("ues_test_") for name in sys.modules)


def test_load_tells_contract_version_and_capabilities(site: Any, book: Book) -> None:
    site.driver("calm")
    site.provider("wise")
    rows = by_name(book().list(load=True))
    assert (rows["calm"].state, rows["calm"].contract_version, rows["calm"].loaded) == (PluginState.OK, 1, True)
    assert rows["calm"].capabilities["navigation"] is True
    assert rows["calm"].words() == ("navigation",)
    assert rows["wise"].capabilities["follow_up"] is True


BROKEN = {
    "raises": "raise RuntimeError('no luck')",
    "exits": "import sys; sys.exit(3)",
    "interrupts": "raise KeyboardInterrupt",
    "asserts": "assert False, 'never'",
    "syntax": "def (:",
    "missing": "import a_module_that_nobody_has",
    "no-hook": "x = 1",
    "silent": "from ues_core.contract import hookimpl\n@hookimpl\ndef ues_driver(): return None\n",
    "factory-exits": "from ues_core.contract import hookimpl\n@hookimpl\ndef ues_driver(): raise SystemExit\n",
    "wrong-thing": "from ues_core.contract import hookimpl\n@hookimpl\ndef ues_driver():\n    class X: info = 3\n    return X\n",
    "unknown-hook": "from ues_core.contract import hookimpl\n@hookimpl\ndef ues_drivr(): return 1\n",
    "wrong-argument": "from ues_core.contract import hookimpl\n@hookimpl\ndef ues_driver(browser): return 1\n",
    "bad-text": "class E(Exception):\n    def __str__(self): raise ValueError\nraise E\n",
}


def test_each_broken_plugin_is_reported_and_hurts_nobody_else(site: Any, book: Book) -> None:
    for name, text in BROKEN.items():
        site.module(name, text)
    site.driver("calm")
    site.provider("wise")
    rows = by_name(book().list(load=True))
    assert {name for name, row in rows.items() if row.state is PluginState.OK} == {"calm", "wise"}
    for name in BROKEN:
        assert rows[name].state is PluginState.FAILED, name
        assert rows[name].cause, name
        assert f"dist-{name} 1.0" in rows[name].cause
    assert "RuntimeError: no luck" in rows["raises"].cause
    assert "SystemExit: 3" in rows["exits"].cause
    assert "KeyboardInterrupt" in rows["interrupts"].cause


@pytest.mark.parametrize(("version", "upgrade"), [(99, "Upgrade ues-core"), (0, "Upgrade dist-other")])
def test_another_contract_version_says_which_side_to_upgrade(site: Any, book: Book, version: int, upgrade: str) -> None:
    site.driver("other", version=version)
    (row,) = book().list(load=True)
    assert (row.state, row.contract_version) == (PluginState.INCOMPATIBLE, version)
    assert upgrade in row.cause
    with pytest.raises(PluginError) as caught:
        book().driver("other")
    assert caught.value.code == "plugin-incompatible"
    assert upgrade in caught.value.next_step


def test_a_version_declared_by_the_module_is_checked_before_its_code_is_called(site: Any, book: Book) -> None:
    site.module(
        "future", "UES_CONTRACT_VERSION = 7\nfrom ues_core.contract import hookimpl\n@hookimpl\ndef ues_driver(): 1/0\n"
    )
    (row,) = book().list(load=True)
    assert (row.state, row.contract_version) == (PluginState.INCOMPATIBLE, 7)


def test_a_plugin_that_calls_itself_something_else_is_refused(site: Any, book: Book) -> None:
    site.driver("one", info="two")
    with pytest.raises(PluginError, match="calls itself two") as caught:
        book().driver("one")
    assert caught.value.code == "plugin-data-invalid"


def test_duplicates_name_both_distributions_and_are_not_imported(site: Any, book: Book) -> None:
    site.driver("same", "dist-first")
    site.driver("same", "dist-second")
    rows = book().list(load=True)
    assert [row.state for row in rows] == [PluginState.DUPLICATE] * 2
    assert not any(row.loaded for row in rows)
    for row in rows:
        assert "dist-first 1.0" in row.cause
        assert "dist-second 1.0" in row.cause
    with pytest.raises(PluginError, match=r"dist-first.*dist-second") as caught:
        book().driver("same")
    assert caught.value.code == "plugin-duplicate"


def test_disabling_one_of_two_distributions_settles_a_duplicate(site: Any, book: Book) -> None:
    site.driver("same", "dist-first")
    site.driver("same", "Dist_Second")
    chosen = book(disabled_plugins=["dist-second"])
    assert sorted(row.state for row in chosen.list()) == ["disabled", "ok"]
    assert chosen.driver("same").info.name == "same"


def test_the_same_name_in_two_kinds_is_no_duplicate(site: Any, book: Book) -> None:
    site.driver("both", "dist-driver")
    site.provider("both")
    assert [row.state for row in book().list(load=True)] == [PluginState.OK] * 2


@pytest.mark.parametrize(
    ("environ", "ok"),
    [({"UES_PLUGINS": "none"}, set()), ({"UES_PLUGINS": "one"}, {"one"}), ({"UES_PLUGINS": "all"}, {"one", "two"})],
)
def test_environment_switches_load_none_or_a_list(site: Any, book: Book, environ: dict[str, str], ok: set[str]) -> None:
    site.driver("one")
    site.driver("two")
    rows = book(environ).list(load=True)
    assert {row.name for row in rows if row.loaded} == ok
    assert {row.name for row in rows if row.state is PluginState.DISABLED} == {"one", "two"} - ok


def test_strict_turns_a_broken_plugin_into_an_error_that_names_it(site: Any, book: Book) -> None:
    site.driver("calm")
    site.module("raises", BROKEN["raises"])
    book().check_strict()
    with pytest.raises(PluginError, match=r"raises of dist-raises.*no luck"):
        book(environ={"UES_PLUGINS_STRICT": "1"}).check_strict()
    book(strict_plugins=True, disabled_plugins=["raises"]).check_strict()


def test_damaged_metadata_of_something_else_does_not_hide_plugins(site: Any, book: Book) -> None:
    site.driver("calm")
    (site.path / "broken-1.0.dist-info").mkdir()
    site.add("nonsense", "this is [ no\nentry point file", {})
    assert [row.name for row in book().list()] == ["calm"]


def test_deciders_and_hook_packages_are_listed_too(site: Any, book: Book) -> None:
    site.module(
        "think", "from ues_core.contract import hookimpl\n@hookimpl\ndef ues_decider(): return object()\n", kind="deciders"
    )
    site.module("watch", "1/0", kind="hooks")
    assert [(row.name, row.kind, row.state) for row in book().list(load=True)] == [("think", "decider", "ok")]
    assert [(h.name, h.listed) for h in book(hooks=["Dist.Watch"]).hooks()] == [("watch", True)]
    assert [(h.name, h.listed) for h in book().hooks()] == [("watch", False)]
