"""Several second opinions side by side: where they agree and where they conflict, claim by claim. Nothing is voted on.

Claims are matched by what can be checked - kind, path, symbol, lines and quotation - never by what they say in words. How many
consultants make a claim says nothing about whether it holds: that is what its binding to the repository says.
"""

from __future__ import annotations

import asyncio
import re
import unicodedata
from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

from ues_core.contract import (
    Advice,
    Binding,
    BindingStatus,
    Claim,
    ClaimKind,
    Code,
    ConsultOutcome,
    EvidenceRow,
    Model,
    ReasoningMode,
    UesError,
)
from ues_core.reasoning.consultation import Consultation
from ues_core.reasoning.exchange import HELD

PANEL_MOST: Final = 8
"""Consultants of one panel."""
_BOUND: Final = frozenset({BindingStatus.PRESENT, BindingStatus.MOVED})
_NUMBERED: Final = re.compile(r"^\s*\d{1,7}\| ?")


class Standing(StrEnum):
    """How a claim stands among the consultants. Not whether it is true."""

    AGREED = "agreed"
    SINGLE = "single"
    CONFLICT = "conflict"


class Voice(Model):
    """One consultant's version of a claim, with its own binding."""

    provider: str
    consultation: str
    claim: Claim
    binding: Binding | None = None


class PanelClaim(Model):
    """One checkable claim and everybody who made it."""

    number: int
    standing: Standing
    kind: ClaimKind
    path: str = ""
    symbol: str = ""
    start_line: int | None = None
    end_line: int | None = None
    quote: str = ""
    voices: tuple[Voice, ...]
    conflicts_with: tuple[int, ...] = ()
    """Numbers of claims by other consultants about the same place that say something else about it."""
    detail: str = ""


class _Key(NamedTuple):
    kind: ClaimKind
    path: str
    symbol: str
    start: int | None
    end: int | None
    quote: str


class Opinion(NamedTuple):
    """Somebody's advice."""

    provider: str
    consultation: str
    advice: Advice


def compare(opinions: Sequence[Opinion]) -> tuple[PanelClaim, ...]:
    """Every claim of every opinion once, in order of appearance, with who made it and what conflicts with it."""
    groups: dict[_Key, list[Voice]] = {}
    for opinion in opinions:
        bindings = {binding.claim: binding for binding in opinion.advice.bindings}
        for claim in opinion.advice.claims:
            binding = bindings.get(claim.number)
            voice = Voice(provider=opinion.provider, consultation=opinion.consultation, claim=claim, binding=binding)
            groups.setdefault(_key(claim, binding), []).append(voice)
    keys = list(groups)
    found: list[PanelClaim] = []
    for number, key in enumerate(keys, 1):
        voices = groups[key]
        against = [
            (n, why) for n, other in enumerate(keys, 1) if n != number and (why := _conflict(key, voices, other, groups[other]))
        ]
        several = len({voice.consultation for voice in voices}) > 1
        within = len({voice.binding.status for voice in voices if voice.binding is not None}) > 1
        details = [why for _, why in against]
        if within and several:
            details.append("the same claim is bound differently: the repository changed in between, or one gave other lines")
        words = {_folded(v.claim.statement) for v in voices if v.claim.statement}
        if several and len(words) > 1:
            details.append("the same place, with different words about it: compare them yourself")
        standing = Standing.CONFLICT if against else Standing.AGREED if several else Standing.SINGLE
        found.append(
            PanelClaim(
                number=number,
                standing=standing,
                kind=key.kind,
                path=key.path,
                symbol=key.symbol,
                start_line=key.start,
                end_line=key.end,
                quote=key.quote,
                voices=tuple(voices),
                conflicts_with=tuple(n for n, _ in against),
                detail="; ".join(dict.fromkeys(details)),
            )
        )
    return tuple(found)


def _key(claim: Claim, binding: Binding | None) -> _Key:
    """What is claimed, in one spelling: the local one where it is bound, so that a moved line meets the same line."""
    path, start, end = claim.path, claim.start_line, claim.end_line or claim.start_line
    if binding is not None and binding.status in _BOUND:
        path = binding.path or path
        start, end = binding.start_line or start, binding.end_line or end
    path = unicodedata.normalize("NFC", path).replace("\\", "/").removeprefix("./").rstrip("/")
    symbol = claim.symbol.strip().strip("`").removesuffix("()")
    quote = "\n".join(" ".join(_NUMBERED.sub("", line).split()) for line in claim.quote.strip().splitlines())
    return _Key(claim.kind, path, symbol, start, end, quote or (_folded(claim.statement) if not path and not symbol else ""))


