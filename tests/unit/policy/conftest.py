"""Nodes that tests of the policy judge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from ues_core.contract import NodeFacts, NodeKey


@pytest.fixture(scope="session")
def node() -> Callable[..., NodeFacts]:
    def make(name: str = "", **facts: Any) -> NodeFacts:
        given: dict[str, Any] = {"role": "button", "tag": "button", "interactive": True, **facts}
        return NodeFacts(key=NodeKey(page="p", document="d", n=1), name=name, **given)

    return make
