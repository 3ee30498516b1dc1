"""Four small tasks: a repository with a fault, tests, and the edits that an executor would try, in the order it would."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final


@dataclass(frozen=True, slots=True)
class Candidate:
    """One edit: ``old`` becomes ``new`` in one file, once."""

    name: str
    path: str
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Task:
    """One task. ``visible`` are the tests that the executor may run; ``hidden`` are those that decide."""

    name: str
    difficulty: str
    text: str
    files: Mapping[str, str]
    visible: str
    hidden: str
    candidates: tuple[Candidate, ...]
    advice: Mapping[str, Any]
    attempts: int = 2
    """Edits that the executor tries before it gives up."""


def _tests(body: str) -> str:
    return f"import unittest\n\n\nclass Case(unittest.TestCase):\n{body}"


def _claim(path: str, quote: str) -> dict[str, Any]:
    return {"claims": [{"statement": "The fault is here.", "path": path, "quote": quote}]}


_CACHE: Final = (
    "class Cache:\n    def __init__(self, seconds, clock):\n        self.seconds = seconds\n        self.clock = clock\n"
    "        self.values = {}\n\n    def put(self, key, value):\n        self.values[key] = (0.0, value)\n\n"
    "    def fetch(self, key):\n        born, value = self.values.get(key, (0.0, None))\n"
    "        if self.clock() - born > self.seconds:\n            return None\n        return value\n"
)
_MONEY: Final = (
    "def share(total, people):\n    each = round(total / people)\n    return [each] * people\n\n\n"
    "def tax(amount, rate):\n    return int(amount * rate)\n"
)
_SLUG: Final = "def slug(text):\n    return text.strip().replace(' ', '-')\n"
_PAGES: Final = (
    "def pages(items, size):\n    return len(items) // size\n\n\ndef page(items, size, number):\n"
    "    start = number * size\n    return items[start : start + size]\n"
)

TASKS: Final[tuple[Task, ...]] = (
    Task(
        name="cache-forgets-at-once",
        difficulty="hard",
        text="Values put into the cache are gone at once. The root cause is unclear and several fixes are plausible.",
        files={"shop/__init__.py": "", "shop/cache.py": _CACHE},
        visible=_tests(
            "    def test_kept(self):\n        from shop.cache import Cache\n        c = Cache(5, lambda: 100.0)\n"
            "        c.put('a', 1)\n        self.assertEqual(c.fetch('a'), 1)\n"
        ),
        hidden=_tests(
            "    def test_expires(self):\n        from shop.cache import Cache\n        now = [100.0]\n"
            "        c = Cache(5, lambda: now[0])\n        c.put('a', 1)\n        self.assertEqual(c.fetch('a'), 1)\n"
            "        now[0] = 106.0\n        self.assertIsNone(c.fetch('a'))\n"
        ),
        candidates=(
            Candidate("swap-comparison", "shop/cache.py", "> self.seconds", "< self.seconds"),
            Candidate("widen-limit", "shop/cache.py", "self.seconds = seconds", "self.seconds = seconds + 60"),
            Candidate("stamp-on-put", "shop/cache.py", "(0.0, value)", "(self.clock(), value)"),
        ),
        advice=_claim("shop/cache.py", "self.values[key] = (0.0, value)"),
    ),
    Task(
        name="shares-do-not-add-up",
        difficulty="hard",
        text="Shares of a bill do not add up to its total. It is unclear why; the root cause could be rounding or tax.",
        files={"shop/__init__.py": "", "shop/money.py": _MONEY},
        visible=_tests(
            "    def test_sum(self):\n        from shop.money import share\n        self.assertEqual(sum(share(10, 3)), 10)\n"
        ),
        hidden=_tests(
            "    def test_fair(self):\n        from shop.money import share\n        self.assertEqual(max(share(11, 4)), 3)\n"
        ),
        candidates=(
            Candidate("round-tax", "shop/money.py", "return int(amount * rate)", "return round(amount * rate)"),
            Candidate("floor-shares", "shop/money.py", "round(total / people)", "total // people"),
            Candidate(
                "spread-remainder",
                "shop/money.py",
                "return [each] * people",
                "each, rest = divmod(total, people)\n    return [each + (n < rest) for n in range(people)]",
            ),
        ),
        advice=_claim("shop/money.py", "return [each] * people"),
    ),
    Task(
        name="last-page-is-missing",
        difficulty="medium",
        text="The last page of a list is missing. The root cause is unclear; this advice points at the wrong function.",
        files={"shop/__init__.py": "", "shop/pages.py": _PAGES},
        visible=_tests(
            "    def test_count(self):\n        from shop.pages import pages\n        self.assertEqual(pages([1, 2, 3], 2), 2)\n"
        ),
        hidden=_tests(
            "    def test_both(self):\n        from shop.pages import page, pages\n        self.assertEqual(pages([1, 2], 2), 1)\n"
            "        self.assertEqual(page([1, 2, 3], 2, 1), [3])\n"
        ),
        candidates=(
            Candidate("round-up", "shop/pages.py", "return len(items) // size", "return -(-len(items) // size)"),
            Candidate("shift-start", "shop/pages.py", "start = number * size", "start = (number - 1) * size"),
        ),
        advice=_claim("shop/pages.py", "start = number * size"),
    ),
    Task(
        name="slug-keeps-capitals",
        difficulty="easy",
        text="Slugs keep their capitals. It is unclear why; this consultant invents a file.",
        files={"shop/__init__.py": "", "shop/slug.py": _SLUG},
        visible=_tests(
            "    def test_lower(self):\n        from shop.slug import slug\n        self.assertEqual(slug('A B'), 'a-b')\n"
        ),
        hidden=_tests(
            "    def test_blank(self):\n        from shop.slug import slug\n        self.assertEqual(slug(' A '), 'a')\n"
        ),
        candidates=(
            Candidate("lower", "shop/slug.py", "text.strip()", "text.strip().lower()"),
            Candidate("keep-blanks", "shop/slug.py", "text.strip()", "text"),
        ),
        advice={"claims": [{"path": "shop/normalise.py", "quote": "return text.casefold().strip()"}]},
    ),
)
