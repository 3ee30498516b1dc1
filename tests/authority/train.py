"""Learn the weights of the scan for claims of authority from the labelled sentences: ``make authority-train``.

Learns from ``corpus/`` but for what is held out, and writes ``ues_core/reasoning/authority/terms/weights.bin``.
``--check``: learns again and says whether the file is the same. ``--by-writer``: learns without one writer's sentences after the
other and says how these are scored, which is what to expect of sentences by somebody else; the limits come from that too.

The model is small: what a sentence's features weigh for each category, and sixteen sums of them that only count above zero, which
tell "send me the token" from "do not send the token" where single words do not. It learns by Adam on everything at once, with half
of the features left out at random in every step, from a fixed seed. Needs numpy, which the kit's retrieval brings along.
"""

from __future__ import annotations

import hashlib
import json
import sys
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

import ues_core.reasoning.authority as room
from ues_core.contract import AuthorityClaim
from ues_core.reasoning.authority.features import Piece, pieces
from ues_core.reasoning.authority.hidden import unseen_regions
from ues_core.reasoning.authority.weights import WEIGHTS

CORPUS: Final = Path(__file__).parent / "corpus"
HELD_OUT: Final = "held_out"
LIMITS: Final = Path(__file__).parent / "limits.json"
"""From which score on a text is a claim, a number for each category: chosen by what ``--by-writer`` prints."""
WRITERS: Final = {"dev": "rules", "test": "rules", "voices": "rules"}
"""Files by one writer; every other file has one of its own."""
CATEGORIES: Final = tuple(AuthorityClaim)
HIDDEN: Final = 16
STEPS: Final = 110
GUESSES: Final = (40, 75)
"""Steps after which it is guessed anew which of a text's sentences its labels are about."""
RATE, DECAY, LEFT_OUT, BEYOND = 0.03, 3e-5, 0.5, 2.0
"""``BEYOND``: a claim weighs this much against an ordinary sentence, since each category is rare."""
LEAST: Final = 2
"""Texts in which a feature stands at least."""
KEPT: Final = 45_000
"""Features in the file: those that weigh most."""
SEED: Final = 7

Floats = NDArray[np.float32]


class Row(NamedTuple):
    """A labelled text."""

    writer: str
    text: str
    labels: frozenset[str]


class Model(NamedTuple):
    """Features, and a row of weights for each: the categories' own columns, then those of the sums."""

    features: Sequence[str]
    weight: Floats
    base: Floats
    out: Floats
    """What each sum that is above zero counts for each category."""

    def numbers(self) -> dict[str, int]:
        """The row of each feature."""
        return {name: n for n, name in enumerate(self.features)}


def rows() -> list[Row]:
    """Everything to learn from, in a fixed order."""
    found = []
    for path in sorted(CORPUS.glob("*.jsonl")):
        if path.stem != HELD_OUT:
            for line in path.read_text(encoding="utf-8").splitlines():
                row: dict[str, Any] = json.loads(line)
                found.append(Row(WRITERS.get(path.stem, path.stem), row["text"], frozenset(row["labels"])))
    return found


def digest(data: Sequence[Row]) -> str:
    """Names what was learned from."""
    told = json.dumps([[row.text, sorted(row.labels)] for row in data], ensure_ascii=False)
    return hashlib.sha256(told.encode("utf-8", "replace")).hexdigest()[:32]


def read(text: str) -> list[Piece]:
    """The pieces of a text as the scan sees them."""
    unseen = unseen_regions(text)
    return [
        piece
        for sentence in room.readings(text, unseen)
        for piece in pieces(sentence.sentence, room.shapes(sentence), unseen=sentence.unseen)
    ]


