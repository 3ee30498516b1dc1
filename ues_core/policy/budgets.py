"""Budgets that a session spends and that nothing refills."""

from __future__ import annotations

from typing import Final

from ues_core.contract import PolicyRefusal
from ues_core.contract.codes import Code
from ues_core.contract.words import ActionClass, Verb
from ues_core.policy.taxonomy import traits

DEFAULT_ACTIONS: Final = 200
"""Actions of a session (reference: lifecycle table of the reasoning seed)."""
MOST_ACTIONS: Final = 2_000
"""The most that can be configured (same source)."""


class SessionBudget:
    """How many actions a session may still perform. Looking is free: read-only verbs cost nothing."""

    __slots__ = ("_limit", "_spent")

    def __init__(self, actions: int = DEFAULT_ACTIONS) -> None:
        if not 1 <= actions <= MOST_ACTIONS:
            raise ValueError(f"a session has 1 to {MOST_ACTIONS} actions, not {actions}")
        self._limit = actions
        self._spent = 0

    @property
    def limit(self) -> int:
        """Actions altogether."""
        return self._limit

    @property
    def left(self) -> int:
        """Actions that may still be performed."""
        return self._limit - self._spent

    def spend(self, verb: Verb | str) -> None:
        """Count one action. Raises ``PolicyRefusal`` (``budget-exhausted``) when none is left; a refused one costs nothing."""
        if traits(verb).action_class is ActionClass.READ_ONLY:
            return
        if self._spent >= self._limit:
            raise PolicyRefusal(
                f"The session has performed its {self._limit} actions.",
                code=Code.BUDGET_EXHAUSTED,
                next_step="Close the session and open another; the operator sets the limit (budgets.actions).",
            )
        self._spent += 1
