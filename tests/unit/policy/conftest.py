"""Nodes that tests of the policy judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import settings

from ues_core.contract import NodeFacts, NodeKey

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


@pytest.fixture(scope="session")
def node() -> Callable[..., NodeFacts]:
    def make(name: str = "", **facts: Any) -> NodeFacts:
        given: dict[str, Any] = {"role": "button", "tag": "button", "interactive": True, **facts}
        return NodeFacts(key=NodeKey(page="p", document="d", n=1), name=name, **given)

    return make
