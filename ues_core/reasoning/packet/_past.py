"""What earlier commits say about a task: which files such work touched, and which files change together."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from ues_core.contract import EdgeRow
from ues_core.reasoning.packet._git import Git

PAST_COMMITS: Final = 400
PAST_BYTES: Final = 4_000_000
SWEEPING: Final = 60
"""Files of a commit above which it says nothing about any of them: a renaming, a reformatting."""
COUPLED: Final = 30
"""Files of a commit above which its files are not taken to belong together."""

COUPLED_SHOWN: Final = 12
"""Edges of the change graph in a packet."""

_MARK: Final = b"\x01\x02"


class PastCommit(NamedTuple):
    """A commit before the state that is ranked: its subject, and the files that it touched."""

    subject: str
    paths: tuple[str, ...]


def past_commits(git: Git, until: str = "HEAD") -> list[PastCommit]:
    """The last commits up to ``until``, latest first, without merges; paths are relative to the folder that git runs in."""
    listed = git.read(
        "log",
        f"--max-count={PAST_COMMITS}",
        "--no-merges",
        "--min-parents=1",  # a first commit brings everything, so it says nothing about what belongs together
        "--no-show-signature",
        "--no-renames",
        "--name-only",
        "--relative",
        "-z",
        "--format=%x01%x02%s%x00",
        until,
        "--",
        ".",
        limit=PAST_BYTES,
    )
    records = (listed or b"").split(_MARK)[1:]
    if git.truncated and records:
        records.pop()
    commits = []
    for record in records:
        subject, *paths = record.decode("utf-8", "replace").split("\0")
        named = tuple(p for path in paths if (p := path.strip("\n")))
        if 0 < len(named) <= SWEEPING:
            commits.append(PastCommit(subject[:400], named))
    return commits


def alike(commits: Sequence[PastCommit], scores: Sequence[float], place: Mapping[str, int]) -> dict[int, float]:
    """Places of the files that commits like the task touched; ``scores`` say how alike each is. A small commit says more."""
    found: dict[int, float] = defaultdict(float)
    for commit, score in zip(commits, scores, strict=True):
        if score <= 0:
            continue
        share = score / len(commit.paths) ** 0.5
        for path in commit.paths:
            if path in place:
                found[place[path]] += share
    return found


def together(commits: Sequence[PastCommit], seeds: Mapping[int, float], place: Mapping[str, int]) -> dict[int, float]:
    """Places of the files that changed together with the seeds, weighted by the seeds' own scores."""
    found: dict[int, float] = defaultdict(float)
    for commit in commits:
        if not 2 <= len(commit.paths) <= COUPLED:
            continue
        inside = [place[path] for path in commit.paths if path in place]
        pull = sum(seeds.get(n, 0.0) for n in inside) / len(commit.paths)
        if pull:
            for n in inside:
                found[n] += pull - seeds.get(n, 0.0) / len(commit.paths)
    return found


def change_rows(commits: Sequence[PastCommit], relevant: Sequence[str], known: frozenset[str]) -> list[EdgeRow]:
    """Edges of the change graph: pairs that changed together more than once, one of them relevant; the most frequent first."""
    wanted = set(relevant)
    pairs: Counter[tuple[str, str]] = Counter()
    for commit in commits:
        if len(commit.paths) > COUPLED:
            continue
        inside = sorted(path for path in commit.paths if path in known)
        pairs.update((a, b) for n, a in enumerate(inside) for b in inside[n + 1 :] if a in wanted or b in wanted)
    often = sorted(((-count, pair) for pair, count in pairs.items() if count > 1))[:COUPLED_SHOWN]
    return [EdgeRow(source=a, target=b, relation=f"changed {-count} times with") for count, (a, b) in often]