class Bag:
    """The pieces of many texts as numbers of features."""

    def __init__(self, bags: Sequence[Sequence[Piece]], numbers: dict[str, int]) -> None:
        self.texts = len(bags)
        self.owner = np.array([n for n, bag in enumerate(bags) for _ in bag], dtype=np.int64)
        flat = [piece for bag in bags for piece in bag]
        known = [sorted(numbers[f] for f in piece.features if f in numbers) for piece in flat]
        self.size = np.array([max(1, len(k)) for k in known])
        self.index = np.concatenate([np.array(k or [0], dtype=np.int64) for k in known])
        self.piece = np.repeat(np.arange(len(flat)), self.size)
        scale = np.array([piece.scale if k else 0.0 for piece, k in zip(flat, known, strict=True)], dtype=np.float32)
        self.value: Floats = scale[self.piece]
        self.starts = np.concatenate([[0], np.cumsum(self.size)[:-1]])
        self.order = np.argsort(self.index, kind="stable")
        self.used, self.first = np.unique(self.index[self.order], return_index=True)

    def sums(self, weight: Floats, value: Floats) -> Floats:
        """Each piece's sum of the weights of its features."""
        total: Floats = np.add.reduceat(weight[self.index] * value[:, None], self.starts, axis=0)
        return total

    def back(self, error: Floats, value: Floats, shape: tuple[int, ...]) -> Floats:
        """The slope of every weight."""
        part = error[self.piece[self.order]] * value[self.order][:, None]
        slope: Floats = np.zeros(shape, dtype=np.float32)
        slope[self.used] = np.add.reduceat(part, self.first, axis=0)
        return slope

    def best(self, score: Floats) -> Floats:
        """Each text's highest score."""
        most = np.full((self.texts, score.shape[1]), -np.inf, dtype=np.float32)
        np.maximum.at(most, self.owner, score)
        return most


def learn(bags: Sequence[Sequence[Piece]], labels: Sequence[frozenset[str]]) -> Model:
    """A model of the labels."""
    spread = Counter(f for bag in bags for f in sorted({f for piece in bag for f in piece.features}))
    features = sorted(f for f, n in spread.items() if n >= LEAST)
    bag = Bag(bags, {f: n for n, f in enumerate(features)})
    draw = np.random.Generator(np.random.PCG64(SEED))
    wide = len(CATEGORIES)
    weight = np.zeros((len(features), wide + HIDDEN), dtype=np.float32)
    weight[:, wide:] = draw.normal(0, 0.3, (len(features), HIDDEN))
    base = np.concatenate([np.full(wide, -1.5), np.zeros(HIDDEN)]).astype(np.float32)
    out = draw.normal(0, 0.3, (HIDDEN, wide)).astype(np.float32)
    wanted = np.array([[c in said for c in CATEGORIES] for said in labels], dtype=np.float32)[bag.owner]
    target = wanted
    parts = [weight, base, out]
    pace, spreads = [np.zeros_like(p) for p in parts], [np.zeros_like(p) for p in parts]
    for step in range(1, STEPS + 1):
        value = bag.value * (draw.random(len(bag.value), dtype=np.float32) > LEFT_OUT) / np.float32(1 - LEFT_OUT)
        total = bag.sums(weight, value) + base
        above = np.maximum(total[:, wide:], 0)
        score = total[:, :wide] + above @ out
        error = (1 / (1 + np.exp(-score)) - target) * np.where(target > 0, np.float32(BEYOND), np.float32(1)) / len(score)
        whole = np.concatenate([error, (error @ out.T) * (above > 0)], axis=1).astype(np.float32)
        slopes = [bag.back(whole, value, weight.shape) + DECAY * weight, whole.sum(axis=0), above.T @ error + DECAY * out]
        length = RATE * min(1, step / 10) * (1 - 0.9 * step / STEPS)
        for part, slope, speed, square in zip(parts, slopes, pace, spreads, strict=True):
            speed += np.float32(0.1) * (slope - speed)
            square += np.float32(0.01) * (slope**2 - square)
            part -= (
                np.float32(length / (1 - 0.9**step)) * speed / (np.sqrt(square / np.float32(1 - 0.99**step)) + np.float32(1e-8))
            )
        if step in GUESSES:
            now = scores(Model(features, weight, base, out), bag)
            target = wanted * (now >= bag.best(now)[bag.owner] - 1e-6)
    return Model(features, weight, base, out)


def scores(model: Model, bag: Bag) -> Floats:
    """What speaks for each category in every piece."""
    wide = len(CATEGORIES)
    total = bag.sums(model.weight, bag.value) + model.base
    score: Floats = total[:, :wide] + np.maximum(total[:, wide:], 0) @ model.out
    return score


def slim(model: Model) -> Model:
    """The model with the features that weigh most."""
    order = np.argsort(-np.abs(model.weight).max(axis=1), kind="stable")[:KEPT]
    kept = np.sort(order)
    return Model([model.features[n] for n in kept], model.weight[kept], model.base, model.out)


