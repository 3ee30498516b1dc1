"""What a case is: a repository, an answer, and what must come of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ues_core.contract import Code, ConsultOutcome, Model, ReasoningMode

TASK: Final = "Why does the cache keep expired values? The root cause is unclear and several fixes are plausible."

SHOP: Final[Mapping[str, str]] = {
    "pyproject.toml": '[project]\nname = "shop"\n',
    "src/shop/__init__.py": "",
    "src/shop/cache.py": '"""A bounded cache."""\n\nfrom shop.clock import now\n\n\nclass ExpiringCache:\n'
    '    """Keeps values for a while."""\n\n    def __init__(self, seconds: float) -> None:\n        self.seconds = seconds\n'
    "        self.values: dict[str, tuple[float, object]] = {}\n\n    def fetch(self, key: str) -> object | None:\n"
    "        born, value = self.values.get(key, (0.0, None))\n        if now() - born > self.seconds:\n"
    "            return None\n        return value\n",
    "src/shop/clock.py": '"""The time."""\n\nimport time\n\n\ndef now() -> float:\n    return time.monotonic()\n',
    "src/shop/invoice.py": '"""Invoices."""\n\n\ndef total(lines: list[int]) -> int:\n    return sum(lines)\n',
    "src/shop/ledger/store.py": '"""Kept entries."""\n\n\ndef fetch(key: str) -> str:\n    return key.strip().lower()\n',
    "tests/test_cache.py": "from shop.cache import ExpiringCache\n\n\ndef test_fetch() -> None:\n    assert ExpiringCache(1)\n",
    "README.md": "# Shop\n\nSells things.\n",
    "config/.env.production": "PAYMENT_PASSWORD=correct-horse-battery-9\n",
    ".gitignore": "scratch/\n",
}
"""A small repository; a secret file is tracked by mistake, as it happens."""


@dataclass(frozen=True, slots=True)
class Expect:
    """What must come of an answer. ``None`` and empty: not looked at."""

    outcome: ConsultOutcome
    code: Code = Code.OK
    cause: ConsultOutcome | None = None
    bindings: tuple[str, ...] | None = None
    """Status of every claim, in order."""
    categories: tuple[str, ...] = ()
    """Kinds of claimed authority, each of which must have been found."""
    unknown_keys: tuple[str, ...] = ()
    exchanges: int = 1
    """How often the consultant is asked, exactly."""
    receipts: int = 1
    """Receipts of the exchanges, without those of a second question."""


@dataclass(frozen=True, slots=True)
class FollowUp:
    """A second exchange."""

    question: str
    evidence: str
    answer: Mapping[str, Any]
    expect: Expect


@dataclass(frozen=True, slots=True)
class Case:
    """One case. ``answer`` is laid over a sound one, or is the literal text; ``{nonce}`` stands for the request's own."""

    name: str
    about: str
    expect: Expect
    answer: Mapping[str, Any] | str = field(default_factory=dict)
    task: str = TASK
    mode: ReasoningMode = ReasoningMode.AUTO
    files: Mapping[str, str] = field(default_factory=dict)
    """Laid over the shop."""
    commit: str = "Open the shop"
    subsystems: int | None = None
    prepare: Callable[[Path], None] | None = None
    """Changes the folder before anything is asked."""
    meanwhile: Callable[[Path], None] | None = None
    """Changes the folder while the consultant thinks."""
    raw: Mapping[str, Any] = field(default_factory=dict)
    """Laid over the raw answer's own fields: identities."""
    wrap: Callable[[str], str] | None = None
    """Changes the answer's text after it was written."""
    prompt_lacks: tuple[str, ...] = ()
    """What must not have been sent."""
    follow_up: FollowUp | None = None


class CaseVerdict(Model):
    """How a case ended."""

    name: str
    about: str
    ok: bool
    outcome: str = ""
    code: str = ""
    bindings: tuple[str, ...] = ()
    problems: tuple[str, ...] = ()
    """What was not as expected; empty when it passed."""
