"""What a host remembers between packets: never anything that changed, whatever else stayed the same."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from ues_core.contract import ContextAnswer, ContextState, EvidenceKind, EvidenceRow, LeftOut, Packet, PacketBudget, SectionName
from ues_core.reasoning import build_packet, render_prompt
from ues_core.reasoning.packet import PacketCache, read_source

TASK = "Make the expiring cache forget a value once its seconds are over"
RunGit = Callable[..., str]
Write = Callable[[Path, str, str], Path]


def text_of(packet: Packet) -> str:
    return render_prompt(packet.sections, nonce="0" * 24).text


@pytest.fixture
def cache(repository: Path) -> PacketCache:
    """A cache that has seen the repository twice: the second time everything is remembered."""
    cache = PacketCache()
    for _ in range(2):
        build_packet(TASK, repository, cache=cache)
    return cache


def test_the_same_again_is_the_same_packet_and_reads_no_file(
    repository: Path, cache: PacketCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    read: list[str] = []

    def watched(root: Path, path: str) -> tuple[bytes, LeftOut | None]:
        read.append(path)
        return read_source(root, path)

    monkeypatch.setattr("ues_core.reasoning.packet._corpus.read_source", watched)
    first = build_packet(TASK, repository, cache=cache)
    assert build_packet(TASK, repository, cache=cache) is first
    other = build_packet("Where does the invoice get its total?", repository, cache=cache)
    assert not read
    for packet, task in ((first, TASK), (other, "Where does the invoice get its total?")):
        plain = build_packet(task, repository)
        assert (packet.fingerprint, packet.content, packet.left_out) == (plain.fingerprint, plain.content, plain.left_out)


def test_every_kind_of_change_is_seen(repository: Path, cache: PacketCache, run_git: RunGit, write_file: Write) -> None:
    place = repository / "src/shop/cache.py"

    def edited() -> None:
        facts = place.stat()
        place.write_text(place.read_text().replace("Keeps values", "KEEPS VALUES"))
        os.utime(place, ns=(facts.st_atime_ns, facts.st_mtime_ns))  # as large and as old as before

    changes: list[tuple[Callable[[], object], str]] = [
        (edited, "KEEPS VALUES"),
        (lambda: run_git(repository, "commit", "-q", "-am", "Shout"), "Shout"),
        (lambda: write_file(repository, "src/shop/expiring.py", "# cache seconds NEW\n"), "NEW"),
        (lambda: write_file(repository, "src/shop/expiring.py", "# cache seconds TWO\n"), "TWO"),
        (lambda: run_git(repository, "add", "-A"), "TWO"),
        (lambda: run_git(repository, "checkout", "-q", "-b", "side"), "at side"),
        (lambda: run_git(repository, "mv", "src/shop/clock.py", "src/shop/cache_clock.py"), "src/shop/cache_clock.py"),
        (lambda: place.unlink(), "-class ExpiringCache:"),
    ]
    for change, word in changes:
        change()
        packet = build_packet(TASK, repository, cache=cache)
        assert word in text_of(packet), word
        assert packet.content == build_packet(TASK, repository).content


def test_what_git_is_told_to_take_on_trust_or_to_convert_is_read_again(
    repository: Path, cache: PacketCache, run_git: RunGit, write_file: Write
) -> None:
    run_git(repository, "update-index", "--assume-unchanged", "src/shop/cache.py")
    write_file(repository, "src/shop/cache.py", "# the expiring cache, UNSEEN\n")
    assert "UNSEEN" in text_of(build_packet(TASK, repository, cache=cache))
    write_file(repository, ".git/info/attributes", "*.py text eol=crlf\n")
    (repository / "src/shop/clock.py").write_bytes(b"# cache seconds CONVERTED\r\n")
    assert "CONVERTED" in text_of(build_packet(TASK, repository, cache=cache))


def test_bounds_evidence_attempts_and_pins_are_part_of_the_question(repository: Path, cache: PacketCache) -> None:
    first = build_packet(TASK, repository, cache=cache)
    row = EvidenceRow(evidence=EvidenceKind.TOOL_OUTPUT, source="x", text="seen")
    others = [
        build_packet(TASK, repository, cache=cache, budget=PacketBudget(files=1)),
        build_packet(TASK, repository, cache=cache, evidence=[row]),
        build_packet(TASK, repository, cache=cache, granted=[row.model_copy(update={"source": "y"})]),
        build_packet(TASK, repository, cache=cache, attempts=["tried"]),
        build_packet(TASK, repository, cache=cache, history=["asked before"]),
        build_packet(TASK, repository, cache=cache, files=["README.md"]),
        build_packet(TASK, repository, cache=cache, constraints=["MUST"]),
    ]
    assert len({packet.fingerprint for packet in (first, *others)}) == len(others) + 1


def test_what_the_ledger_tells_changes_the_packet_but_not_what_it_was_made_from(repository: Path) -> None:
    one, two = build_packet(TASK, repository), build_packet(TASK, repository, history=["asked before"])
    assert one.content == two.content
    assert "asked before" in text_of(two)


def test_a_packet_with_a_hooks_answer_is_made_anew(repository: Path, cache: PacketCache) -> None:
    calls: list[int] = []

    def collect(query: object) -> list[ContextAnswer]:
        calls.append(1)
        return [ContextAnswer(distribution="acme", state=ContextState.NOTHING)]

    for _ in range(2):
        build_packet(TASK, repository, cache=cache, collect=collect)
    assert len(calls) == 2


def test_two_builds_at_once_share_nothing_and_a_failed_one_leaves_nothing(repository: Path) -> None:
    cache = PacketCache()
    with cache.lend(repository) as mine, cache.lend(repository) as other:
        assert mine is not other
    with cache.lend(repository) as again:
        assert again is mine
    with pytest.raises(ValueError, match="broken"), cache.lend(repository):
        raise ValueError("broken")
    with cache.lend(repository) as fresh:
        assert fresh is not mine
    packets: list[Packet] = []
    threads = [threading.Thread(target=lambda: packets.append(build_packet(TASK, repository, cache=cache))) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len({packet.fingerprint for packet in packets}) == 1
    assert packets[0].section(SectionName.RELEVANT_FILES).rows
