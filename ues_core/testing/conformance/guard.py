"""The guard: a suite says little if its tests can be switched off without a trace."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any, ClassVar, Final

import pytest

_HERE: Final = __name__.rpartition(".")[0]
_GUARD: Final = "test_every_standard_test_is_still_there"
_SWITCHES: Final = frozenset({"skip", "skipif"})


class Guarded:
    """The base of every suite.

    A subclass outside this package may override a standard test only with ``@pytest.mark.xfail(reason="why")``.
    """

    _standard: ClassVar[dict[str, tuple[Callable[..., Any], frozenset[str]]]] = {}
    """Every standard test by name, with the names of the marks that it was written with."""

    def __init_subclass__(cls, **kwargs: object) -> None:
        super().__init_subclass__(**kwargs)
        if _ours(cls):
            own = {
                name: (member, frozenset(mark.name for mark in _marks(member)))
                for name, member in vars(cls).items()
                if name.startswith("test_") and isinstance(member, FunctionType)
            }
            inherited: dict[str, tuple[Callable[..., Any], frozenset[str]]] = {}
            for base in reversed(cls.__mro__[1:]):
                inherited.update(vars(base).get("_standard", {}))
            cls._standard = {**inherited, **own}
        elif _GUARD in vars(cls):
            raise TypeError(f"{cls.__qualname__} overrides {_GUARD}; leave the guard alone and fix what it reports")
        elif any(mark.name in _SWITCHES for mark in _marks(cls, own=True)):
            raise TypeError(f"{cls.__qualname__} skips a whole suite; skip the module instead, where it is seen")

    async def test_every_standard_test_is_still_there(self) -> None:
        """No standard test was removed, replaced or skipped, except by an xfail that gives its reason."""
        problems = audit(type(self))
        assert not problems, "\n".join(problems)


def audit(suite: type[Guarded]) -> list[str]:
    """What was done to a suite's standard tests, one sentence each; empty when nothing was."""
    problems = []
    for name, (original, marks) in sorted(suite._standard.items()):
        try:
            found = inspect.getattr_static(suite, name)
        except AttributeError:
            problems.append(f"{name} was removed.")
            continue
        if not isinstance(found, FunctionType):
            problems.append(f"{name} was replaced by {found!r}.")
            continue
        present = _marks(found)
        switched = sorted({mark.name for mark in present} & _SWITCHES - marks)
        if switched:
            problems.append(f"{name} is switched off by {', '.join(switched)}.")
        elif found is not original and not any(_reasoned(mark) for mark in present):
            problems.append(f"{name} was overridden without @pytest.mark.xfail(reason=...).")
    return problems


def _ours(cls: type) -> bool:
    return cls.__module__ == _HERE or cls.__module__.startswith(f"{_HERE}.")


def _marks(owner: object, *, own: bool = False) -> list[pytest.Mark]:
    held = vars(owner).get("pytestmark", []) if own and isinstance(owner, type) else getattr(owner, "pytestmark", [])
    marks = held if isinstance(held, list | tuple) else [held]
    return [mark if isinstance(mark, pytest.Mark) else mark.mark for mark in marks]


def _reasoned(mark: pytest.Mark) -> bool:
    return mark.name == "xfail" and bool(str(mark.kwargs.get("reason") or "").strip())
