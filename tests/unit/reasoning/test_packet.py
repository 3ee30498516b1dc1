"""A packet from a real repository: what is in it, what is not, and what can never leave."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ues_core.contract import (
    Code,
    DiffRow,
    EdgeRow,
    EvidenceKind,
    EvidenceRow,
    ExtraDetector,
    FileRow,
    LeftOut,
    Packet,
    PacketBudget,
    PacketTier,
    SectionName,
    SnippetRow,
    UsageError,
)
from ues_core.reasoning import build_packet, check_outbound, render_prompt
from ues_core.reasoning.packet._changes import split_diff
from ues_core.reasoning.packet._git import Git

TASK = "Make the expiring cache forget a value once its seconds are over"
NONCE = "0123456789abcdef01234567"
Write = Callable[[Path, str, str], Path]
RunGit = Callable[..., str]


def left_out(packet: Packet) -> dict[LeftOut, int]:
    return {count.reason: count.count for count in packet.left_out}


def files_of(packet: Packet) -> list[str]:
    return [row.path for row in packet.section(SectionName.RELEVANT_FILES).rows if isinstance(row, FileRow)]


def text_of(packet: Packet) -> str:
    return render_prompt(packet.sections, nonce=NONCE).text


def test_all_thirteen_sections_are_there_in_order_with_a_report_each(repository: Path) -> None:
    packet = build_packet(TASK, repository, constraints=["MUST keep the signature of fetch"])
    assert [s.name for s in packet.sections] == list(SectionName)
    assert [r.name for r in packet.reports] == list(SectionName)
    assert packet.chars == len(text_of(packet))
    assert packet.tokens_estimated == -(-packet.chars // 4)
    assert packet.head
    assert packet.repository == "shop-repo"


def test_the_file_that_the_task_is_about_comes_first_with_its_exact_lines(repository: Path) -> None:
    packet = build_packet(TASK, repository)
    assert files_of(packet)[0] == "src/shop/cache.py"
    snippet = packet.section(SectionName.EXACT_SNIPPETS).rows[0]
    assert isinstance(snippet, SnippetRow)
    lines = (repository / snippet.path).read_text().split("\n")
    assert snippet.text.split("\n") == lines[snippet.start - 1 : snippet.end]
    assert "src/shop/invoice.py" not in files_of(packet)
    assert left_out(packet)[LeftOut.IRRELEVANT] >= 1


def test_map_graph_and_commits_describe_the_repository(repository: Path) -> None:
    packet = build_packet(TASK, repository)
    text = text_of(packet)
    assert "package shop: commands shop (pyproject.toml)" in text
    edges = [row for row in packet.section(SectionName.DEPENDENCY_GRAPH).rows if isinstance(row, EdgeRow)]
    assert ("src/shop/cache.py", "src/shop/clock.py") in [(e.source, e.target) for e in edges]
    assert ("tests/test_cache.py", "src/shop/cache.py") in [(e.source, e.target) for e in edges]
    commits = packet.section(SectionName.FAILING_EVIDENCE).rows[-1]
    assert isinstance(commits, EvidenceRow)
    assert commits.evidence is EvidenceKind.COMMITS
    assert "Open the shop" in commits.text


def test_the_diff_shows_staged_unstaged_and_the_names_of_untracked_files(
    repository: Path, run_git: RunGit, write_file: Write
) -> None:
    write_file(repository, "src/shop/clock.py", "def now() -> float:\n    return 1.0\n")
    run_git(repository, "add", "src/shop/clock.py")
    write_file(repository, "src/shop/invoice.py", "def total() -> int:\n    return 2\n")
    write_file(repository, "notes.txt", "remember the milk\n")
    rows = {
        r.path: r.text for r in build_packet(TASK, repository).section(SectionName.CURRENT_DIFF).rows if isinstance(r, DiffRow)
    }
    assert "+    return 1.0" in rows["src/shop/clock.py"]
    assert "+    return 2" in rows["src/shop/invoice.py"]
    assert rows["(untracked files)"] == "notes.txt"


def test_nothing_of_a_secret_file_leaves_not_even_in_its_diff_or_as_evidence(
    repository: Path, write_file: Write, run_git: RunGit
) -> None:
    write_file(repository, "config/.env.production", "PAYMENT_PASSWORD=battery-staple-2\nCACHE_SECONDS=3\n")
    diff = run_git(repository, "diff")
    evidence = [
        EvidenceRow(evidence=EvidenceKind.DIFF, source="git diff", text=diff),
        EvidenceRow(evidence=EvidenceKind.FILE_EXCERPT, source="config/.env.production", text="CACHE_SECONDS=3"),
    ]
    packet = build_packet(
        "Change CACHE_SECONDS in the environment file", repository, evidence=evidence, files=["config/.env.production"]
    )
    text = text_of(packet)
    for secret in ("correct-horse-1", "battery-staple-2", "CACHE_SECONDS=3", ".env.production"):
        assert secret not in text
    # the listing, the diff, the evidence's hunk, the evidence's source, and the file that was asked for
    assert left_out(packet)[LeftOut.SECRET_PATH] == 5
    assert not next(c for c in packet.left_out if c.reason is LeftOut.SECRET_PATH).examples


def test_secrets_in_ordinary_files_are_masked_and_line_numbers_stay_true(repository: Path, write_file: Write) -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabcdef\n-----END RSA PRIVATE KEY-----"
    write_file(
        repository,
        "src/shop/cache.py",
        f'KEY = """{key}"""\npassword = "hunter2hunter2"\n\n\ndef expiring_cache_seconds():\n    return 7\n',
    )
    packet = build_packet(TASK, repository)
    text = text_of(packet)
    assert "MIIabcdef" not in text
    assert "hunter2" not in text
    row = next(
        r
        for r in packet.section(SectionName.EXACT_SNIPPETS).rows
        if isinstance(r, SnippetRow) and r.path == "src/shop/cache.py"
    )
    numbered = dict(enumerate(row.text.split("\n"), row.start))
    assert numbered[7] == "def expiring_cache_seconds():"
    assert packet.redactions >= 2
    check_outbound(render_prompt(packet.sections, nonce=NONCE))


def test_a_contributed_detector_masks_too(repository: Path, write_file: Write) -> None:
    write_file(repository, "src/shop/cache.py", "# expiring cache of ticket ACME-4711\n")
    packet = build_packet(TASK, repository, detectors=[ExtraDetector(name="acme", pattern=r"ACME-\d{4}")])
    assert "ACME-4711" not in text_of(packet)


def test_a_failing_log_names_the_file_and_the_line(repository: Path) -> None:
    log = 'Traceback\n  File "/elsewhere/src/shop/invoice.py", line 5, in total\n    return sum(lines)\nTypeError: no\n'
    packet = build_packet("It fails", repository, failing_log=log)
    assert files_of(packet)[0] == "src/shop/invoice.py"
    first = packet.section(SectionName.FAILING_EVIDENCE).rows[0]
    assert isinstance(first, EvidenceRow)
    assert first.evidence is EvidenceKind.FAILED_OUTPUT
    assert first.text.endswith("TypeError: no\n")


def test_a_constraint_that_does_not_fit_is_an_error_that_names_it(repository: Path) -> None:
    constraints = ["MUST stay small", "MUST NOT " + "x" * 3_000]
    with pytest.raises(UsageError) as refused:
        build_packet(TASK, repository, constraints=constraints, budget=PacketBudget(packet_chars=4_000))
    assert refused.value.code is Code.PACKET_OVERFLOW
    assert refused.value.details["section"] == "constraints"
    assert refused.value.details["row"] == "2"
    assert "MUST NOT xxx" in refused.value.sentence


def test_more_constraints_than_fit_are_an_error_too(repository: Path) -> None:
    with pytest.raises(UsageError) as refused:
        build_packet(TASK, repository, constraints=[f"MUST {n}" for n in range(41)])
    assert refused.value.code is Code.PACKET_OVERFLOW
    assert "MUST 40" in refused.value.sentence


def test_under_pressure_the_essential_rows_stay_whole_and_the_rest_is_accounted_for(repository: Path) -> None:
    constraints = [f"MUST keep rule {n} " + "y" * 60 for n in range(20)]
    packet = build_packet(
        TASK, repository, constraints=constraints, questions=["Why?"] * 5, budget=PacketBudget(packet_chars=5_000)
    )
    assert packet.chars <= 5_000
    assert [r.text for r in packet.section(SectionName.CONSTRAINTS).rows if r.kind == "text"] == constraints
    for report in packet.reports:
        assert report.rows_in == report.kept + report.dropped
        assert not report.dropped or report.why


def test_a_tier_never_raises_what_the_budget_allows(repository: Path) -> None:
    packet = build_packet(TASK, repository, tier=PacketTier.LARGE, budget=PacketBudget(files=2))
    assert packet.budget.files == 2
    assert packet.budget.packet_chars == 36_000
    assert len(files_of(packet)) <= 2


def test_the_fingerprint_is_over_content_alone(repository: Path, write_file: Write) -> None:
    first = build_packet(TASK, repository)
    assert build_packet(TASK, repository).fingerprint == first.fingerprint
    write_file(repository, "src/shop/cache.py", "# expiring cache\n")
    assert build_packet(TASK, repository).fingerprint != first.fingerprint


# -- bad input -------------------------------------------------------------------------------------------------------


def test_an_empty_task_and_a_folder_that_is_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError):
        build_packet("  \n", tmp_path)
    with pytest.raises(UsageError) as refused:
        build_packet(TASK, tmp_path / "missing")
    assert refused.value.code is Code.REPOSITORY_UNREADABLE


def test_a_folder_without_git_still_gives_a_packet(tmp_path: Path, write_file: Write) -> None:
    write_file(tmp_path, "lib/expiring_cache.py", "def seconds() -> int:\n    return 1\n")
    write_file(tmp_path, "node_modules/cache/index.js", "expiring cache seconds\n")
    write_file(tmp_path, "build/cache.js", "expiring cache seconds\n")
    packet = build_packet(TASK, tmp_path)
    assert files_of(packet) == ["lib/expiring_cache.py"]
    assert left_out(packet)[LeftOut.NO_REPOSITORY] == 1
    assert left_out(packet)[LeftOut.EXCLUDED_PATH] == 2
    assert packet.head == ""


def test_a_folder_that_a_repository_around_it_ignores_is_read_as_a_folder(repository: Path, write_file: Write) -> None:
    write_file(repository, ".gitignore", "scratch/\n")
    write_file(repository, "scratch/expiring_cache.py", "def seconds() -> int:\n    return 1\n")
    packet = build_packet(TASK, repository / "scratch")
    assert files_of(packet) == ["expiring_cache.py"]
    assert left_out(packet)[LeftOut.NO_REPOSITORY] == 1


def test_no_folder_at_all_gives_a_packet_of_what_the_host_says() -> None:
    packet = build_packet(TASK, None, constraints=["MUST"])
    assert left_out(packet) == {LeftOut.NO_REPOSITORY: 1}
    assert not files_of(packet)


def test_an_empty_repository_gives_a_packet(tmp_path: Path, run_git: RunGit) -> None:
    run_git(tmp_path, "init", "-q")
    packet = build_packet(TASK, tmp_path)
    assert packet.head == ""
    assert LeftOut.NO_REPOSITORY not in left_out(packet)


def test_source_under_build_and_target_is_source_when_git_tracks_it(
    repository: Path, write_file: Write, run_git: RunGit
) -> None:
    write_file(repository, "src/build/graph.ts", "export function expiringCacheSeconds() { return 1 }\n")
    write_file(repository, "packages/target/index.js", "export const expiringCacheSeconds = 1\n")
    run_git(repository, "add", "-A")
    assert {"src/build/graph.ts", "packages/target/index.js"} <= set(files_of(build_packet(TASK, repository)))


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such names, links or pipes")
def test_odd_names_links_pipes_and_binaries_are_counted_and_never_read(
    repository: Path, write_file: Write, run_git: RunGit
) -> None:
    outside = repository.parent / "outside.py"
    outside.write_text("expiring cache seconds OUTSIDE\n")
    write_file(repository, "new\nline.py", "expiring cache seconds NEWLINE\n")
    (repository / "link.py").symlink_to(outside)
    (repository / "inner.py").symlink_to("src/shop/cache.py")
    (repository / "blob.dat").write_bytes(b"expiring cache\0seconds BINARY")
    run_git(repository, "add", "-A")
    os.mkfifo(repository / "src" / "pipe.py")
    with (repository / "huge.bin2").open("wb") as file:
        file.truncate(1_000_000_000)
    packet = build_packet(TASK, repository)
    counts = left_out(packet)
    assert counts[LeftOut.ODD_NAME] == 2  # in the listing and in the diff
    assert counts[LeftOut.OUTSIDE_TREE] == 1
    assert counts[LeftOut.NOT_A_FILE] >= 1
    assert counts[LeftOut.BINARY] == 1
    assert counts[LeftOut.TOO_LARGE] == 1
    for word in ("OUTSIDE", "NEWLINE", "BINARY"):
        assert word not in text_of(packet)


@pytest.mark.skipif(sys.platform == "win32", reason="needs a shell script")
def test_nothing_that_a_repository_configures_is_run(
    repository: Path, write_file: Write, run_git: RunGit, tmp_path: Path
) -> None:
    proof = tmp_path / "it-ran"
    script = write_file(tmp_path, "evil.sh", f"#!/bin/sh\ntouch '{proof}'\ncat\n")
    script.chmod(0o755)
    write_file(repository, ".gitattributes", "*.py filter=evil diff=evil\n")
    for key in (
        "core.fsmonitor",
        "core.pager",
        "diff.external",
        "diff.evil.textconv",
        "diff.evil.command",
        "filter.evil.clean",
    ):
        run_git(repository, "config", key, str(script))
    hooks = repository / ".git" / "hooks"
    for name in ("post-index-change", "post-checkout", "pre-commit"):
        write_file(hooks, name, script.read_text()).chmod(0o755)
    proof.unlink(missing_ok=True)
    write_file(repository, "src/shop/cache.py", "# the expiring cache has other seconds\n")
    packet = build_packet(TASK, repository)
    assert "other seconds" in text_of(packet)
    assert not proof.exists()


def test_a_git_call_is_bounded_in_bytes_and_in_time(repository: Path) -> None:
    git = Git(repository, remaining=lambda: 10.0)
    assert git.available
    assert git.read("log", limit=10) is not None
    assert git.truncated
    assert Git(repository, remaining=lambda: 0.0).available is False


def test_a_repository_too_large_to_read_is_narrowed_by_gits_search(
    repository: Path, write_file: Write, run_git: RunGit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ues_core.reasoning.packet._corpus.CORPUS_FILES", 2)
    write_file(repository, "zz/last.py", "# an expiring value forgets its seconds\n")
    run_git(repository, "add", "-A")
    packet = build_packet("Make the expiring value forget its seconds", repository)
    assert "zz/last.py" in files_of(packet)
    assert left_out(packet)[LeftOut.OVER_BUDGET] >= 1


def test_a_build_without_time_left_still_gives_a_packet(repository: Path) -> None:
    packet = build_packet(TASK, repository, seconds=0.0)
    assert packet.section(SectionName.ORIGINAL_TASK).rows


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(
    task=st.text(min_size=1, max_size=300).filter(str.strip),
    evidence=st.lists(st.text(max_size=600), max_size=3),
    chars=st.integers(min_value=4_500, max_value=12_000),
)
def test_no_text_breaks_the_budget_or_the_frame(repository: Path, task: str, evidence: list[str], chars: int) -> None:
    rows = [EvidenceRow(evidence=EvidenceKind.TOOL_OUTPUT, text=text) for text in evidence]
    packet = build_packet(task, repository, evidence=rows, budget=PacketBudget(packet_chars=chars))
    rendered = render_prompt(packet.sections, nonce=NONCE)
    assert packet.chars == len(rendered.text) <= chars
    assert rendered.text.count(f"UES DATA {NONCE}>>>") == 1


@pytest.mark.parametrize(
    "diff",
    [
        "--- a/.env\n+++ b/.env\n@@ -1 +1 @@\n-A=1\n+A=HIDDEN\n",
        "--- .env\t2026-01-01\n+++ .env\t2026-01-02\n@@ -1 +1 @@\n+A=HIDDEN\n",
        "diff --git a/x.txt b/.env\nsimilarity index 90%\nrename from x.txt\nrename to .env\n@@ -1 +1 @@\n+A=HIDDEN\n",
        'diff --git "a/caf\\303/.env" "b/caf\\303/.env"\n--- "a/caf\\303/.env"\n+++ "b/caf\\303/.env"\n@@ -1 +1 @@\n+HIDDEN\n',
        "diff --git a/.env b/.env\nnew file mode 100644\n@@ -0,0 +1 @@\n+A=HIDDEN\n",
    ],
    ids=["plain", "dated", "renamed", "quoted", "bare-header"],
)
def test_a_secret_files_hunk_is_left_out_of_evidence_in_every_form_of_diff(diff: str) -> None:
    kept = "diff --git a/a.py b/a.py\n--- a/a.py\n+++ b/a.py\n@@ -1 +1 @@\n+SHOWN\n"
    for text in (diff, kept + diff, diff + kept):
        packet = build_packet(TASK, None, evidence=[EvidenceRow(evidence=EvidenceKind.DIFF, text=text)])
        assert "HIDDEN" not in text_of(packet)
        assert ("SHOWN" in text_of(packet)) is (text != diff)


@given(st.text(alphabet='diff-gt+@ab/.\\"\n\t ', max_size=300))
def test_no_text_breaks_the_splitting_of_diffs(text: str) -> None:
    for change in split_diff("diff --git a/x b/x\n" + text):
        assert change.paths
        assert change.text in "diff --git a/x b/x\n" + text


def test_an_input_without_end_is_cut_outside_of_what_may_be_a_secret(monkeypatch: pytest.MonkeyPatch) -> None:
    """Half a secret looks like none, and the end of a text is what clipping keeps."""
    monkeypatch.setattr("ues_core.reasoning.packet._build.INPUT_CHARS", 5_000)
    for shift in range(0, 60, 4):
        log = ("a line of a log\n" * 400)[: 5_000 - 50 + shift] + " ghp_" + "a1B2" * 9 + " the rest" * 50
        packet = build_packet(TASK, None, failing_log=log)
        assert "ghp_" not in text_of(packet), shift
