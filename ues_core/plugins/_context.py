"""Asking hook packages for context while a packet is built: bounded in time, validated, each failing alone.

Every package is asked at the same time, each on a daemon thread of its own. One that raises, answers something invalid or
outlives the bound is switched off for this host: its thread is left to itself, what it brings later is not read.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Sequence
from typing import Any, Final

from pydantic import ValidationError

from ues_core.contract import ContextAnswer, ContextQuery, ContextSection, ContextState
from ues_core.hooks import CONTEXT_HOOKS
from ues_core.plugins._contributions import Observer
from ues_core.plugins._importing import describe

SECTIONS_READ: Final = 64
"""Sections of one answer that are looked at; a package that yields without end is cut off here."""


class ContextDesk:
    """The hook packages of one host that implement ``ues_collect_context``."""

    def __init__(self, packages: Sequence[Observer]) -> None:
        self._packages = [p for p in packages if _implements(p)]
        self._off: dict[int, str] = {}

    def __bool__(self) -> bool:
        return bool(self._packages)

    def collect(self, query: ContextQuery) -> list[ContextAnswer]:
        """Ask every package that is not switched off; wait ``query.seconds`` for all of them together. Raises nothing."""
        until = time.monotonic() + query.seconds
        calls = {n: _Call(p, query) for n, p in enumerate(self._packages) if n not in self._off}
        answers: list[ContextAnswer] = []
        for n, package in enumerate(self._packages):
            call = calls.get(n)
            if call is None:
                answer = ContextAnswer(distribution=package.distribution, state=ContextState.SWITCHED_OFF, cause=self._off[n])
            else:
                answer = call.answer(max(0.0, until - time.monotonic()))
            if answer.state in (ContextState.FAILED, ContextState.LATE, ContextState.INVALID):
                self._off[n] = answer.cause
            answers.append(answer)
        return answers


class _Call:
    """One package on a thread of its own."""

    def __init__(self, package: Observer, query: ContextQuery) -> None:
        self._package = package
        self._query = query
        self._seconds = query.seconds
        self._done = threading.Event()
        self._answer: ContextAnswer | None = None
        try:
            threading.Thread(target=self._run, name="ues-context", daemon=True).start()
        except RuntimeError as error:  # no thread starts any more while the interpreter ends
            self._answer = self._failed(error)
            self._done.set()

    def answer(self, seconds: float) -> ContextAnswer:
        """What it answered within ``seconds`` from now; anything later is not read."""
        if not self._done.wait(seconds) or self._answer is None:
            cause = f"it did not answer within {self._seconds:g} s"
            return self._of(ContextState.LATE, cause=cause)
        return self._answer

    def _run(self) -> None:
        try:
            answers = getattr(self._package.manager.hook, CONTEXT_HOOKS[0])(query=self._query)
            sections = _validated(answers)
            state = ContextState.ADDED if sections else ContextState.NOTHING
            self._answer = self._of(state, sections)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            where = ".".join(map(str, first["loc"])) or "section"
            self._answer = self._of(ContextState.INVALID, cause=f"{where}: {first['msg']}")
        except BaseException as error:  # noqa: BLE001 - a plugin may raise anything; it becomes a note
            self._answer = self._failed(error)
        self._done.set()

    def _failed(self, error: BaseException) -> ContextAnswer:
        return self._of(ContextState.FAILED, cause=describe(error))

    def _of(self, state: ContextState, sections: Sequence[ContextSection] = (), cause: str = "") -> ContextAnswer:
        return ContextAnswer(distribution=self._package.distribution, state=state, sections=tuple(sections), cause=cause[:300])


def _implements(package: Observer) -> bool:
    caller = getattr(package.manager.hook, CONTEXT_HOOKS[0], None)
    return caller is not None and bool(caller.get_hookimpls())


def _validated(answers: Sequence[Any]) -> list[ContextSection]:
    found: list[ContextSection] = []
    for answer in answers:
        for item in answer if answer is not None else ():
            if len(found) >= SECTIONS_READ:
                return found
            # through plain data, so that a subclass or an unvalidated construction is checked like anything else
            found.append(
                ContextSection.model_validate(item.model_dump(warnings=False) if isinstance(item, ContextSection) else item)
            )
    return found
