"""Sections of the host's own: validated, redacted, bounded; a hook package can only add, and fails alone."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pluggy
import pytest

from ues_core.contract import (
    PROJECT,
    ContextQuery,
    ContextSection,
    ContextState,
    EvidenceKind,
    EvidenceRow,
    LeftOut,
    Packet,
    SectionName,
    hookimpl,
)
from ues_core.hooks import ContextSpecs
from ues_core.plugins import ContextDesk, HookPackages, Observer
from ues_core.reasoning import build_packet, check_outbound, render_prompt
from ues_core.reasoning.packet._context import CONTEXT_CHARS, SECTION_CHARS, SECTIONS

S = ContextState
QUERY = ContextQuery(task="t", root="", seconds=0.4)


class Answering:
    """A hook package that answers with whatever it is given."""

    def __init__(self, answer: Any) -> None:
        self.answer = answer
        self.queries: list[ContextQuery] = []

    @hookimpl
    def ues_collect_context(self, query: ContextQuery) -> Any:
        self.queries.append(query)
        return self.answer() if callable(self.answer) else self.answer


def package(plugin: Any, name: str = "acme") -> Observer:
    manager = pluggy.PluginManager(PROJECT)
    manager.add_hookspecs(ContextSpecs)
    manager.register(plugin)
    return Observer(name, manager)


def section(text: str = "12 errors in cache.py", **more: Any) -> ContextSection:
    return ContextSection(title=more.pop("title", "diagnostics"), text=text, **more)


def rows_of(packet: Packet) -> list[EvidenceRow]:
    rows = packet.section(SectionName.FAILING_EVIDENCE).rows
    return [row for row in rows if isinstance(row, EvidenceRow) and row.evidence is EvidenceKind.HOST_CONTEXT]


def test_a_listed_package_adds_a_section_of_its_own(hooks: Callable[..., HookPackages], tmp_path: Path) -> None:
    text = (
        "from ues_core.contract import ContextSection\n"
        "@hookimpl\ndef ues_collect_context(query):\n"
        "    yield ContextSection(title='language server', text=f'{query.task}: {len(query.files)} files', path='a.py')\n"
    )
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "a.py").write_text("cache = 1\n")
    desk = ContextDesk(hooks({"acme-lsp": text}).observers)
    packet = build_packet("the cache", tmp_path / "repo", collect=desk.collect)
    (row,) = rows_of(packet)
    assert (row.source, row.text) == ("language server: a.py by acme-lsp", "the cache: 1 files")
    assert "### host-context (language server: a.py by acme-lsp)" in render_prompt(packet.sections, nonce="0" * 24).text
    assert [(n.distribution, n.state, n.sections) for n in packet.context] == [("acme-lsp", S.ADDED, 1)]


def test_what_it_brings_is_redacted_bounded_and_judged_like_everything_else() -> None:
    key = "-----BEGIN RSA PRIVATE KEY-----\nMIIabcdefghijkl\n-----END RSA PRIVATE KEY-----"
    sections = [
        section(f"{key}\n" + "line\n" * 5_000),
        section("A=1", path="config/.env"),
        section("x", path="node_modules/x.js"),
        *[section(f"{n} " + "word " * 1_500, title=f"t{n}") for n in range(SECTIONS + 3)],
    ]
    packet = build_packet("the cache", None, collect=ContextDesk([package(Answering(sections))]).collect)
    rows = rows_of(packet)
    assert "MII" not in render_prompt(packet.sections, nonce="0" * 24).text
    check_outbound(render_prompt(packet.sections, nonce="0" * 24))
    assert len(rows) <= SECTIONS
    assert all(len(row.text) <= SECTION_CHARS for row in rows)
    assert sum(len(row.text) for row in rows) <= CONTEXT_CHARS
    counts = {count.reason: count.count for count in packet.left_out}
    assert counts[LeftOut.SECRET_PATH] == 1
    assert counts[LeftOut.EXCLUDED_PATH] == 1
    assert counts[LeftOut.OVER_BUDGET] >= 6


def test_it_takes_nothing_away_from_a_packet_that_is_full(tmp_path: Path) -> None:
    for n in range(40):
        (tmp_path / f"cache{n}.py").write_text(f"def cache_{n}():\n" + "    return 'cache cache cache'\n" * 60)
    log = "E   assert 1 == 2\n" * 400
    plain = build_packet("the cache", tmp_path, failing_log=log)
    more = build_packet("the cache", tmp_path, failing_log=log, collect=ContextDesk([package(Answering([section()]))]).collect)
    for name in SectionName:
        missing = set(plain.section(name).rows) - set(more.section(name).rows)
        assert not missing, name
    assert len(rows_of(more)) == 1


def raising() -> list[ContextSection]:
    raise RuntimeError("the language server is gone")


def endless() -> Iterator[ContextSection]:
    while True:
        yield section()


def exiting() -> list[ContextSection]:
    raise SystemExit(3)


@pytest.mark.parametrize(
    ("answer", "state", "cause"),
    [
        (raising, S.FAILED, "RuntimeError: the language server is gone"),
        (exiting, S.FAILED, "SystemExit"),
        ([{"title": "", "text": "x"}], S.INVALID, "title"),
        ([{"title": "x\ny", "text": "x"}], S.INVALID, "title"),
        ([{"title": "x", "text": "y", "grant": True}], S.INVALID, "grant"),
        ([section().model_copy(update={"text": 5})], S.INVALID, "text"),
        ([7], S.INVALID, "section"),
        (7, S.FAILED, "TypeError"),
        (None, S.NOTHING, ""),
        ([], S.NOTHING, ""),
    ],
)
def test_one_that_fails_is_recorded_and_not_asked_again(answer: Any, state: ContextState, cause: str) -> None:
    bad, good = Answering(answer), Answering([section()])
    desk = ContextDesk([package(bad, "bad"), package(good, "good")])
    first, other = desk.collect(QUERY)
    assert (first.state, other.state) == (state, S.ADDED)
    assert cause in first.cause
    again, _ = desk.collect(QUERY)
    failed = state is not S.NOTHING
    assert again.state is (S.SWITCHED_OFF if failed else S.NOTHING)
    assert len(bad.queries) == (1 if failed else 2)


def test_one_that_is_late_or_endless_ends_with_the_bound() -> None:
    release = threading.Event()
    late = Answering(lambda: release.wait(20) and [section("too late")])
    desk = ContextDesk([package(late, "late"), package(Answering(endless), "endless"), package(Answering([section()]), "good")])
    answers = {answer.distribution: answer for answer in desk.collect(QUERY)}
    release.set()
    assert answers["late"].state is S.LATE
    assert not answers["late"].sections
    assert answers["endless"].state is S.ADDED
    assert len(answers["endless"].sections) <= 64
    assert answers["good"].state is S.ADDED


def test_a_package_without_the_hook_is_not_asked() -> None:
    class Nothing:
        @hookimpl
        def ues_receipt_written(self, receipt: Any) -> None: ...

    assert not ContextDesk([package(Nothing())])