def _conflict(key: _Key, voices: Sequence[Voice], other: _Key, others: Sequence[Voice]) -> str:
    """Why two claims of different consultants about one place cannot both be right; empty when they can."""
    mine, theirs = {v.consultation for v in voices}, {v.consultation for v in others}
    if not key.path or key.path != other.path or (mine == theirs and len(mine) == 1):
        return ""
    if (key.kind is ClaimKind.NEW_FILE) != (other.kind is ClaimKind.NEW_FILE):
        return "one proposes the file as new, the other says that it exists"
    if key.symbol and key.symbol == other.symbol and _apart(key, other):
        return "the same symbol at different lines"
    if key.quote and key.quote == other.quote and _apart(key, other):
        return "the same quotation at different lines"
    same_lines = key.start is not None and (key.start, key.end) == (other.start, other.end)
    if same_lines and key.quote and other.quote and key.quote not in other.quote and other.quote not in key.quote:
        return "different quotations of the same lines"
    return ""


def _apart(key: _Key, other: _Key) -> bool:
    if key.start is None or key.end is None or other.start is None or other.end is None:
        return False
    return key.end < other.start or other.end < key.start


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split()).rstrip(".")


class Panel:
    """Several consultations about one task, read like one; ``parts`` are the opinions themselves.

    ``advice`` is always ``None``: opinions are not merged, and neither a majority nor a mean of confidences is ever made of
    them. What may be done is what each part's own advice says, at most ``implement-then-verify``.
    """

    def __init__(
        self,
        panel_id: str,
        parts: Sequence[Consultation],
        *,
        mode: ReasoningMode,
        failed: Mapping[str, UesError] | None = None,
    ) -> None:
        self.id = panel_id
        self.mode = mode
        self.parts = tuple(parts)
        self.failed: dict[str, UesError] = dict(failed or {})
        """Provider -> why it could not be consulted. Its failure is its own."""

    @property
    def provider(self) -> str:
        """The names of everybody who was asked."""
        return ", ".join(dict.fromkeys([part.provider for part in self.parts] + list(self.failed)))

    @property
    def advice(self) -> None:
        """None: read each part's."""
        return None

    @property
    def outcome(self) -> ConsultOutcome | None:
        """``answered`` when any part was, ``rejected`` when parts came back and none may be used, else the first part's."""
        outcomes = [part.outcome for part in self.parts]
        for outcome in (ConsultOutcome.ANSWERED, ConsultOutcome.REJECTED):
            if outcome in outcomes:
                return outcome
        return outcomes[0] if outcomes else ConsultOutcome.UNAVAILABLE

    @property
    def code(self) -> Code:
        """The code of the part that gave the outcome."""
        deciding = next((part for part in self.parts if part.outcome is self.outcome), None)
        return deciding.code if deciding is not None else Code.WEB_REASONING_UNAVAILABLE

    @property
    def reason(self) -> str:
        """How many of them brought something usable; a count, not a verdict."""
        asked = len({part.provider for part in self.parts} | set(self.failed))
        usable = sum(part.outcome is ConsultOutcome.ANSWERED for part in self.parts)
        return f"{usable} of {asked} consultants gave advice whose claims hold; they are shown side by side and never merged"

    @property
    def next_step(self) -> str:
        """What a host can do."""
        return "Read the claims with their bindings; decide and verify locally."

    @property
    def claims(self) -> tuple[PanelClaim, ...]:
        """Agreement and conflict, claim by claim."""
        return compare([Opinion(p.provider, p.id, p.advice) for p in self.parts if p.advice is not None])

    async def follow_up(self, question: str, *, evidence: Sequence[EvidenceRow] = ()) -> Panel:
        """Ask every part that was really held once more, at the same time. A part that fails is noted in ``failed``."""
        held = [part for part in self.parts if part.outcome in HELD]
        results = await asyncio.gather(*(p.follow_up(question, evidence=evidence) for p in held), return_exceptions=True)
        for part, result in zip(held, results, strict=True):
            if isinstance(result, UesError):
                self.failed[part.provider] = result
            elif isinstance(result, BaseException):
                raise result
        return self

    async def cancel(self) -> None:
        """Stop every part."""
        await asyncio.gather(*(part.cancel() for part in self.parts))

    async def close(self) -> None:
        """Close every part."""
        await asyncio.gather(*(part.close() for part in self.parts))
