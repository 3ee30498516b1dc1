"""Hook packages load only when listed; contributions are data, validated, and a bad one starts nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable

import pytest

from ues_core.contract import Code, PluginError
from ues_core.plugins import HookPackages

Hooks = Callable[..., HookPackages]

DETECTOR = '@hookimpl\ndef ues_extra_detectors():\n    return [ExtraDetector(name="ticket", pattern="TICKET-[0-9]{6,12}")]\n'
TERMS = (
    "@hookimpl\ndef ues_extra_risk_terms():\n"
    '    return [RiskTerms(language="nl", category="destructive-target", terms=("verwijderen",))]\n'
)


def test_an_unlisted_package_is_never_imported(hooks: Hooks) -> None:
    loaded = hooks({"quiet": "1/0"}, listed=[])
    assert loaded == HookPackages()
    assert "ues_test_hook_quiet" not in sys.modules


def test_listed_packages_contribute_detectors_and_terms(hooks: Hooks) -> None:
    loaded = hooks({"one": DETECTOR, "two": TERMS})
    assert [d.name for d in loaded.detectors] == ["ticket"]
    assert loaded.risk_terms[0].terms == ("verwijderen",)
    assert loaded.risk_terms[0].category is Code.DESTRUCTIVE_TARGET
    assert [o.distribution for o in loaded.observers] == ["one", "two"]


def test_a_listed_package_that_is_missing_is_refused(hooks: Hooks) -> None:
    with pytest.raises(PluginError, match="nowhere is not installed") as caught:
        hooks({}, listed=["nowhere"])
    assert caught.value.code == "plugin-unknown"


BAD_CODE = {
    "raises": "1/0\n",
    "exits": "import sys; sys.exit(1)\n",
    "unknown-hook": "@hookimpl\ndef ues_grant_everything(): return True\n",
    "nothing": "x = 1\n",
    "wrong-argument": "@hookimpl\ndef ues_receipt_written(approval): pass\n",
    "raises-later": "@hookimpl\ndef ues_extra_detectors(): raise SystemExit\n",
}


@pytest.mark.parametrize("name", sorted(BAD_CODE))
def test_a_listed_package_that_does_not_load_is_refused_at_start(hooks: Hooks, name: str) -> None:
    with pytest.raises(PluginError) as caught:
        hooks({name: BAD_CODE[name]})
    assert caught.value.code == "plugin-failed"
    assert caught.value.details["distribution"] == name


def detector(pattern: str) -> str:
    return f"@hookimpl\ndef ues_extra_detectors(): return [dict(name='x', pattern={pattern!r})]\n"


def terms(language: str, category: str, words: str) -> str:
    return (
        "@hookimpl\ndef ues_extra_risk_terms():\n"
        f"    return [dict(language={language!r}, category={category!r}, terms={words})]\n"
    )


BAD_DATA = {
    "star": detector("secret-[a-z]*"),
    "plus": detector("secret-[a-z]+"),
    "open-ended": detector("secret-[a-z]{3,}"),
    "nested": detector("(?:[a-z]{1,9}){1,9}x"),
    "look-ahead": detector("secret(?=x)abcd"),
    "back-reference": detector(r"(abcd)\1"),
    "empty-match": detector("a?b?c?d?"),
    "no-expression": detector("abcd[efgh"),
    "too-short": detector("abc"),
    "too-long": detector("abcd" * 200),
    "language": terms("English please", "destructive-target", "('x',)"),
    "category": terms("en", "approval-required", "('x',)"),
    "no-terms": terms("en", "destructive-target", "()"),
    "blank-term": terms("en", "destructive-target", "('  ',)"),
    "long-term": terms("en", "destructive-target", "('x' * 500,)"),
    "a-callable": "@hookimpl\ndef ues_extra_detectors(): return [lambda text: text]\n",
    "allow-list": "@hookimpl\ndef ues_extra_detectors(): return [dict(name='x', pattern='abcd', allow=True)]\n",
    "unvalidated": (
        "@hookimpl\ndef ues_extra_detectors(): return [ExtraDetector.model_construct(name='x', pattern='(a*)*b')]\n"
    ),
    "too-many": "@hookimpl\ndef ues_extra_detectors(): return [dict(name='x', pattern='abcd')] * 1000\n",
    "twice": "@hookimpl\ndef ues_extra_detectors(): return [dict(name='x', pattern='abcd')] * 2\n",
}


@pytest.mark.parametrize("name", sorted(BAD_DATA))
def test_a_bad_contribution_is_refused_at_start_and_names_its_package(hooks: Hooks, name: str) -> None:
    with pytest.raises(PluginError) as caught:
        hooks({"good": DETECTOR, name: BAD_DATA[name]})
    assert caught.value.code == "contribution-invalid"
    if name != "twice":
        assert caught.value.details["distribution"] == name
        assert f"{name} 1.0" in caught.value.sentence


def test_the_switch_that_loads_no_plugin_loads_no_hook_package_either(hooks: Hooks) -> None:
    assert hooks({"one": DETECTOR}, load_plugins="none") == HookPackages()
