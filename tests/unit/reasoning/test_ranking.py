"""What finds the files that a task is about: their words, commits like it, what changes and what belongs together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from ues_core.contract import EdgeRow, FileRow, LeftOut, SectionName
from ues_core.reasoning import build_packet
from ues_core.reasoning.packet._git import Git
from ues_core.reasoning.packet._graph import ImportGraph
from ues_core.reasoning.packet._lexicon import Document, Lexicon
from ues_core.reasoning.packet._past import PAST_COMMITS, SWEEPING, PastCommit, past_commits
from ues_core.reasoning.packet._retrieve import Hints, Ranked, rank
from ues_core.reasoning.packet._tally import Tally
from ues_core.reasoning.packet._tree import SourceFile

RunGit = Callable[..., str]
Write = Callable[[Path, str, str], Path]


def documents(files: Mapping[str, str]) -> list[Document]:
    return [Document(SourceFile(path, len(text)), text, f"{path} {text}") for path, text in sorted(files.items())]


def ranked(files: Mapping[str, str], task: str, hints: Hints | None = None, seconds: float = 9.0) -> list[str]:
    return [r.document.file.path for r in best(task, documents(files), hints or Hints(), remaining=lambda: seconds)]


def best(
    task: str,
    corpus: list[Document],
    hints: Hints,
    *,
    remaining: Callable[[], float] = lambda: 9.0,
    tally: Tally | None = None,
    lexicon: Lexicon | None = None,
    graph: ImportGraph | None = None,
) -> list[Ranked]:
    identity = " ".join(document.digest for document in corpus)
    found = rank(
        task,
        corpus,
        identity,
        hints,
        lexicon or Lexicon(),
        graph or ImportGraph(),
        tally=tally or Tally(),
        remaining=remaining,
    )
    assert found.relevant == len(found.best)
    return found.best


def test_an_identifier_is_found_by_its_parts_and_a_definition_counts_more_than_a_mention() -> None:
    files = {"a.py": "x = 1  # reads the parcel label\n" * 3, "b.py": "def readParcelLabel(): ...\n", "c.py": "pass\n"}
    assert ranked(files, "The parcel label is wrong")[:2] == ["b.py", "a.py"]


def test_commits_like_the_task_lead_to_files_that_share_no_word_with_it() -> None:
    files = {"src/one.py": "alpha = 1\n", "src/two.py": "beta = 2\n"}
    past = [PastCommit("Make the nightly export faster", ("src/two.py",)), PastCommit("Something else", ("src/one.py",))]
    assert ranked(files, "The nightly export is slow", Hints(past=past)) == ["src/two.py"]


def test_what_changes_together_and_what_imports_it_comes_along() -> None:
    files = {
        "shop/cache.py": "def expire(): ...\n",
        "shop/user.py": "from shop.cache import expire\n",
        "shop/table.sql": "select 1\n",
        "tests/test_cache.py": "assert True\n",
        "shop/far.py": "nothing = 0\n",
        "shop/__init__.py": "",
    }
    past = [PastCommit("x", ("shop/cache.py", "shop/table.sql"))]
    found = ranked(files, "expire too early", Hints(past=past))
    assert found[0] == "shop/cache.py"
    assert set(found[1:]) == {"shop/user.py", "shop/table.sql", "tests/test_cache.py"}


def test_what_is_named_and_asked_for_stands_before_what_only_resembles() -> None:
    files = {f"n{n}.py": "cache cache cache\n" for n in range(30)} | {"other.py": "y = 1\n", "third.py": "z = 1\n"}
    hints = Hints(named={"other.py": ()}, pinned=frozenset(["third.py"]))
    assert ranked(files, "the cache", hints)[:2] == ["third.py", "other.py"]


def test_a_corpus_that_time_does_not_reach_is_counted_and_what_is_named_stays() -> None:
    tally, ticks = Tally(), itertools.chain([1.0], itertools.repeat(0.0))
    files = documents({f"n{n:03}.py": "cache\n" for n in range(100)})
    found = best("cache", files, Hints(named={"n099.py": ()}), tally=tally, remaining=lambda: next(ticks))
    assert next(c.count for c in tally.report() if c.reason is LeftOut.TIME_BUDGET) == 68
    assert found[0].document.file.path == "n099.py"


def test_a_lexicon_that_read_a_corpus_before_gives_the_same_answer_and_sees_what_changed() -> None:
    lexicon, graph = Lexicon(), ImportGraph()
    old, new = documents({"a.py": "parcel\n", "b.py": "letter\n"}), documents({"a.py": "letter\n", "b.py": "parcel\n"})
    for corpus, first in ((old, "a.py"), (old, "a.py"), (new, "b.py"), (old, "a.py")):
        found = best("parcel", corpus, Hints(), lexicon=lexicon, graph=graph)
        assert found[0].document.file.path == first


def test_past_commits_are_read_without_the_first_the_sweeping_and_the_merges(
    repository: Path, run_git: RunGit, write_file: Write
) -> None:
    write_file(repository, "src/shop/cache.py", "# 1\n")
    run_git(repository, "commit", "-q", "-am", "Tidy the cache\n\nbody")
    for n in range(SWEEPING + 1):
        write_file(repository, f"src/gen/g{n}.py", "")
    run_git(repository, "add", "-A")
    run_git(repository, "commit", "-q", "-m", "Sweep")
    git = Git(repository, remaining=lambda: 9.0)
    assert past_commits(git) == [PastCommit("Tidy the cache", ("src/shop/cache.py",))]
    assert past_commits(Git(repository / "src", remaining=lambda: 9.0)) == [PastCommit("Tidy the cache", ("shop/cache.py",))]
    assert PAST_COMMITS >= 200


def test_a_packet_uses_the_history_of_its_repository(repository: Path, run_git: RunGit, write_file: Write) -> None:
    write_file(repository, "src/shop/invoice.py", "def total(lines: list[int]) -> int:\n    return sum(lines) + 0\n")
    run_git(repository, "commit", "-q", "-am", "Round the nightly export")
    packet = build_packet("The nightly export rounds wrongly", repository)
    first = packet.section(SectionName.RELEVANT_FILES).rows[0]
    assert isinstance(first, FileRow)
    assert (first.path, "commits like it" in first.why) == ("src/shop/invoice.py", True)


@pytest.mark.parametrize("task", ["", "!!!", "the of and", "\u4e0d\u786e\u5b9a", "x" * 10_000])
def test_a_task_without_words_ranks_nothing_or_little_and_breaks_nothing(task: str) -> None:
    assert ranked({"a.py": "y = 1\n"}, task) == []


def test_the_graph_shows_what_changed_together_more_than_once(repository: Path, run_git: RunGit, write_file: Write) -> None:
    for n in range(3):
        write_file(repository, "src/shop/cache.py", f"# the expiring cache {n}\n")
        write_file(repository, "README.md", f"# Shop {n}\n")
        if n == 1:
            write_file(repository, "src/shop/clock.py", "# once\n")
        run_git(repository, "commit", "-q", "-am", f"Change {n}")
    rows = build_packet("The expiring cache", repository).section(SectionName.DEPENDENCY_GRAPH).rows
    assert [(r.source, r.relation, r.target) for r in rows if isinstance(r, EdgeRow) and "with" in r.relation] == [
        ("README.md", "changed 3 times with", "src/shop/cache.py")
    ]
