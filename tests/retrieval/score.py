"""How well a packet finds the files that a change will touch, on real commits: ``make retrieval``, ``make retrieval REPOS="a b"``.

For the last 200 commits of a repository that are no merges: the subject is the task, the parent commit is the tree, the source
files that the commit changed (and that the parent had) are the truth. What a packet would list first, at most 24 files, is held
against the truth; so is plain BM25 over the same files' contents, in the same run, and a stronger BM25 for comparison.
Everything is read out of git's objects: no working tree is touched. Fails when ours is not above plain BM25 on each repository.

Without ``REPOS`` this repository is taken, and every other one with a history below the folder that it lies in. A figure on one
project says how well it works on that project.
"""

from __future__ import annotations

import argparse
import hashlib
import logging
import re
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import bm25s  # type: ignore[import-untyped]

from ues_core.reasoning.packet._cache import Shelf
from ues_core.reasoning.packet._corpus import CORPUS_BYTES, CORPUS_FILES
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._lexicon import Document
from ues_core.reasoning.packet._mentions import mentioned
from ues_core.reasoning.packet._past import past_commits
from ues_core.reasoning.packet._retrieve import Hints, rank
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import LARGEST_SOURCE, SNIFF_BYTES, SourceFile, decode_source, name_reason
from ues_core.reasoning.packet._words import words_of

COMMITS, AMONG = 200, 24
HISTORY_LEAST = 20
"""Scored commits below which a repository is named but not counted."""
SEARCHED_DEPTH = 3
ROOT = Path(__file__).resolve().parents[2]
SOURCE = re.compile(
    r"\.(?:py|pyi|js|mjs|cjs|jsx|ts|tsx|vue|svelte|go|rs|java|kt|kts|scala|c|cc|cpp|cxx|h|hh|hpp|cs|fs|rb|php|swift|m|mm|lua|pl|"
    r"pm|r|jl|ex|exs|erl|hs|ml|clj|sh|bash|sql|html|css|scss)$",
    re.IGNORECASE,
)
WORD = re.compile(r"\b\w\w+\b")


class Commit(NamedTuple):
    """One commit of the test."""

    sha: str
    parent: str
    subject: str
    truth: frozenset[str]


class Score(NamedTuple):
    """Recall on one repository: the mean over commits, ours and the two baselines'."""

    name: str
    commits: int
    ours: float
    plain: float
    strong: float
    """BM25 over source files alone with identifiers taken apart: a stronger baseline than was asked for."""
    newer_ours: float
    newer_plain: float
    """On the newer half alone."""


def git(root: Path, *arguments: str, stdin: bytes = b"") -> bytes:
    """The output of git. Raises ``CalledProcessError``."""
    return subprocess.run(["git", "-C", str(root), *arguments], check=True, capture_output=True, input=stdin).stdout


def commits_of(root: Path, count: int) -> Iterator[Commit]:
    """The last commits that are no merges and have a parent, with the source files that they changed or removed."""
    listed = git(root, "log", "--no-merges", "--min-parents=1", f"--max-count={count}", "--format=%H%x00%P%x00%s")
    for line in listed.decode("utf-8", "replace").splitlines():
        sha, parents, subject = line.split("\0")
        parent = parents.split()[0]
        fields = git(root, "diff-tree", "--no-commit-id", "-r", "-z", "--no-renames", "--name-status", parent, sha).split(b"\0")
        pairs = zip(fields[::2], fields[1::2], strict=False)
        changed = (path.decode("utf-8", "replace") for status, path in pairs if status in (b"M", b"D", b"T"))
        yield Commit(sha, parent, subject, frozenset(p for p in changed if SOURCE.search(p) and name_reason(p) is None))


