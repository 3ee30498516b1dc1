"""``host.consult``: the mode decides, a repository may only narrow, outcomes are receipted, advice never becomes a grant."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from ues_core.config import Settings, override_settings
from ues_core.contract import BindingStatus, Code, ConsultOutcome, PluginError, UesError, UsageError
from ues_core.host import open_host
from ues_core.seal.keys import load_public_key
from ues_core.seal.verify import verify_chain

TASK = "Why does greet() in greeting.py shout? The root cause is unclear; several fixes are plausible."


@pytest.fixture
def repo(tmp_path: Path) -> Path:
    """A small repository with one commit."""
    folder = tmp_path / "repo"
    folder.mkdir()
    source = 'def greet(name: str) -> str:\n    """Greet somebody."""\n    return f"HELLO {name}".upper()\n'
    (folder / "greeting.py").write_text(source)
    git = ["git", "-C", str(folder), "-c", "user.name=t", "-c", "user.email=t@t.test", "-c", "init.defaultBranch=main"]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "-q", "-m", "Greet"], check=True)
    return folder


async def test_the_double_answers_and_its_claims_are_bound_to_the_repository(host_settings: Settings, repo: Path) -> None:
    async with open_host(host_settings) as host:
        consultation = await host.consult(TASK, repo=repo, provider="double", mode="force")
        advice = consultation.advice
        assert advice is not None
        assert advice.count(BindingStatus.PRESENT) >= 1
        assert advice.count(BindingStatus.ABSENT) == 1
        assert advice.can_produce_pass is False
        assert str(advice.authority) == "consultant-only"
    key = load_public_key(host_settings.state_dir)
    assert verify_chain(host.ledger.path, {key.key_id: key}).ok


async def test_off_asks_nobody_and_loads_nothing(host_settings: Settings, repo: Path) -> None:
    async with open_host(host_settings) as host:
        consultation = await host.consult(TASK, repo=repo, provider="double", mode="off")
        assert consultation.outcome is ConsultOutcome.SKIPPED
        assert consultation.packet is None


async def test_there_is_no_default_provider(host_settings: Settings, repo: Path) -> None:
    async with open_host(host_settings) as host:
        assert (await host.consult(TASK, repo=repo)).outcome is ConsultOutcome.FALLBACK_LOCAL
        with pytest.raises(UesError) as refused:
            await host.consult(TASK, repo=repo, mode="force")
        assert refused.value.code is Code.WEB_REASONING_UNAVAILABLE


async def test_an_unknown_provider_and_a_wrong_mode_are_named(host_settings: Settings, repo: Path) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(PluginError, match="double"):
            await host.consult(TASK, repo=repo, provider="duoble")
        with pytest.raises(UsageError, match="off, auto, force"):
            await host.consult(TASK, repo=repo, mode="sometimes")


async def test_a_repository_can_switch_consulting_off_and_never_on(host_settings: Settings, repo: Path) -> None:
    (repo / "ues.toml").write_text('mode = "off"\n')
    async with open_host(host_settings) as host:
        assert (await host.consult(TASK, repo=repo, provider="double")).outcome is ConsultOutcome.SKIPPED
    (repo / "ues.toml").write_text('mode = "force"\nprovider = "double"\n')
    async with open_host(override_settings(host_settings, {"mode": "off"})) as host:
        assert (await host.consult(TASK, repo=repo)).outcome is ConsultOutcome.SKIPPED


async def test_a_host_has_a_budget_of_consultations(host_settings: Settings, repo: Path) -> None:
    async with open_host(host_settings, budgets={"consultations": 1}) as host:
        await host.consult(TASK, repo=repo, provider="double", mode="force")
        with pytest.raises(UsageError) as refused:
            await host.consult(TASK, repo=repo, provider="double", mode="force")
        assert refused.value.code is Code.BUDGET_EXHAUSTED


@pytest.mark.parametrize("evidence", [42, {"evidence": "nonsense", "text": "x"}, "\ud800"])
async def test_evidence_that_is_none_is_refused(host_settings: Settings, repo: Path, evidence: object) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(UsageError):
            await host.consult(TASK, repo=repo, provider="double", mode="force", evidence=[evidence])


@pytest.mark.skipif(sys.platform != "linux", reason="a sealed process is the default on Linux only")
async def test_by_default_a_provider_runs_in_a_sealed_process_that_ends_with_the_host(
    host_settings: Settings, repo: Path
) -> None:
    settings = override_settings(host_settings, {"isolation": "auto"})
    mine = psutil.Process()
    before = {child.pid for child in mine.children()}
    loaded = "ues_provider_double" in sys.modules
    async with open_host(settings) as host:
        consultation = await host.consult(TASK, repo=repo, provider="double", mode="force")
        assert consultation.advice is not None
        (sealed,) = [child for child in mine.children() if child.pid not in before]
        assert sealed.environ() == {}
    assert not sealed.is_running()
    assert ("ues_provider_double" in sys.modules) is loaded


async def test_values_of_the_host_s_own_secrets_reach_nobody(host_settings: Settings, repo: Path) -> None:
    value = "correct horse, battery"
    (repo / "greeting.py").write_text(f'GREETING = "{value}"\n\n\ndef greet(name: str) -> str:\n    return GREETING\n')
    async with open_host(host_settings, environ={"DEPLOY_TOKEN": value, "HOME": str(repo)}) as host:
        consultation = await host.consult(
            f"{TASK} {value}", repo=repo, provider="double", mode="force", evidence=[f"it said {value} twice"]
        )
        assert consultation.request is not None
        assert "GREETING" in consultation.request.prompt
        assert value not in consultation.request.prompt
    assert value not in host.ledger.path.read_text()
