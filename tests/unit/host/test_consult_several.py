"""Several consultants at once, and conversations that outlive their host."""

from __future__ import annotations

import json
import os
import shutil
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ues_core.cli import run
from ues_core.config import Settings
from ues_core.contract import Code, ConsultOutcome, PluginError, UesError, UsageError
from ues_core.host import open_host
from ues_core.reasoning.panel import Panel, Standing

TASK = "Why does greet() in greeting.py shout? The root cause is unclear; several fixes are plausible."
PLUGIN = """
from ues_core.contract import hookimpl
from ues_provider_double import DoubleProvider

class Other(DoubleProvider):
    @property
    def info(self):
        capabilities = super().info.capabilities.model_copy(update={"resume": "NAME" != "forgetful"})
        return super().info.model_copy(update={"name": "NAME", "capabilities": capabilities})

@hookimpl
def ues_provider():
    return Other(mood="MOOD")
"""


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    (folder / "greeting.py").write_text('def greet(name: str) -> str:\n    return f"HELLO {name}".upper()\n')
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "init.defaultBranch=main"]
    for arguments in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", "Greet"]):
        subprocess.run([*git, *arguments], check=True)
    return folder


@pytest.fixture
def others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """More installed providers: right, right and unable to resume, raising, not importable."""
    site = tmp_path / "other-providers"
    for name, mood in (("right", "grounded"), ("forgetful", "grounded"), ("raising", "raises"), ("unimportable", "")):
        info = site / f"ues_{name}-1.0.dist-info"
        info.mkdir(parents=True)
        text = PLUGIN.replace("NAME", name).replace("MOOD", mood) if mood else "raise RuntimeError('no')"
        (site / f"ues_{name}_plugin.py").write_text(text)
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: ues-{name}\nVersion: 1.0\n")
        (info / "entry_points.txt").write_text(f"[ues.providers]\n{name} = ues_{name}_plugin\n")
    monkeypatch.syspath_prepend(str(site))
    return site


def start_over(repo: Path) -> None:
    """Another history in the same folder."""
    shutil.rmtree(repo / ".git")
    subprocess.run(["git", "-C", str(repo), "init", "-q"], check=True)


# -- several ---------------------------------------------------------------------------------------------------------


async def test_a_configured_provider_that_cannot_be_loaded_is_named_as_the_reason(
    host_settings: Settings, others: Path, repo: Path
) -> None:
    """In mode auto the work goes on, but nobody is told that no provider was chosen."""
    async with open_host(host_settings.model_copy(update={"provider": "unimportable"})) as host:
        alone = await host.consult(TASK, repo=repo, mode="auto")
    assert (alone.outcome, alone.code) == (ConsultOutcome.FALLBACK_LOCAL, Code.PLUGIN_FAILED)
    assert "ues-unimportable 1.0" in alone.reason
    assert alone.provider == ""


async def test_each_is_asked_for_itself_and_one_that_fails_fails_alone(
    host_settings: Settings, repo: Path, others: Path
) -> None:
    async with open_host(host_settings) as host:
        panel = await host.consult(TASK, repo=repo, providers=["double", "right", "raising", "unimportable"], mode="force")
        assert isinstance(panel, Panel)
        assert {p.provider: p.outcome for p in panel.parts} == {
            "double": ConsultOutcome.REJECTED,
            "right": ConsultOutcome.ANSWERED,
            "raising": ConsultOutcome.UNAVAILABLE,
        }
        assert set(panel.failed) == {"raising", "unimportable"}
        assert len({p.session_handle for p in panel.parts if p.session_handle} | {p.id for p in panel.parts}) >= 4
        assert all(len(p.receipts) == 1 for p in panel.parts)
        assert panel.outcome is ConsultOutcome.ANSWERED
        assert panel.advice is None


async def test_claims_are_shown_side_by_side_with_each_ones_binding(host_settings: Settings, repo: Path, others: Path) -> None:
    async with open_host(host_settings) as host:
        panel = await host.consult(TASK, repo=repo, providers=["double", "right"], mode="force")
        standings = {claim.path: claim.standing for claim in panel.claims}
        assert standings["greeting.py"] is Standing.AGREED
        assert standings["src/does_not_exist/imaginary_module.py"] is Standing.SINGLE
        agreed = next(c for c in panel.claims if c.path == "greeting.py")
        assert {v.provider for v in agreed.voices} == {"double", "right"}
        assert all(v.binding is not None and v.binding.digest for v in agreed.voices)


