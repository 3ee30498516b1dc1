"""A real git repository, and the tools that a consultation is lent."""

from __future__ import annotations

import itertools
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ues_core.contract import ConsultReceipt
from ues_core.reasoning import NONCE_CHARS, Tools

CACHE = '''"""A bounded cache."""

from __future__ import annotations

from shop.clock import now


class ExpiringCache:
    """Keeps values for a while."""

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self.values: dict[str, tuple[float, object]] = {}

    def fetch(self, key: str) -> object | None:
        born, value = self.values.get(key, (0.0, None))
        if now() - born > self.seconds:
            return None
        return value
'''
CLOCK = '''"""The time."""

import time


def now() -> float:
    return time.monotonic()
'''
INVOICE = '''"""Invoices."""


def total(lines: list[int]) -> int:
    return sum(lines)
'''


def git(folder: Path, *arguments: str) -> str:
    """Run git in a folder with an identity of its own."""
    settings = (
        "-c",
        "user.name=Ann",
        "-c",
        "user.email=ann@example.org",
        "-c",
        "init.defaultBranch=main",
        "-c",
        "commit.gpgsign=false",
    )
    done = subprocess.run(["git", *settings, *arguments], cwd=folder, check=True, capture_output=True, text=True)
    return done.stdout


def write(folder: Path, path: str, text: str) -> Path:
    """Write a file and its folders."""
    target = folder / path
    target.parent.mkdir(parents=True, exist_ok=True)
    target.write_text(text, encoding="utf-8")
    return target


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A small committed repository with a package, a manifest and a secret file that git tracks by mistake."""
    root = tmp_path / "shop-repo"
    root.mkdir()
    git(root, "init", "-q")
    write(root, "pyproject.toml", '[project]\nname = "shop"\n[project.scripts]\nshop = "shop.cli:main"\n')
    write(root, "src/shop/__init__.py", "")
    write(root, "src/shop/cache.py", CACHE)
    write(root, "src/shop/clock.py", CLOCK)
    write(root, "src/shop/invoice.py", INVOICE)
    write(
        root,
        "tests/test_cache.py",
        "from shop.cache import ExpiringCache\n\n\ndef test_fetch() -> None:\n    assert ExpiringCache(1)\n",
    )
    write(root, "README.md", "# Shop\n\nSells things.\n")
    write(root, "config/.env.production", "PAYMENT_PASSWORD=correct-horse-1\n")
    git(root, "add", "-A")
    git(root, "commit", "-q", "-m", "Open the shop")
    return root


@pytest.fixture
def run_git() -> Callable[..., str]:
    """``run_git(folder, *arguments)``."""
    return git


@pytest.fixture
def write_file() -> Callable[[Path, str, str], Path]:
    """``write_file(folder, path, text)``."""
    return write


@pytest.fixture
def receipts() -> list[ConsultReceipt]:
    """Where the tools record."""
    return []


@pytest.fixture
def tools(receipts: list[ConsultReceipt]) -> Tools:
    """Tools with counted ids and nonces."""
    numbers = itertools.count(1)
    ticks = itertools.count(1)
    return Tools(
        record=receipts.append,
        clock=lambda: float(next(ticks)),
        now=lambda: "2026-01-01T00:00:00Z",
        new_id=lambda prefix: f"{prefix}-{next(numbers):08}",
        nonce=lambda: f"{next(numbers):0{NONCE_CHARS}}",
    )
