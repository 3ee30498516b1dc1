"""The data files of this room: words with their tags, claims as sequences of tags, look-alikes. One subject a file.

In a word list, ``{a,b}`` stands for each alternative (``{a,b}?``: or for none), a word
that ends in ``*`` for every word that begins so.
"""

from __future__ import annotations

import json
import re
import tomllib
import zlib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ues_core.contract import PluginError
from ues_core.contract.codes import Code

LANGUAGES: Final = ("en", "zh", "vi", "es", "ru", "de", "fr", "pt", "ja", "ko")
CLAIM_TABLES: Final = tuple(
    f"claims_{name}"
    for name in ("policy", "instructions", "secrets", "commands", "publishing", "permissions", "verdicts", "hiding")
)
LISTS: Final = "lists.bin"
"""The word lists and the shapes of claims, ready to be used: see the module ``lists``."""
CJK: Final = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uac00-\ud7af"
"""Characters of scripts without blanks between words, for a regular expression."""
_UNIT: Final = re.compile(rf"[{CJK}]|[^\W{CJK}]+(?:'[^\W_]+)*\*?|--?[a-z][a-z-]+|[^\w\s]")
_BRACES: Final = re.compile(r"\{([^{}]*)\}(\??)")


def table(name: str) -> Mapping[str, Any]:
    """One data file, as TOML says it."""
    source = files(__package__) / "terms" / f"{name}.toml"
    try:
        return tomllib.loads(source.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as broken:
        raise PluginError(
            f"The term table '{name}' is no TOML: {broken}.",
            code=Code.PLUGIN_DATA_INVALID,
            next_step="Install the package again.",
        ) from None


def contents(name: str) -> bytes:
    """A packed data file, unpacked."""
    try:
        return zlib.decompress((files(__package__) / "terms" / name).read_bytes())
    except (OSError, zlib.error) as broken:
        raise damaged(name, broken) from None


def damaged(name: str, why: object) -> PluginError:
    """The error for a data file that is not whole: nothing is scanned without it."""
    return PluginError(
        f"The data file '{name}' of the scan for authority is not whole: {why}.",
        code=Code.PLUGIN_DATA_INVALID,
        next_step="Install the package again.",
    )


@lru_cache(maxsize=1)
def lists() -> Mapping[str, Any]:
    """What ``lists.bin`` has."""
    try:
        data: Mapping[str, Any] = json.loads(contents(LISTS))
    except ValueError as broken:
        raise damaged(LISTS, broken) from None
    return data


def units(text: str) -> list[str]:
    """The words of a folded phrase, single characters where a script has no blanks."""
    return _UNIT.findall(text)


def expanded(entry: str) -> Iterator[str]:
    """The spellings that one entry stands for."""
    hit = _BRACES.search(entry)
    if hit is None:
        yield entry
        return
    for choice in (*hit[1].split(","), *([""] if hit[2] else [])):
        yield from expanded(entry[: hit.start()] + choice + entry[hit.end() :])


@lru_cache(maxsize=1)
def traditional_to_simplified() -> Mapping[int, str]:
    """Traditional characters of the Chinese word list, and the simplified ones that it is written in."""
    pairs = table("han")
    return {ord(a): b for a, b in zip(pairs["traditional"], pairs["simplified"], strict=True)}


@lru_cache(maxsize=1)
def look_alikes() -> Mapping[str, Mapping[int, str]]:
    """Letters drawn like others: ``latin`` (to a Latin letter), ``cyrillic`` (from Latin), ``leet`` (signs for letters)."""
    data = table("lookalikes")
    return {name: {ord(a): b for a, b in zip(row["from"], row["to"], strict=True)} for name, row in data.items()}
