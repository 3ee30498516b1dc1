"""Repositories of every shape: worktrees, submodules, parts of a whole, odd encodings, a hundred thousand names."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from ues_core.contract import (
    Code,
    DiffRow,
    EvidenceKind,
    EvidenceRow,
    FileRow,
    LeftOut,
    Packet,
    PacketBudget,
    SectionName,
    SectionReport,
    UsageError,
)
from ues_core.reasoning import build_packet, render_prompt

TASK = "Make the expiring cache forget a value once its seconds are over"
Write = Callable[[Path, str, str], Path]
RunGit = Callable[..., str]


def left_out(packet: Packet) -> dict[LeftOut, int]:
    return {count.reason: count.count for count in packet.left_out}


def files_of(packet: Packet) -> list[str]:
    return [row.path for row in packet.section(SectionName.RELEVANT_FILES).rows if isinstance(row, FileRow)]


def report_of(packet: Packet, name: SectionName) -> SectionReport:
    return next(report for report in packet.reports if report.name is name)


def text_of(packet: Packet) -> str:
    return render_prompt(packet.sections, nonce="0" * 24).text


def test_a_worktree_is_a_repository_with_its_own_branch_and_changes(
    repository: Path, run_git: RunGit, write_file: Write
) -> None:
    tree = repository.parent / "tree"
    run_git(repository, "worktree", "add", "-q", "-b", "other", str(tree))
    write_file(tree, "src/shop/cache.py", "# the expiring cache of the WORKTREE\n")
    write_file(repository, "src/shop/cache.py", "# the expiring cache of the MAIN tree\n")
    packet = build_packet(TASK, tree)
    assert "at other " in text_of(packet)
    assert "WORKTREE" in text_of(packet)
    assert "MAIN" not in text_of(packet)
    assert LeftOut.NO_REPOSITORY not in left_out(packet)


def test_a_submodule_is_counted_and_its_files_are_not_read(repository: Path, run_git: RunGit, write_file: Write) -> None:
    inner = repository.parent / "inner"
    inner.mkdir()
    run_git(inner, "init", "-q")
    write_file(inner, "cache.py", "# expiring cache seconds INNER\n")
    run_git(inner, "add", "-A")
    run_git(inner, "commit", "-q", "-m", "Inner")
    run_git(repository, "-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "vendored/inner")
    run_git(repository, "commit", "-q", "-m", "Take the inner one in")
    write_file(repository, "vendored/inner/cache.py", "# expiring cache seconds INNER CHANGED\n")
    packet = build_packet(TASK, repository)
    assert left_out(packet)[LeftOut.NOT_A_FILE] == 1
    assert not [path for path in files_of(packet) if path.startswith("vendored")]
    assert "INNER" not in text_of(packet)


@pytest.mark.parametrize("way", ["file", "link", "common", "refs"])
def test_a_folder_that_claims_another_repositorys_history_is_read_as_a_folder(
    repository: Path, run_git: RunGit, write_file: Write, way: str
) -> None:
    folder = repository.parent / "from-elsewhere"
    write_file(folder, "cache.py", "# the expiring cache from elsewhere\n")
    theirs = repository / ".git"
    if way == "file":
        write_file(folder, ".git", f"gitdir: {theirs}\n")
    elif way == "link":
        (folder / ".git").symlink_to(theirs)
    else:
        run_git(folder, "init", "-q")
        if way == "common":
            write_file(folder, ".git/commondir", f"{theirs}\n")
        else:
            for name in ("refs", "objects"):
                shutil.rmtree(folder / ".git" / name)
                (folder / ".git" / name).symlink_to(theirs / name)
    packet = build_packet(TASK, folder)
    text = text_of(packet)
    assert "Open the shop" not in text
    assert "class ExpiringCache" not in text
    assert (packet.head, left_out(packet)[LeftOut.NO_REPOSITORY]) == ("", 1)
    assert files_of(packet) == ["cache.py"]


def test_a_repository_whose_every_word_is_another_one_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ues_core.reasoning.packet._lexicon.VOCABULARY", 50)
    for n in range(20):
        (tmp_path / f"a{n}.py").write_text("\n".join(f"word{chr(97 + n)}{chr(97 + k)}x" for k in range(20)))
    (tmp_path / "z.py").write_text("the expiring cache\n")
    assert files_of(build_packet(TASK, tmp_path))[0] == "z.py"


def test_a_part_of_a_repository_sees_its_own_changes_and_nothing_beside_it(
    repository: Path, run_git: RunGit, write_file: Write
) -> None:
    write_file(repository, "src/shop/cache.py", "# the expiring cache, INSIDE\n")
    write_file(repository, "README.md", "# The expiring cache, BESIDE\n")
    packet = build_packet(TASK, repository / "src")
    (row,) = [row for row in packet.section(SectionName.CURRENT_DIFF).rows if isinstance(row, DiffRow)]
    assert row.path == "shop/cache.py"
    assert files_of(packet)[0] == "shop/cache.py"
    assert "BESIDE" not in text_of(packet)


@pytest.mark.parametrize(
    ("data", "shown"),
    [
        ("# expiring cache sch\u00f6n\n".encode("utf-16"), "sch\u00f6n"),
        ("# expiring cache sch\u00f6n\n".encode("utf-8-sig"), "# expiring cache sch\u00f6n"),
        ("# expiring cache sch\u00f6n\n".encode("latin-1"), "sch\ufffdn"),
        (b"# expiring cache\r\ndef seconds():\r    pass\n", "def seconds():\n"),
        ("# expiring cache \u6f22\u5b57\n".encode("gb18030"), "# expiring cache "),
        (b"# expiring cache \xed\xa0\x80\xff\xfe end\n", "end"),
        ("# expiring cache \u202e\u2066 hidden \u2069\n".encode(), "hidden"),
    ],
    ids=["utf-16", "bom", "latin-1", "line-ends", "gb18030", "surrogate", "bidi"],
)
def test_a_file_in_any_encoding_gives_text_that_can_be_sent(tmp_path: Path, data: bytes, shown: str) -> None:
    (tmp_path / "cache.py").write_bytes(data)
    text = text_of(build_packet(TASK, tmp_path))
    text.encode()
    numbered = "\n".join(line.partition("| ")[2] or line for line in text.split("\n"))
    assert shown in numbered


@pytest.mark.parametrize("what", ["constraints", "requirements", "verification"])
def test_an_essential_row_that_does_not_fit_is_an_error_that_names_it(repository: Path, what: str) -> None:
    rows = {what: ["MUST be small", "MUST NOT " + "x" * 4_000]}
    with pytest.raises(UsageError) as refused:
        build_packet(TASK, repository, budget=PacketBudget(packet_chars=4_000), **rows)  # type: ignore[arg-type]
    assert refused.value.code is Code.PACKET_OVERFLOW
    assert refused.value.details["row"] == "2"
    assert refused.value.details["text"].startswith("MUST NOT xxx")
    assert refused.value.details["section"] in ("constraints", "requirement-summary", "verification-expectations")


def test_every_loss_is_in_the_report_with_its_reason(repository: Path, write_file: Write) -> None:
    log = EvidenceRow(evidence=EvidenceKind.TOOL_OUTPUT, source="run", text="line of it\n" * 2_000)
    for n in range(30):
        write_file(repository, f"src/shop/cache_{n}.py", "def expiring_cache_seconds():\n    return 1\n" * 40)
    write_file(repository, "build/out.js", "expiring\n")
    full = build_packet(
        TASK,
        repository,
        evidence=[log, log.model_copy(update={"text": "more\n"})],
        questions=[f"Why {n}?" for n in range(30)],
        budget=PacketBudget(evidence=1, snippets=2, files=4),
    )
    evidence, questions, files = (
        report_of(full, name)
        for name in (SectionName.FAILING_EVIDENCE, SectionName.UNRESOLVED_QUESTIONS, SectionName.RELEVANT_FILES)
    )
    assert (evidence.kept, evidence.clipped, evidence.why) == (1, 1, "at most 1 rows")
    assert (questions.rows_in, questions.kept, questions.dropped) == (30, 20, 10)
    assert (files.kept, files.why) == (4, "at most 4 rows")
    # what is irrelevant, what is excluded and what is over the budget are three different losses
    counts = left_out(full)
    assert counts[LeftOut.EXCLUDED_PATH] == 1
    assert counts[LeftOut.OVER_BUDGET] == files.dropped
    assert LeftOut.IRRELEVANT not in counts or counts[LeftOut.IRRELEVANT] < 12
    tight = build_packet(
        TASK, repository, constraints=["MUST " + "y" * 1_400], attempts=["tried"] * 8, budget=PacketBudget(packet_chars=5_000)
    )
    shed = [report for report in tight.reports if report.shed]
    assert shed
    assert all(report.kept == 0 and "shed to fit the packet" in report.why for report in shed)
    assert not any(report.shed for report in tight.reports if report.name is SectionName.CONSTRAINTS)


def test_a_hundred_thousand_names_are_bounded(repository: Path) -> None:
    blob = subprocess.run(
        ["git", "hash-object", "-w", "--stdin"], cwd=repository, input=b"x\n", check=True, capture_output=True
    ).stdout.strip()
    names = b"".join(b"100644 %s 0\tgen/d%d/f%d.py\n" % (blob, n % 300, n) for n in range(100_000))
    subprocess.run(["git", "update-index", "--index-info"], cwd=repository, input=names, check=True, capture_output=True)
    packet = build_packet(TASK, repository)
    assert files_of(packet)[0] == "src/shop/cache.py"
    # they are listed by git and lie nowhere: each is looked for once, and counted
    assert left_out(packet)[LeftOut.UNREADABLE] >= 99_000
    assert packet.chars <= 36_000


def test_a_listing_longer_than_its_bound_is_cut_and_counted(repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ues_core.reasoning.packet._tree.LISTED_FILES", 3)
    assert left_out(build_packet(TASK, repository))[LeftOut.OVER_BUDGET] >= 3
    monkeypatch.setattr("ues_core.reasoning.packet._tree.LISTING_BYTES", 200)
    packet = build_packet(TASK, repository)
    assert left_out(packet)[LeftOut.OVER_BUDGET] >= 1


def test_a_file_that_grew_past_its_bound_after_it_was_listed_is_not_read(
    repository: Path, monkeypatch: pytest.MonkeyPatch, write_file: Write
) -> None:
    write_file(repository, "src/shop/cache.py", "# expiring cache GROWN\n" * 40)
    monkeypatch.setattr("ues_core.reasoning.packet._tree.LARGEST_SOURCE", 200)
    packet = build_packet(TASK, repository)
    assert left_out(packet)[LeftOut.TOO_LARGE] >= 1
    assert "src/shop/cache.py" not in files_of(packet)


def test_the_smallest_budget_holds_a_task_and_its_constraint() -> None:
    packet = build_packet(TASK, None, constraints=["MUST"], budget=PacketBudget(packet_chars=2_000))
    assert packet.chars <= 2_000
    assert TASK in text_of(packet)


def test_half_a_character_becomes_a_sign_that_can_be_sent(repository: Path) -> None:
    texts = ["broken \udcff cache"]
    packet = build_packet(texts[0], repository, constraints=texts, questions=texts, attempts=texts, failing_log=texts[0])
    assert text_of(packet).encode().decode().count("broken \ufffd cache") == 5