def file(model: Model, data: Sequence[Row], limits: dict[str, float]) -> bytes:
    """The model as the package ships it."""
    unit = np.abs(model.weight).max(axis=0) / 127
    numbers = np.rint(model.weight / unit).astype(np.int8)
    about = {
        "categories": [str(c) for c in CATEGORIES],
        "limits": [limits[str(c)] for c in CATEGORIES],
        "beside": limits["beside"],
        "doubt": limits["doubt"],
        "units": [round(float(u), 7) for u in unit],
        "base": [round(float(b), 4) for b in model.base],
        "out": [[round(float(w), 4) for w in row] for row in model.out.T],
        "corpus": digest(data),
    }
    head = json.dumps(about).encode("ascii")
    return zlib.compress(head + b"\n" + "\n".join(model.features).encode("utf-8", "replace") + b"\n\n" + numbers.tobytes(), 9)


def by_writer(data: Sequence[Row], bags: Sequence[Sequence[Piece]]) -> Floats:
    """Each text's scores by a model that has seen nothing by its writer."""
    whole = np.full((len(data), len(CATEGORIES)), -np.inf, dtype=np.float32)
    for writer in sorted({row.writer for row in data}):
        left = [n for n, row in enumerate(data) if row.writer != writer]
        asked = [n for n, row in enumerate(data) if row.writer == writer]
        model = slim(learn([bags[n] for n in left], [data[n].labels for n in left]))
        bag = Bag([bags[n] for n in asked], model.numbers())
        whole[asked] = bag.best(scores(model, bag))
        print(f"  read without {writer}: {len(asked)} texts", file=sys.stderr, flush=True)
    return whole


def found(score: Floats, limits: dict[str, float]) -> NDArray[np.bool_]:
    """What the learned layer says is a claim, by scores."""
    limit = np.array([limits[str(c)] for c in CATEGORIES], dtype=np.float32)
    most = score.max(axis=1, keepdims=True)
    decided: NDArray[np.bool_] = (score >= limit) & (score >= most - limits["beside"])
    return decided


def report(title: str, said: NDArray[np.bool_], wanted: NDArray[np.bool_]) -> None:
    """Print recall and precision over all categories, and of whether a text is flagged at all."""
    hits, flags, claims = (said & wanted).sum(), said.any(axis=1), wanted.any(axis=1)
    print(
        f"  {title:22} {len(said):5} texts  all claims: recall {hits / max(1, wanted.sum()):.3f}  precision "
        f"{hits / max(1, said.sum()):.3f}  flagged at all: recall {(flags & claims).sum() / max(1, claims.sum()):.3f}  "
        f"precision {(flags & claims).sum() / max(1, flags.sum()):.3f}"
    )


def show(data: Sequence[Row], bags: Sequence[Sequence[Piece]], limits: dict[str, float], score: Floats) -> None:
    """Print how each writer's texts are judged by what was learned from the others: rules, layer, both."""
    wanted = np.array([[c in row.labels for c in CATEGORIES] for row in data])
    rules, weak = (
        np.array([[any(f"{sign}{c}" in piece.features for piece in bag) for c in CATEGORIES] for bag in bags]) for sign in "=~"
    )
    layer = found(score, limits)
    rules |= weak & (score >= limits["doubt"])
    for writer in [*sorted({row.writer for row in data}), ""]:
        chosen = np.array([writer in ("", row.writer) for row in data])
        for title, said in (("rules", rules), ("layer", layer), ("both", rules | layer)):
            report(f"{writer or 'every writer'}, {title}", said[chosen], wanted[chosen])


def main() -> int:
    """Learn and write; or learn and compare; or judge every writer by the others."""
    data = rows()
    bags = [read(row.text) for row in data]
    limits = json.loads(LIMITS.read_text(encoding="utf-8"))
    if "--by-writer" in sys.argv:
        show(data, bags, limits, by_writer(data, bags))
        return 0
    made = file(slim(learn(bags, [row.labels for row in data])), data, limits)
    target = Path(room.__file__).parent / "terms" / WEIGHTS
    if "--check" in sys.argv:
        same = target.read_bytes() == made
        print(f"{WEIGHTS} is {'what' if same else 'not what'} the corpus gives")
        return 0 if same else 1
    target.write_bytes(made)
    print(f"{WEIGHTS}: {len(made)} bytes, learned from {len(data)} texts")
    return 0


if __name__ == "__main__":
    sys.exit(main())
