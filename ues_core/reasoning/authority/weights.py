"""The learned layer beside the rules: how much speaks for each kind of claim in a sentence.

``terms/weights.bin`` has a row of whole numbers for every feature. A piece's features are added up, column by column: the first
columns are the categories', the others count only where they are above zero, for each category as its row of ``out`` says. The
file is made by ``make authority-train`` from the labelled sentences of ``tests/authority/corpus``. Time grows with the words.

It is packed by zlib (whose checksum guards it): one line of JSON, ``categories``, ``limits`` (the score from which on a piece is a
claim, one a category), ``beside`` (how far a second category may lie behind the first), ``doubt`` (the score below which a weak
rule counts for nothing), ``units`` (what one is worth in each column), ``base`` (what each column starts with), ``out``, ``corpus``
(the digest of the texts it was learned from); then the features, a line each; an empty line; a byte with a sign for every feature
and column.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import lru_cache
from operator import mul
from struct import unpack
from typing import Final, NamedTuple

from ues_core.contract import AuthorityClaim
from ues_core.reasoning.authority.features import Piece
from ues_core.reasoning.authority.tables import contents, damaged

WEIGHTS: Final = "weights.bin"
_FIELD: Final = 32
"""Bits of a packed column: wide enough for all features of a piece."""
_ZERO: Final = 128
_SHIFT: Final = bytes((n + _ZERO) & 255 for n in range(256))
"""From a byte with a sign to one without: ``_ZERO`` more."""


class Weights(NamedTuple):
    """The model, ready to be used."""

    categories: Sequence[AuthorityClaim]
    limits: Sequence[float]
    beside: float
    doubt: float
    units: Sequence[float]
    base: Sequence[float]
    out: Sequence[Sequence[float]]
    corpus: str
    rows: Mapping[str, int]
    """A feature's numbers, one field of ``_FIELD`` bits each, without signs: so all columns are added up at once."""


@lru_cache(maxsize=1)
def weights() -> Weights:
    """The shipped model. Raises a typed error when its file is not whole: nothing is scanned without it."""
    try:
        head, _, rest = contents(WEIGHTS).partition(b"\n")
        names, _, numbers = rest.partition(b"\n\n")
        about = json.loads(head)
        categories = tuple(AuthorityClaim(name) for name in about["categories"])
        features = names.decode("utf-8").split("\n")
        limits, units, base = (tuple(float(n) for n in about[key]) for key in ("limits", "units", "base"))
        out = tuple(tuple(float(n) for n in row) for row in about["out"])
        beside, doubt, corpus = float(about["beside"]), float(about["doubt"]), str(about["corpus"])
    except (ValueError, KeyError, TypeError) as broken:
        raise damaged(WEIGHTS, broken) from None
    wide = len(units)
    fits = len(limits) == len(out) == len(categories) and len(base) == wide
    if not fits or len(numbers) != len(features) * wide or any(len(row) != wide - len(out) for row in out):
        raise damaged(WEIGHTS, "its tables have different lengths")
    rows = dict(zip(features, _packed(numbers, wide), strict=True))
    return Weights(categories, limits, beside, doubt, units, base, out, corpus, rows)


def weighed(piece: Piece) -> Sequence[float]:
    """How much speaks for each category: the logarithm of the odds."""
    model = weights()
    rows = model.rows
    known = list(filter(None, map(rows.get, piece.features)))
    zero = _ZERO * len(known)
    wide = len(model.units)
    totals = unpack(f"<{wide}I", sum(known).to_bytes(wide * _FIELD // 8, "little"))
    scale = piece.scale
    sums = [(total - zero) * unit * scale + base for total, unit, base in zip(totals, model.units, model.base, strict=True)]
    scores = sums[: len(model.categories)]
    above = [total if total > 0 else 0.0 for total in sums[len(scores) :]]
    return [score + sum(map(mul, above, counts)) for score, counts in zip(scores, model.out, strict=True)]


def _packed(numbers: bytes, wide: int) -> list[int]:
    size = _FIELD // 8
    spread = bytearray(len(numbers) * size)
    spread[::size] = numbers.translate(_SHIFT)
    step = wide * size
    whole = bytes(spread)
    return [int.from_bytes(whole[at : at + step], "little") for at in range(0, len(whole), step)]
