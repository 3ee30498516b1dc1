"""A second, coarser look at what a packet finds: consecutive releases of other projects. Releases are no commits.

``python tests/retrieval/releases.py FOLDER``: the folder holds unpacked source distributions, ``name-1.2.3`` each. For two
neighbouring releases of one project the lines that the later one added to its changelog are the task, the earlier one is the tree,
and the source files that differ (and that the earlier one had) are the truth, all of them at once: one release holds many changes,
so recall is far below that on commits, and there is no history to learn from. It says whether the words of a ranking that was tuned
on one project carry over to others, and nothing else. Prints recall among 24 files of ours and of plain BM25 in the same run.
"""

from __future__ import annotations

import argparse
import difflib
import hashlib
import logging
import re
import statistics
import sys
from itertools import pairwise
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from score import AMONG, SOURCE, Baseline  # type: ignore[import-not-found]

from ues_core.reasoning.packet._cache import Shelf
from ues_core.reasoning.packet._lexicon import Document
from ues_core.reasoning.packet._mentions import mentioned
from ues_core.reasoning.packet._retrieve import Hints, rank
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import SourceFile, decode_source, name_reason, read_source

CHANGELOG = re.compile(r"(?:^|/)(?:CHANGES|CHANGELOG|HISTORY|NEWS)(?:\.\w+)?$", re.IGNORECASE)
VERSION = re.compile(r"^(?P<name>[A-Za-z0-9_.-]+?)-(?P<version>\d+(?:\.\d+)*)$")


def documents(root: Path) -> list[Document]:
    """The readable files of a folder, in path order."""
    found = []
    for place in sorted(p for p in root.rglob("*") if p.is_file() and not p.is_symlink()):
        path = place.relative_to(root).as_posix()
        if name_reason(path) is None:
            data, reason = read_source(root, path)
            if reason is None:
                found.append(Document(SourceFile(path, len(data)), decode_source(data), hashlib.sha256(data).hexdigest()))
    return found


def said(before: dict[str, Document], after: dict[str, Document]) -> str:
    """The lines that the changelog gained."""
    path = next((p for p in sorted(after, key=len) if CHANGELOG.search(p) and p in before), "")
    if not path:
        return ""
    lines = difflib.ndiff(before[path].text.splitlines(), after[path].text.splitlines())
    return "\n".join(line[2:] for line in lines if line.startswith("+ "))[:4_000]


def main() -> int:
    """Measure every pair, print a table, and fail when ours is not above BM25 on average."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="unpacked source distributions")
    folder: Path = parser.parse_args().folder
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    projects: dict[str, list[tuple[tuple[int, ...], Path]]] = {}
    for place in folder.iterdir():
        match = VERSION.match(place.name)
        if match and place.is_dir():
            version = tuple(int(part) for part in match["version"].split("."))
            projects.setdefault(match["name"].lower(), []).append((version, place))
    rows: list[tuple[float, float]] = []
    for name, releases in sorted(projects.items()):
        baseline = Baseline()
        for (_, old), (_, new) in pairwise(sorted(releases)):
            tree, later = documents(old), {d.file.path: d for d in documents(new)}
            known = {d.file.path: d for d in tree}
            task = said(known, later)
            truth = {p for p, d in known.items() if SOURCE.search(p) and (p not in later or later[p].digest != d.digest)}
            if not task.strip() or not truth:
                print(f"{old.name} to {new.name}: no changelog or no change, not counted")
                continue
            shelf = Shelf()
            hints = Hints(named=mentioned(task, known))
            best, _ = rank(task, tree, "", hints, shelf.lexicon, shelf.graph, tally=Tally(), remaining=lambda: 60.0)
            ours = [r.document.file.path for r in best[:AMONG]]
            plain = baseline.first(task, tree)
            rows.append((len(truth.intersection(ours)) / len(truth), len(truth.intersection(plain)) / len(truth)))
            print(
                f"{name} {old.name} to {new.name}: {len(truth)} files changed, ours {rows[-1][0]:.3f}, BM25 {rows[-1][1]:.3f}"
            )
    if not rows:
        print("No two neighbouring releases were found.")
        return 2
    mine, base = (statistics.fmean(column) for column in zip(*rows, strict=True))
    print(f"{len(rows)} pairs of releases (no commits): ours {mine:.3f}, BM25 {base:.3f}")
    return 0 if mine > base else 1


if __name__ == "__main__":
    sys.exit(main())
