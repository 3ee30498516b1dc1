"""Keys, clocks and a good ledger that tests of the seal share."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import settings

from ues_core.contract import Intent, Receipt
from ues_core.contract.words import ActionClass, DispatchStatus
from ues_core.seal import Ledger, SigningKey

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")


class Clock:
    def __init__(self) -> None:
        self.now = 1_796_000_000.0

    def __call__(self) -> float:
        self.now += 0.001
        return self.now


def intent(number: int) -> Intent:
    return Intent(
        intent_id=f"i-{number}",
        owner="a",
        session="s",
        verb="click",
        action_class=ActionClass.EXTERNAL_SIDE_EFFECT,
        guard_key=f"g{number}",
    )


def receipt(number: int, *, intent_id: str | None = None, reason: str = "") -> Receipt:
    return Receipt(
        receipt_id=f"r-{number}",
        intent_id=intent_id,
        owner="a",
        session="s",
        verb="click",
        status=DispatchStatus.CONFIRMED,
        reason=reason,
    )


@pytest.fixture
def key() -> SigningKey:
    return SigningKey(random.Random(7).randbytes(32))


@pytest.fixture
def make_intent() -> Callable[[int], Intent]:
    return intent


@pytest.fixture
def make_receipt() -> Callable[..., Receipt]:
    return receipt


@pytest.fixture
def open_ledger(tmp_path: Path, key: SigningKey) -> Callable[..., Ledger]:
    def make(state_dir: Path = tmp_path, flush_seconds: float = 0.01, seed: int = 3) -> Ledger:
        return Ledger(state_dir, key, "H0s", now=Clock(), entropy=random.Random(seed).randbytes, flush_seconds=flush_seconds)

    return make


@pytest.fixture
def good_ledger(open_ledger: Callable[..., Ledger]) -> Path:
    """A closed chain of seven records: two intents with their receipts, two lone receipts, a terminal."""
    with open_ledger() as ledger:
        ledger.append_receipt(receipt(1))
        ledger.append_intent(intent(1))
        ledger.append_receipt(receipt(2, intent_id="i-1"))
        ledger.append_receipt(receipt(3, reason="said \\u201cno\\u201d"))
        ledger.append_intent(intent(2))
        ledger.append_receipt(receipt(4, intent_id="i-2"))
    return ledger.path
