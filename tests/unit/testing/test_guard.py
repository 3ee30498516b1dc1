"""The guard of the conformance suites reports every way of switching a standard test off."""

from __future__ import annotations

import functools

import pytest

from ues_core.testing.conformance import Bench, DriverConformance, Guarded, ProviderConformance, audit

NAME = "test_closing_twice_is_closing_once"


def test_an_untouched_suite_is_clean() -> None:
    class Untouched(DriverConformance):
        async def test_something_of_its_own(self) -> None: ...

    assert audit(Untouched) == []
    assert len(Untouched._standard) >= 60
    assert audit(type("AlsoUntouched", (ProviderConformance,), {})) == []


def test_a_reasoned_xfail_is_the_one_way_to_override() -> None:
    class Reasoned(DriverConformance):
        @pytest.mark.xfail(reason="the terminal beeps twice when it closes")
        async def test_closing_twice_is_closing_once(self, bench: Bench) -> None: ...

    assert audit(Reasoned) == []


@pytest.mark.parametrize("mark", [pytest.mark.xfail, pytest.mark.xfail(reason=""), pytest.mark.xfail(reason="  ")])
def test_an_xfail_without_a_reason_is_reported(mark: pytest.MarkDecorator) -> None:
    @mark
    async def override(self: object) -> None: ...

    assert audit(type("Unreasoned", (DriverConformance,), {NAME: override})) == [
        f"{NAME} was overridden without @pytest.mark.xfail(reason=...)."
    ]


def test_a_test_replaced_by_nothing_is_reported() -> None:
    assert audit(type("Nothing", (DriverConformance,), {NAME: None})) == [f"{NAME} was replaced by None."]


def test_a_plain_override_is_reported() -> None:
    async def override(self: object) -> None: ...

    assert "overridden" in audit(type("Plain", (DriverConformance,), {NAME: override}))[0]


def test_a_wrapper_around_the_original_is_reported() -> None:
    @functools.wraps(DriverConformance.test_closing_twice_is_closing_once)
    async def wrapper(self: object) -> None: ...

    assert "overridden" in audit(type("Wrapped", (DriverConformance,), {NAME: wrapper}))[0]


@pytest.mark.parametrize("mark", [pytest.mark.skip(reason="no"), pytest.mark.skipif(True, reason="no")])
def test_a_standard_test_that_is_decorated_with_a_skip_is_reported(mark: pytest.MarkDecorator) -> None:
    original = DriverConformance.test_closing_twice_is_closing_once
    marks = list(getattr(original, "pytestmark", []))
    try:
        switched = type("Switched", (DriverConformance,), {NAME: mark(original)})
        assert "is switched off by" in audit(switched)[0]
    finally:
        original.pytestmark = marks  # type: ignore[attr-defined]


def test_a_mixin_in_between_does_not_hide_an_override() -> None:
    class Mixin:
        async def test_closing_twice_is_closing_once(self) -> None: ...

    assert "overridden" in audit(type("Mixed", (Mixin, DriverConformance), {}))[0]


def test_a_grandchild_is_judged_as_well() -> None:
    child = type("Child", (DriverConformance,), {NAME: None})
    assert audit(type("Grandchild", (child,), {})) == [f"{NAME} was replaced by None."]


def test_the_guard_itself_cannot_be_overridden() -> None:
    with pytest.raises(TypeError, match="leave the guard alone"):
        type("Cheat", (DriverConformance,), {"test_every_standard_test_is_still_there": None})


def test_a_suite_cannot_be_skipped_as_a_class() -> None:
    with pytest.raises(TypeError, match="skips a whole suite"):
        type("Skipped", (ProviderConformance,), {"pytestmark": pytest.mark.skip(reason="no")})


def test_every_suite_is_guarded() -> None:
    assert issubclass(DriverConformance, Guarded)
    assert issubclass(ProviderConformance, Guarded)
