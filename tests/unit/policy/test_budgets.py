from __future__ import annotations

import pytest

from ues_core.contract import PolicyRefusal
from ues_core.contract.codes import Code
from ues_core.policy import SessionBudget


def test_the_last_action_is_allowed_and_the_next_is_refused_again_and_again() -> None:
    budget = SessionBudget(2)
    budget.spend("click")
    budget.spend("navigate")
    for _ in range(2):
        with pytest.raises(PolicyRefusal) as caught:
            budget.spend("fill")
        assert caught.value.code is Code.BUDGET_EXHAUSTED
    assert (budget.limit, budget.left) == (2, 0)


def test_looking_and_waiting_cost_nothing_even_when_nothing_is_left() -> None:
    budget = SessionBudget(1)
    budget.spend("click")
    for verb in ("observe", "wait", "read", "see", "evidence", "close"):
        budget.spend(verb)


def test_an_unknown_verb_costs_as_much_as_any_other() -> None:
    budget = SessionBudget(1)
    budget.spend("teleport")
    assert budget.left == 0


def test_the_default_is_two_hundred() -> None:
    assert SessionBudget().limit == 200


@pytest.mark.parametrize("actions", [0, -1, 2001])
def test_a_budget_is_within_its_bounds(actions: int) -> None:
    with pytest.raises(ValueError, match="1 to 2000"):
        SessionBudget(actions)