@pytest.mark.parametrize("names", [[], ["double", "double"], "double", ["double"] * 9])
async def test_a_panel_that_makes_no_sense_is_refused(host_settings: Settings, repo: Path, names: list[str]) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(UsageError):
            await host.consult(TASK, repo=repo, providers=names, mode="force")


async def test_an_unknown_name_is_refused_before_anybody_is_asked(host_settings: Settings, repo: Path) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(PluginError):
            await host.consult(TASK, repo=repo, providers=["double", "duoble"], mode="force")
        assert host.consultations.all() == ()


async def test_every_member_counts_against_the_budget(host_settings: Settings, repo: Path, others: Path) -> None:
    async with open_host(host_settings, budgets={"consultations": 1}) as host:
        with pytest.raises(UsageError) as refused:
            await host.consult(TASK, repo=repo, providers=["double", "right"], mode="force")
        assert refused.value.code is Code.BUDGET_EXHAUSTED


async def test_when_nobody_can_be_asked_it_fails(host_settings: Settings, repo: Path, others: Path) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(UesError):
            await host.consult(TASK, repo=repo, providers=["raising", "unimportable"], mode="force")


async def test_everybody_who_was_held_is_followed_up_in_its_own_conversation(
    host_settings: Settings, repo: Path, others: Path
) -> None:
    async with open_host(host_settings) as host:
        panel = await host.consult(TASK, repo=repo, providers=["double", "right", "raising"], mode="auto")
        assert panel.failed == {}, "in mode auto a consultation that was not held says so itself"
        again = await panel.follow_up("Is it the call of upper()?")
        assert again is panel
        assert [len(part.receipts) for part in panel.parts] == [2, 2, 1]
        assert len({part.request.nonce for part in panel.parts if part.request}) == 3


async def test_another_owner_cannot_go_on_with_a_conversation(host_settings: Settings, repo: Path) -> None:
    async with open_host(host_settings) as host:
        mine = await host.consult(TASK, repo=repo, provider="double", mode="force", owner="ann")
        with pytest.raises(UsageError) as refused:
            await host.follow_up(mine.id, "And now?", repo=repo, owner="bob")
        assert refused.value.code is Code.CONSULTATION_UNKNOWN
        assert (await host.follow_up(mine.id, "And now?", repo=repo, owner="ann")) is mine