class Trees:
    """The files of commits, as a packet would read them; each content is read once."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._texts: dict[str, tuple[str, str, int] | None] = {}

    def documents(self, commit: str) -> list[Document]:
        """The readable files of a commit, in path order."""
        entries: list[tuple[str, str]] = []
        for row in git(self._root, "ls-tree", "-r", "-z", "-l", commit).split(b"\0"):
            facts, _, raw = row.partition(b"\t")
            path = raw.decode("utf-8", "replace")
            if raw and name_reason(path) is None:
                mode, kind, sha, size = facts.split()
                if kind == b"blob" and mode != b"120000" and int(size) <= LARGEST_SOURCE:
                    entries.append((path, sha.decode()))
        self._read([sha for _, sha in entries if sha not in self._texts])
        found: list[Document] = []
        spent = 0
        for path, blob in sorted(entries):
            text = self._texts[blob]
            if text is not None and len(found) < CORPUS_FILES and spent + text[2] <= CORPUS_BYTES:
                spent += text[2]
                found.append(Document(SourceFile(path, text[2]), text[0], text[1]))
        return found

    def _read(self, shas: Sequence[str]) -> None:
        if not shas:
            return
        out = git(self._root, "cat-file", "--batch", stdin="\n".join(shas).encode() + b"\n")
        at = 0
        while at < len(out):
            end = out.index(b"\n", at)
            name, _, size = out[at:end].split()
            data = out[end + 1 : end + 1 + int(size)]
            at = end + 2 + int(size)
            binary = b"\0" in data[:SNIFF_BYTES]
            self._texts[name.decode()] = None if binary else (decode_source(data), hashlib.sha256(data).hexdigest(), len(data))


class Baseline:
    """BM25 over the contents of files and nothing else; ``strong``: of source files, with identifiers taken apart."""

    def __init__(self, *, strong: bool = False) -> None:
        self._strong = strong
        self._kept: dict[str, list[str]] = {}

    def first(self, task: str, documents: Sequence[Document]) -> list[str]:
        """The best paths, at most ``AMONG``."""
        if self._strong:
            documents = [document for document in documents if SOURCE.search(document.file.path)]
        corpus = [self._of(document) or ["\0"] for document in documents]
        vocabulary = frozenset[str]().union(*corpus)
        query = [word for word in dict.fromkeys(self._words(task)) if word in vocabulary]
        if not query:
            return []
        index = bm25s.BM25(method="lucene")
        index.index(corpus, show_progress=False)
        scores = index.get_scores(query)
        order = sorted(range(len(documents)), key=lambda n: (-scores[n], documents[n].file.path))
        return [documents[n].file.path for n in order[:AMONG] if scores[n] > 0]

    def _of(self, document: Document) -> list[str]:
        if document.digest not in self._kept:
            self._kept[document.digest] = self._words(document.text)
        return self._kept[document.digest]

    def _words(self, text: str) -> list[str]:
        return words_of(text) if self._strong else WORD.findall(text.lower())


def ours(root: Path, commit: Commit, documents: Sequence[Document], shelf: Shelf) -> list[str]:
    """What a packet would list first at the parent commit, with nothing changed in the working tree."""
    end = time.monotonic() + 60

    def remaining() -> float:
        return end - time.monotonic()

    hints = Hints(
        named=mentioned(commit.subject, (d.file.path for d in documents)),
        past=past_commits(Git(root, remaining=remaining), commit.parent),
    )
    best, _ = rank(
        commit.subject, documents, commit.parent, hints, shelf.lexicon, shelf.graph, tally=Tally(), remaining=remaining
    )
    return [r.document.file.path for r in best[:AMONG]]


def score(root: Path, count: int) -> Score | None:
    """Measure one repository; ``None`` when too little of its history can be scored."""
    trees, shelf, plain, strong = Trees(root), Shelf(), Baseline(), Baseline(strong=True)
    rows: list[list[float]] = []
    for commit in commits_of(root, count):
        if not commit.truth:
            continue
        documents = trees.documents(commit.parent)
        truth = commit.truth.intersection(d.file.path for d in documents)
        if not truth:
            continue
        answers = (
            ours(root, commit, documents, shelf),
            plain.first(commit.subject, documents),
            strong.first(commit.subject, documents),
        )
        rows.append([len(truth.intersection(answer)) / len(truth) for answer in answers])
    if len(rows) < HISTORY_LEAST:
        return None
    newer = rows[: len(rows) // 2]
    every = [statistics.fmean(column) for column in zip(*rows, strict=True)]
    latest = [statistics.fmean(column) for column in zip(*newer, strict=True)]
    return Score(root.name, len(rows), every[0], every[1], every[2], latest[0], latest[1])


def at_hand() -> list[Path]:
    """This repository, and others with a history below the folder that it lies in; copies of one history count once."""
    found: dict[str, Path] = {}
    for folder in (ROOT, *_repositories(ROOT.parent)):
        try:
            first = git(folder, "rev-list", "--max-parents=0", "HEAD").decode().split()
        except subprocess.CalledProcessError:
            continue
        found.setdefault(" ".join(first), folder)
    return list(found.values())


def _repositories(folder: Path) -> Iterator[Path]:
    level = [folder] if folder != folder.parent else []
    for _ in range(SEARCHED_DEPTH):
        below: list[Path] = []
        for place in level:
            try:
                entries = sorted(p for p in place.iterdir() if p.is_dir() and not p.is_symlink() and not p.name.startswith("."))
            except OSError:
                continue
            yield from (entry for entry in entries if (entry / ".git").exists())
            below += [entry for entry in entries if not (entry / ".git").exists()]
        level = below[:500]


def main() -> int:
    """Measure, print a table, and say whether the promise holds."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("repositories", nargs="*", type=Path, help="folders of git repositories with a history")
    parser.add_argument("--commits", type=int, default=COMMITS, help="commits of each that are looked at")
    given = parser.parse_args()
    logging.getLogger("bm25s").setLevel(logging.WARNING)
    chosen: list[Path] = [path.resolve() for path in given.repositories] or at_hand()
    print(f"Recall of the changed source files among {AMONG}, mean over commits (subject = task, parent = tree).\n")
    print(f"{'repository':<24} {'commits':>7} {'ours':>6} {'BM25':>6}  stronger BM25  newer half: ours, BM25")
    scores: list[Score] = []
    for root in chosen:
        try:
            measured = score(root, given.commits)
        except subprocess.CalledProcessError as error:
            print(f"{root.name:<24} git failed: {error.stderr.decode('utf-8', 'replace').strip()[:80]}")
            return 2
        if measured is None:
            print(f"{root.name:<24} fewer than {HISTORY_LEAST} commits can be scored; not counted")
            continue
        scores.append(measured)
        s = measured
        print(
            f"{s.name:<24} {s.commits:>7} {s.ours:>6.3f} {s.plain:>6.3f} {s.strong:>14.3f} {s.newer_ours:>17.3f}, "
            f"{s.newer_plain:.3f}"
        )
    if not scores:
        print('No repository with a history was found. Name some: make retrieval REPOS="folder folder"')
        return 2
    total = sum(s.commits for s in scores)
    mine, base = (sum(getattr(s, name) * s.commits for s in scores) / total for name in ("ours", "plain"))
    print(f"\n{len(scores)} repositories, {total} commits: ours {mine:.3f}, BM25 {base:.3f}")
    if len(scores) < 3:
        print("Fewer than three repositories: this says how well it works here, and little about other projects.")
    above = all(s.ours > s.plain for s in scores)
    print("Ours is above plain BM25 on each." if above else "Ours is NOT above plain BM25 on each.")
    return 0 if above else 1


if __name__ == "__main__":
    sys.exit(main())
