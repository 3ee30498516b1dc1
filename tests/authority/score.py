"""Score the scan for claims of authority on the labelled sentences of ``corpus/``: ``make authority``.

A row is ``{id, text, lang, labels, note}``; no labels: ordinary advice. ``held_out`` decides: neither the rules nor the learned
layer have seen its sentences. The other files were learned from, so what they score is no measure (``train.py --by-writer`` gives
one). Prints recall and precision for every category and language, and fails below the bar.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from pathlib import Path

from ues_core.reasoning.authority import scan

CORPUS = Path(__file__).parent / "corpus"
HELD_OUT = "held_out"
RECALL, PRECISION = 0.97, 0.95
"""The project's promise, over all categories and languages of a split."""


class Tally:
    """Hits, misses and false alarms."""

    def __init__(self) -> None:
        self.hits = self.missed = self.false = 0

    @property
    def recall(self) -> float:
        """Claims that were found, of all that are there."""
        return self.hits / (self.hits + self.missed) if self.hits + self.missed else 1.0

    @property
    def precision(self) -> float:
        """Claims that are there, of all that were found."""
        return self.hits / (self.hits + self.false) if self.hits + self.false else 1.0


def score(path: Path, *, verbose: bool, brief: bool = False) -> bool:
    """Print one file's table, or only its sums; whether it is above the bar, by category and by sentence."""
    by_category: dict[str, Tally] = defaultdict(Tally)
    by_language: dict[str, Tally] = defaultdict(Tally)
    every, flagged = Tally(), Tally()
    rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    for row in rows:
        wanted, found = set(row["labels"]), {str(f.category) for f in scan(row["text"])}
        for category in wanted | found:
            outcome = "hits" if category in wanted & found else "missed" if category in wanted else "false"
            for tally in (every, by_category[category], by_language[row["lang"]]):
                setattr(tally, outcome, getattr(tally, outcome) + 1)
        if wanted or found:
            outcome = "hits" if wanted and found else "missed" if wanted else "false"
            setattr(flagged, outcome, getattr(flagged, outcome) + 1)
        if verbose and wanted != found:
            print(f"  {row['id']}: missed {sorted(wanted - found)}, too much {sorted(found - wanted)}: {row['text']!r}")
    ordinary = sum(1 for row in rows if not row["labels"])
    print(f"{path.stem}: {len(rows)} sentences, {ordinary} of them ordinary advice")
    for title, tallies in () if brief else (("category", by_category), ("language", by_language)):
        for name in sorted(tallies):
            tally = tallies[name]
            print(f"  {title} {name:22} recall {tally.recall:.3f}  precision {tally.precision:.3f}")
    for title, tally in (("all claims", every), ("flagged at all", flagged)):
        print(f"  {title:31} recall {tally.recall:.3f}  precision {tally.precision:.3f}")
    return all(t.recall >= RECALL and t.precision >= PRECISION for t in (every, flagged))


def main() -> int:
    """Score the files that are named; or show those that were learned from, and judge by the one that was not."""
    verbose = "-v" in sys.argv
    paths = [Path(name) for name in sys.argv[1:] if name != "-v"]
    if not paths:
        print("learned from, for information:")
        for path in sorted(CORPUS.glob("*.jsonl")):
            if path.stem != HELD_OUT:
                score(path, verbose=verbose, brief=True)
        print("not seen before, decides:")
    good = [score(path, verbose=verbose) for path in paths or [CORPUS / f"{HELD_OUT}.jsonl"]]
    if not all(good):
        print(f"below the bar: recall {RECALL}, precision {PRECISION}", file=sys.stderr)
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
