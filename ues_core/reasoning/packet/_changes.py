"""What changed lately: the uncommitted diff file by file, untracked names, and the last commits as evidence."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import Final, NamedTuple

from ues_core.contract import DiffRow, EvidenceKind, EvidenceRow, LeftOut
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import SourceFile, name_reason

DIFF_BYTES: Final = 2_000_000
COMMITS: Final = 12
LOG_BYTES: Final = 64_000
UNTRACKED_SHOWN: Final = 40

_FILE_HEADER: Final = re.compile(r"^(?:diff --git |--- [^\n]{1,1000}+\n(?=\+\+\+ ))", re.MULTILINE)
_QUIET: Final = (
    "--no-ext-diff",
    "--no-textconv",
    "--no-color",
    "--ignore-submodules=all",
    "--no-prefix",
    "--find-renames",
    "--relative",
)


class Change(NamedTuple):
    """One file's part of a diff: every path that it names, and its text."""

    paths: tuple[str, ...]
    text: str


def head_of(git: Git) -> tuple[str, str]:
    """``(commit, branch)``; empty texts where there is none (an empty repository, a detached head)."""
    head = git.text("rev-parse", "--verify", "--quiet", "HEAD", limit=128).strip()
    branch = git.text("symbolic-ref", "--short", "--quiet", "HEAD", limit=400).strip()
    return head, branch


def current_changes(git: Git, head: str) -> list[Change]:
    """Staged and unstaged changes against the last commit, one per file."""
    if head:
        text = git.text("diff", *_QUIET, "HEAD", "--", ".", limit=DIFF_BYTES)
    else:
        text = git.text("diff", *_QUIET, "--cached", "--", ".", limit=DIFF_BYTES)
    return split_diff(text)


def split_diff(text: str) -> list[Change]:
    """A unified diff, git's or a plain one, as one ``Change`` for each file that it names."""
    starts: list[int] = []
    headed = False
    for match in _FILE_HEADER.finditer(text):
        of_git = match.group().startswith("diff ")
        # git's own header is followed by a plain one of the same file, before its first hunk
        if not of_git and headed and "\n@@" not in text[starts[-1] : match.start()]:
            continue
        starts.append(match.start())
        headed = of_git
    parts = (text[a:b] for a, b in pairwise([*starts, len(text)]))
    return [Change(_paths(part), part.rstrip("\n")) for part in parts]


def _paths(part: str) -> tuple[str, ...]:
    found: dict[str, None] = {}
    header = part.partition("\n")[0]
    for line in part.split("\n"):
        if line.startswith("@@"):
            break
        for prefix in ("--- ", "+++ ", "rename from ", "rename to ", "copy from ", "copy to "):
            if line.startswith(prefix):
                path = line.removeprefix(prefix).split("\t", 1)[0]
                if path != "/dev/null":
                    found.setdefault(_bare(path))
    if not found:
        names = header.removeprefix("diff --git ")
        half = (len(names) - 1) // 2
        # a file without hunks (binary, mode change) is named twice in the header, with one blank between
        found.setdefault(_bare(names[:half]) if names[:half] == names[half + 1 :] else _bare(names.split(" ")[-1]))
    return tuple(found)


def _bare(path: str) -> str:
    """A path without git's ``a/`` and ``b/``, which a diff from elsewhere may carry; a quoted one keeps its escapes and is odd."""
    if not path.startswith('"'):
        return path
    # what git had to quote is judged as odd, unless only the quotes were needed
    return path.strip('"').replace("\\", "\0")


def diff_rows(changes: list[Change], tally: Tally) -> list[DiffRow]:
    """The changes that may be shown. One secret name among a file's old and new ones hides the whole hunk."""
    rows: list[DiffRow] = []
    for change in changes:
        reason = next((r for r in map(judge, change.paths) if r is not None), None)
        if reason is not None:
            tally.add(reason, change.paths[-1])
        else:
            rows.append(DiffRow(path=change.paths[-1], text=change.text))
    return rows


def judge(path: str) -> LeftOut | None:
    """``name_reason`` for a path out of a diff, with or without git's one-letter prefix."""
    return name_reason(path) or (name_reason(path[2:]) if path[:2] in ("a/", "b/") else None)


def untracked_row(files: list[SourceFile]) -> DiffRow | None:
    """The names of untracked files, as one row."""
    names = [f.path for f in files if not f.tracked]
    if not names:
        return None
    more = f"\n... and {len(names) - UNTRACKED_SHOWN} more" if len(names) > UNTRACKED_SHOWN else ""
    return DiffRow(path="(untracked files)", text="\n".join(names[:UNTRACKED_SHOWN]) + more)


def recent_commits(git: Git, scope: str = ".") -> EvidenceRow | None:
    """The last commits that touched ``scope``: abbreviated id, day, subject. ``None`` when there is none."""
    log = git.text(
        "log",
        f"--max-count={COMMITS}",
        "--no-merges",
        "--no-show-signature",
        "--format=%h %cs %s",
        "--",
        scope if scope == "." else f":(literal){scope}",
        limit=LOG_BYTES,
    )
    return EvidenceRow(evidence=EvidenceKind.COMMITS, source="git log", text=log.strip()) if log.strip() else None