def test_a_panel_is_shown_to_a_person_and_kept(
    repo: Path, others: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UES_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    (tmp_path / "ues.toml").write_text('isolation = "in-process"\n')
    monkeypatch.setenv("UES_CONFIG", str(tmp_path / "ues.toml"))
    monkeypatch.setenv("COLUMNS", "200")
    asked = ["consult", TASK, "--repo", str(repo), "--mode", "force"]
    for name in ("double", "right", "unimportable"):
        asked += ["--provider", name]
    assert run(asked) == 0
    out = capsys.readouterr().out
    assert "agreed" in out
    assert "unimportable could not be asked" in out
    assert "Nothing here was voted on." in out
    panel = next(line.split()[1] for line in out.splitlines() if line.startswith("Panel "))
    assert run(["consultations", "show", panel, "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert {part["provider"] for part in report["parts"]} == {"double", "right"}
    assert set(report["failed"]) == {"unimportable"}
    assert {claim["standing"] for claim in report["claims"]} == {"agreed", "single"}
    assert run(["consultations", "show", panel]) == 0
    assert "side by side" in capsys.readouterr().out


# -- what is kept ----------------------------------------------------------------------------------------------------


async def first(settings: Settings, repo: Path, task: str = TASK, **more: Any) -> str:
    async with open_host(settings) as host:
        consultation = await host.consult(task, repo=repo, provider="double", mode="force", **more)
        return consultation.id


async def test_a_consultation_is_kept_without_its_secrets_and_readable_by_nobody_else(
    host_settings: Settings, repo: Path
) -> None:
    secret = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"
    name = await first(host_settings, repo, TASK, evidence=[f"the token is {secret}"])
    (path,) = (host_settings.state_dir / "consultations").glob("con-*.json")
    assert path.stem == name
    assert secret not in path.read_text()
    if os.name == "posix":
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
    async with open_host(host_settings) as host:
        (kept,) = host.consultations.all()
        assert (kept.consultation, kept.outcome) == (name, ConsultOutcome.REJECTED)
        assert kept.exchanges[0].advice is not None
        assert kept.exchanges[0].advice.bindings
        assert {s.name for s in kept.exchanges[0].sent}
        assert kept.packet is not None
        assert not any(section.rows for section in kept.packet.sections)


async def test_a_conversation_goes_on_in_another_host_and_only_what_changed_is_sent(
    host_settings: Settings, repo: Path
) -> None:
    name = await first(host_settings, repo)
    async with open_host(host_settings) as host:
        again = await host.follow_up(name, "Is it the call of upper()? double-mood: grounded", repo=repo)
        assert again.id == name
        assert again.outcome is ConsultOutcome.ANSWERED
        assert again.delta is not None
        assert "unresolved-questions" in again.delta.sent
        assert "original-task" not in again.delta.sent
        kept = host.consultations.get(name)
        assert [e.receipt.exchange for e in kept.exchanges] == [1, 2]
        assert "upper()" in kept.exchanges[1].question
    async with open_host(host_settings) as host:
        with pytest.raises(UsageError) as refused:
            await host.follow_up(name, "And now?", repo=repo)
        assert refused.value.code is Code.FRESH_EVIDENCE_REQUIRED


async def test_what_cannot_be_taken_up_is_refused_with_its_code(host_settings: Settings, repo: Path, tmp_path: Path) -> None:
    name = await first(host_settings, repo)
    file = host_settings.state_dir / "consultations" / f"{name}.json"
    good = json.loads(file.read_text())
    other = tmp_path / "elsewhere"
    shutil.copytree(repo, other)

    async def refused_with(code: Code, *, where: Path = repo, which: str = name, **change: object) -> None:
        file.write_text(json.dumps(good | change))
        async with open_host(host_settings) as host:
            with pytest.raises(UsageError) as refused:
                await host.follow_up(which, "And now?", repo=where)
            assert refused.value.code is code

    await refused_with(Code.CONSULTATION_UNKNOWN, which="con-0000000000000000")
    await refused_with(Code.CONSULTATION_UNKNOWN, which="../keys/private")
    await refused_with(Code.CONSULTATION_UNKNOWN, format=2)
    await refused_with(Code.CONSULTATION_UNKNOWN, owner="somebody-else")
    await refused_with(Code.OTHER_REPOSITORY, where=other)
    await refused_with(Code.PROVIDER_CHANGED, provider=good["provider"] | {"version": "0.0.1"})
    await refused_with(Code.CONSULTATION_EXPIRED, resume=good["resume"] | {"at": 1.0})
    await refused_with(Code.PROVIDER_CHANGED, resume=good["resume"] | {"profile": "work"})
    await refused_with(Code.RESUME_REFUSED, resume=None)
    await refused_with(Code.RESUME_REFUSED, resume=good["resume"] | {"handle": "double~forged~0"})
    await refused_with(Code.RESUME_REFUSED, resume=good["resume"] | {"generation": 99})


async def test_a_repository_whose_history_was_replaced_is_another_one(host_settings: Settings, repo: Path) -> None:
    name = await first(host_settings, repo)
    start_over(repo)
    async with open_host(host_settings) as host:
        with pytest.raises(UsageError) as refused:
            await host.follow_up(name, "And now?", repo=repo)
        assert refused.value.code is Code.OTHER_REPOSITORY


async def test_a_provider_that_does_not_resume_leaves_nothing_to_take_up(
    host_settings: Settings, repo: Path, others: Path
) -> None:
    async with open_host(host_settings) as host:
        name = (await host.consult(TASK, repo=repo, provider="forgetful", mode="force")).id
    async with open_host(host_settings) as host:
        with pytest.raises(UsageError) as refused:
            await host.follow_up(name, "And now?", repo=repo)
        assert refused.value.code is Code.RESUME_REFUSED
