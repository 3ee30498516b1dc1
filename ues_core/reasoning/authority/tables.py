"""The data files of this room: words with their tags, claims as sequences of tags, look-alikes. One subject a file.

In a word list, ``{a,b}`` stands for each alternative (``{a,b}?``: or for none), a word
that ends in ``*`` for every word that begins so.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import lru_cache
from importlib.resources import files
from typing import Any, Final

from ues_core.contract import PluginError
from ues_core.contract.codes import Code

LANGUAGES: Final = ("en", "zh", "vi", "es", "ru", "de", "fr", "pt", "ja", "ko")
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
