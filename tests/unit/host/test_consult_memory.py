"""What a host remembers of consultations, what it is told beside the task, and what only really asking costs."""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Any

import pytest

from ues_core.config import Settings, override_settings
from ues_core.contract import Code, ConsultOutcome, SectionName, UsageError
from ues_core.host import open_host
from ues_core.reasoning import Consultation

TASK = "Why does the greeting shout? double-mood: grounded"


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A small repository with one commit."""
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "greeting.py").write_text(
        'def greet(name: str) -> str:\n    """The greeting shouts."""\n    return name.upper()\n'
    )
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t.test"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Greet"]):
        subprocess.run([*git, *arguments], check=True)
    return folder


@pytest.fixture
def settings(host_settings: Settings) -> Settings:
    return override_settings(host_settings, {"isolation": "in-process", "provider": "double", "mode": "force"})


async def test_the_same_again_is_not_sent_costs_nothing_and_is_receipted(settings: Settings, repo: Path) -> None:
    small = override_settings(settings, {"budgets.consultations": 2})
    async with open_host(small) as host:
        first = await host.consult(TASK, repo=repo)
        again = [await host.consult(TASK, repo=repo) for _ in range(3)]
        assert {c.reused for c in again} == {first.id}
        assert all(c.outcome is ConsultOutcome.ANSWERED and not c.sent for c in again)
        assert [c.receipts[0].prompt_chars for c in again] == [0, 0, 0]
        fresh = await host.consult(TASK, repo=repo, reuse=False)
        assert (fresh.reused, fresh.sent) == ("", True)
        with pytest.raises(UsageError) as refused:
            await host.consult(TASK, repo=repo, reuse=False)
        assert refused.value.code is Code.BUDGET_EXHAUSTED
        assert host.consultations.get(again[0].id).exchanges[0].sent == ()
    async with open_host(small) as other:
        assert not (await other.consult(TASK, repo=repo)).reused, "nothing is remembered beyond the host"


async def test_an_easy_task_says_so_and_costs_no_budget(settings: Settings, repo: Path) -> None:
    async with open_host(override_settings(settings, {"budgets.consultations": 0})) as host:
        easy = await host.consult("Sort the list", repo=repo, mode="auto")
        assert (easy.outcome, easy.reason) == (ConsultOutcome.SKIPPED, "no signal speaks for a second opinion")
        with pytest.raises(UsageError) as refused:
            await host.consult("Sort the list", repo=repo, mode="auto", facts={"subsystems": 3})
        assert refused.value.code is Code.BUDGET_EXHAUSTED


async def test_earlier_consultations_of_other_hosts_are_told_to_the_next(settings: Settings, repo: Path) -> None:
    async with open_host(settings) as host:
        await host.consult("Why is the greeting loud? double-mood: badly", repo=repo)
    async with open_host(settings) as host:
        later: Consultation = await host.consult(TASK, repo=repo, attempts=["Lowered it; the test still failed."])
        assert later.packet is not None
        rows = [row.text for row in later.packet.section(SectionName.PREVIOUS_ATTEMPTS).rows if row.kind == "text"]
        assert rows[0] == "Lowered it; the test still failed."
        assert "advice rejected (answer-low-confidence)" in rows[1]
        assert "asked: Why is the greeting loud?" in rows[1]
        elsewhere = await host.consult(TASK, repo=repo.parent)
        assert elsewhere.packet is not None
        assert not elsewhere.packet.section(SectionName.PREVIOUS_ATTEMPTS).rows


async def test_evidence_rounds_are_the_operators_and_a_repository_can_only_lower_them(settings: Settings, repo: Path) -> None:
    task = "Why does the greeting shout? double-mood: wants-evidence"
    async with open_host(settings) as host:
        assert len((await host.consult(task, repo=repo)).exchanges) == 2
    (repo / "ues.toml").write_text("[budgets]\nevidence_rounds = 0\n")
    async with open_host(settings) as host:
        consultation = await host.consult(task, repo=repo)
        assert len(consultation.exchanges) == 1
        assert {str(d.denial) for d in consultation.evidence} == {"switched-off"}
    (repo / "ues.toml").write_text("[budgets]\nevidence_rounds = 4\n")
    async with open_host(settings) as host:
        assert len((await host.consult(task, repo=repo)).exchanges) == 2


HOOK = """
from ues_core.contract import ContextSection, hookimpl

@hookimpl
def ues_collect_context(query):
    return [ContextSection(title="test runner", text="2 of 9 tests fail", path="greeting.py")]
"""


async def test_a_listed_hook_packages_section_is_in_the_packet(
    settings: Settings, repo: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    site = tmp_path / "hook-site"
    info = site / "acme_context-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "acme_context.py").write_text(HOOK)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: acme-context\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[ues.hooks]\nacme = acme_context\n")
    monkeypatch.syspath_prepend(str(site))
    listed: dict[str, Any] = {"hooks": ["acme-context"]}
    async with open_host(override_settings(settings, listed)) as host:
        consultation = await host.consult(TASK, repo=repo)
        assert consultation.packet is not None
        assert [(n.distribution, n.sections) for n in consultation.packet.context] == [("acme-context", 1)]
        assert consultation.request is not None
        assert "### host-context (test runner: greeting.py by acme-context)\n2 of 9 tests fail" in consultation.request.prompt
    async with open_host(settings) as host:
        plain = await host.consult(TASK, repo=repo)
        assert plain.packet is not None
        assert not plain.packet.context
