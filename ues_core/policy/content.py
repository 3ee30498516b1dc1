"""The content analyser: signs that visible text of a page tries to instruct whoever reads it.

Six signals (reference: security table of the reasoning seed), in the languages of the risk terms. Flags are information for the
host; nothing is hidden for their sake, and their absence proves nothing. Pure, and linear in the text.
"""

from __future__ import annotations

import re
import tomllib
import unicodedata
from collections.abc import Iterable, Mapping
from functools import lru_cache
from importlib.resources import files
from types import MappingProxyType
from typing import Final, Literal

from pydantic import ConfigDict, Field

from ues_core.contract import ContentFlag, ContentSignal, Model
from ues_core.policy.folding import fold
from ues_core.policy.matching import Matcher, Terms

SEVERITY: Final[Mapping[ContentSignal, Literal["high", "medium"]]] = MappingProxyType(
    {
        ContentSignal.INSTRUCTION_OVERRIDE: "high",
        ContentSignal.SECRET_EXFILTRATION: "high",
        ContentSignal.HIDDEN_INSTRUCTION: "high",
        ContentSignal.ROLE_SPOOF: "medium",
        ContentSignal.ACTION_COERCION: "medium",
        ContentSignal.POLICY_COERCION: "medium",
    }
)
"""How much each signal weighs: a text is suspicious with one high or two medium signals."""

SCAN_LIMIT: Final = 128_000
"""Characters that are looked at (reference: 128,000)."""
QUOTE_LIMIT: Final = 160
MAX_FLAGS: Final = 12
_PIECE: Final = 4_000
_SMUGGLED = re.compile("[\U000e0020-\U000e007e]{4,}")
"""Tag characters: invisible, and each stands for an ASCII character."""
_INVISIBLE_RUN = re.compile("[\u200b-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u2069\ufeff]")


class SignalTable(Model):
    """One language's phrases, as its file says them."""

    model_config = ConfigDict(frozen=True, extra="forbid", populate_by_name=True)

    language: str
    script: Literal["spaced", "unspaced"]
    accents: Literal["ignored", "phrases"]
    instruction_override: Terms = Field(alias="instruction-override")
    secret_exfiltration: Terms = Field(alias="secret-exfiltration")
    hidden_instruction: Terms = Field(alias="hidden-instruction")
    role_spoof: Terms = Field(alias="role-spoof")
    action_coercion: Terms = Field(alias="action-coercion")
    policy_coercion: Terms = Field(alias="policy-coercion")

    def of(self, signal: ContentSignal) -> Terms:
        """The phrases of one signal."""
        found: Terms = getattr(self, signal.value.replace("-", "_"))
        return found


def analyse(texts: Iterable[str]) -> tuple[ContentFlag, ...]:
    """The flags of a page's visible texts, one per signal and text, at most ``MAX_FLAGS``; high ones first."""
    flags: dict[tuple[ContentSignal, str], ContentFlag] = {}
    left = SCAN_LIMIT
    for text in texts:
        if left <= 0:
            break
        for start in range(0, min(len(text), left), _PIECE - 200):
            piece = text[start : start + _PIECE]
            for signal in signals_of(piece):
                quote = _quote(piece)
                flags.setdefault((signal, quote), ContentFlag(signal=signal, severity=SEVERITY[signal], quote=quote))
        left -= len(text)
    return tuple(sorted(flags.values(), key=lambda flag: flag.severity != "high"))[:MAX_FLAGS]


def is_suspicious(flags: Iterable[ContentFlag]) -> bool:
    """Whether the flags together say: one high, or two different medium ones."""
    found = list(flags)
    return any(f.severity == "high" for f in found) or len({f.signal for f in found}) >= 2


@lru_cache(maxsize=8_192)
def signals_of(text: str) -> tuple[ContentSignal, ...]:
    """The signals of one text of at most 4,000 characters. Cached: labels repeat from one observation to the next."""
    if len(text) < 6:
        return ()
    smuggled = "".join(chr(ord(c) - 0xE0000) for run in _SMUGGLED.findall(text) for c in run)
    folded = fold(text, _PIECE)
    found = [signal for signal, matcher in _matchers().items() if matcher.find(folded) is not None]
    if smuggled or (found and _INVISIBLE_RUN.search(text) is not None and _only_when_folded(text, found)):
        found.append(ContentSignal.HIDDEN_INSTRUCTION)
    return tuple(dict.fromkeys(found))


def _only_when_folded(text: str, found: list[ContentSignal]) -> bool:
    """Whether a phrase is there only once invisible characters are taken out: somebody hid it."""
    apart = fold("".join(" " if unicodedata.category(c) == "Cf" else c for c in text), _PIECE)
    return any(_matchers()[signal].find(apart) is None for signal in found)


def _quote(text: str) -> str:
    flat = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return flat if len(flat) <= QUOTE_LIMIT else flat[: QUOTE_LIMIT - 1] + "…"


@lru_cache(maxsize=1)
def signal_tables() -> tuple[SignalTable, ...]:
    """The tables of the data files, by language. Cached: the files are part of the package and never change."""
    folder = files("ues_core.policy") / "signals"
    found = [
        SignalTable.model_validate(tomllib.loads(f.read_text("utf-8"))) for f in folder.iterdir() if f.name.endswith(".toml")
    ]
    return tuple(sorted(found, key=lambda table: table.language))


@lru_cache(maxsize=1)
def _matchers() -> Mapping[ContentSignal, Matcher]:
    tables = signal_tables()
    return MappingProxyType({s: Matcher.of((table.of(s), table) for table in tables) for s in ContentSignal})
