"""A provider's destination needs the operator's agreement: kept per distribution, asked again on a change, never a repository's."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.cli import run
from ues_core.config import Isolation, Settings, load_settings
from ues_core.contract import ChannelKind, Code, ConfigError, ConsultOutcome, PluginError, PolicyRefusal, ProviderInfo
from ues_core.contract.site import Locator, WebChatSite
from ues_core.contract.words import TrustState
from ues_core.host import open_host
from ues_core.host.providing import destination
from ues_core.host.trust import OURS, Agreement, TrustBook, judge_trust

TASK = "Why does greet() shout? The root cause is unclear; several fixes are plausible."
NOW = "2026-01-01T00:00:00Z"

PROVIDER = """
import os
from ues_core.contract import (
    Authority, CapabilityReport, CapabilityState, ChannelKind, ProviderInfo, ProviderSession, RawAnswer, hookimpl,
)
from ues_core.contract.site import Locator, WebChatSite

class Provider:
    __slots__ = ("_info", "log")
    authority = property(lambda self: Authority.CONSULTANT_ONLY)
    info = property(lambda self: self._info)
    def __init__(self, options):
        origins = tuple(options.get("origins", ["https://chat.example.org"]))
        site = WebChatSite(name="chatty", entry_urls=(f"{origins[0]}/",), origins=origins, composer=(Locator(role="textbox"),))
        self._info = ProviderInfo(name="chatty", channel=ChannelKind.WEB, site=site)
        self.log = options["log"]
    async def capability(self):
        open(self.log, "a").write("probed ")
        return CapabilityReport(state=CapabilityState.READY)
    async def start_session(self, channel, resume=None):
        open(self.log, "a").write("started ")
        return ProviderSession(handle="h")
    async def consult(self, session, request, deadline): ...
    async def follow_up(self, session, delta, deadline): ...
    async def close_session(self, session): ...

@hookimpl
def ues_provider(options):
    return Provider(options)
"""


def info(*origins: str, name: str = "chatty", entry: str = "") -> ProviderInfo:
    site = WebChatSite(
        name="chatty", entry_urls=(entry or f"{origins[0]}/chat",), origins=origins, composer=(Locator(role="textbox"),)
    )
    return ProviderInfo(name=name, channel=ChannelKind.WEB, site=site)


@pytest.fixture
def book(tmp_path: Path) -> TrustBook:
    """An empty one."""
    return TrustBook(tmp_path / "state")


def test_nobody_is_trusted_until_the_operator_agreed_and_a_change_asks_again(book: TrustBook, tmp_path: Path) -> None:
    first, more = info("https://a.test"), info("https://a.test", "https://b.test")
    with pytest.raises(PolicyRefusal) as refused:
        book.require(first, "Their_Provider")
    assert refused.value.code is Code.PROVIDER_UNTRUSTED
    assert "ues providers trust chatty" in refused.value.next_step
    book.agree(first, "Their_Provider", version="1.0", now=NOW)
    assert book.require(first, "their-provider").state is TrustState.TRUSTED
    for changed in (
        more,
        info("https://b.test"),
        info("http://a.test"),
        info("https://a.test:8443"),
        info("https://a.test.b.test"),
    ):
        verdict = book.judge(changed, "their-provider")
        assert (verdict.state, verdict.allowed) == (TrustState.CHANGED, False)
    assert book.judge(more, "their-provider").added == ("https://b.test",)
    # another distribution, or another provider of the same one, has nothing of it
    assert book.judge(first, "other-provider").state is TrustState.UNTRUSTED
    assert book.judge(info("https://a.test", name="second"), "their-provider").state is TrustState.UNTRUSTED
    book.revoke("chatty", "their-provider", version="1.0", now=NOW)
    assert book.judge(first, "their-provider").state is TrustState.REVOKED
    file = tmp_path / "state" / "trust" / "their-provider.json"
    assert sorted(p.name for p in file.parent.iterdir()) == [file.name]
    if sys.platform != "win32":
        assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)


def test_an_entry_page_elsewhere_is_an_origin_too_and_what_is_no_origin_is_refused(book: TrustBook) -> None:
    assert book.judge(info("https://a.test", entry="https://evil.test/x"), "d").origins == (
        "https://a.test",
        "https://evil.test",
    )
    for wrong in ("https://a.test/path", "ftp://a.test", "https://u:p@a.test", "a.test", ""):
        with pytest.raises(PluginError) as refused:
            book.judge(info(wrong or " ", entry="https://a.test/"), "d")
        assert refused.value.code is Code.PLUGIN_DATA_INVALID


def test_ours_come_trusted_for_the_origins_they_are_published_with(book: TrustBook) -> None:
    for distribution, origins in OURS.items():
        assert book.judge(info(*origins), distribution.replace("-", "_")).state is TrustState.OURS
        assert book.judge(info(*origins, "https://elsewhere.test"), distribution).state is TrustState.CHANGED
        assert book.judge(info(*origins), f"{distribution}-x").state is TrustState.UNTRUSTED
        book.revoke("chatty", distribution, version="1", now=NOW)
        assert book.judge(info(*origins), distribution).state is TrustState.REVOKED
    nowhere = ProviderInfo(name="quiet", channel=ChannelKind.NONE)
    assert book.require(nowhere, "anybody").state is TrustState.NOT_NEEDED
    book.revoke("quiet", "anybody", version="1", now=NOW)
    with pytest.raises(PolicyRefusal):
        book.require(nowhere, "anybody")


@pytest.mark.parametrize("damage", ["garbage", "another", "writable", "link", "folder"])
def test_a_file_that_cannot_be_relied_on_is_no_trust_and_is_never_repaired(
    book: TrustBook, tmp_path: Path, damage: str
) -> None:
    asked = info("https://a.test")
    book.agree(asked, "d", version="1", now=NOW)
    file = tmp_path / "state" / "trust" / "d.json"
    if damage == "garbage":
        file.write_text("{")
    elif damage == "another":
        file.write_text(file.read_text().replace('"d"', '"e"'))
    elif damage == "writable":
        file.chmod(0o666)
    elif damage == "link":
        file.rename(tmp_path / "elsewhere.json")
        file.symlink_to(tmp_path / "elsewhere.json")
    else:
        file.unlink()
        file.mkdir()
    if sys.platform == "win32" and damage in ("writable", "link"):
        return
    for attempt in (lambda: book.require(asked, "d"), lambda: book.agree(asked, "d", version="1", now=NOW)):
        with pytest.raises(ConfigError) as refused:
            attempt()
        assert str(file) in refused.value.sentence


@given(
    st.sets(st.sampled_from(["https://a.test", "https://b.test", "http://a.test", "https://c.test:444"]), min_size=1),
    st.sets(st.sampled_from(["https://a.test", "https://b.test", "http://a.test", "https://c.test:444"])),
    st.booleans(),
)
def test_only_exactly_what_was_agreed_is_allowed(named: set[str], agreed: set[str], revoked: bool) -> None:
    said = Agreement(provider="chatty", origins=tuple(sorted(agreed)), revoked=revoked)
    verdict = judge_trust(info(*sorted(named)), "theirs", said)
    assert verdict.allowed is (named == agreed and not revoked)
    assert set(verdict.added) <= named - agreed


# -- in a host and on the shell --------------------------------------------------------------------------------------


@pytest.fixture
def chatty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An installed provider of channel ``web``; the file says whether it was asked anything."""
    site = tmp_path / "chatty-site"
    dist = site / "their_provider-2.0.dist-info"
    dist.mkdir(parents=True)
    (site / "their_provider.py").write_text(PROVIDER)
    (dist / "METADATA").write_text("Metadata-Version: 2.1\nName: their-provider\nVersion: 2.0\n")
    (dist / "entry_points.txt").write_text("[ues.providers]\nchatty = their_provider\n")
    monkeypatch.syspath_prepend(str(site))
    monkeypatch.delitem(sys.modules, "their_provider", raising=False)
    return tmp_path / "log"


def settings(state: Path, log: Path, origins: list[str] | None = None) -> Settings:
    options: dict[str, Any] = {"log": str(log), **({"origins": origins} if origins else {})}
    return Settings(state_dir=state, isolation=Isolation.IN_PROCESS, providers={"chatty": options})


async def outcome(held: Settings, repo: Path) -> tuple[ConsultOutcome | None, Code, str]:
    async with open_host(held) as host:
        done = await host.consult(TASK, repo=repo, provider="chatty", mode="auto")
        return done.outcome, done.code, done.reason


async def test_a_host_probes_and_sends_nothing_until_the_operator_agreed(chatty: Path, tmp_path: Path) -> None:
    repo, state = tmp_path / "repo", tmp_path / "state"
    repo.mkdir()
    # a repository cannot add to it, in any of the places where a host looks
    (repo / "ues.toml").write_text(f'provider = "chatty"\nstate_dir = "{repo / "state"}"\nisolation = "in-process"\n')
    forged = TrustBook(repo / "state")
    forged.agree(info("https://chat.example.org"), "their-provider", version="2.0", now=NOW)
    assert load_settings(repo=repo, environ={"XDG_STATE_HOME": str(tmp_path)}, arguments={}).state_dir == tmp_path / "ues"
    said = await outcome(settings(state, chatty), repo)
    assert said[:2] == (ConsultOutcome.FALLBACK_LOCAL, Code.PROVIDER_UNTRUSTED)
    assert "https://chat.example.org" in said[2]
    assert not os.path.exists(chatty), "it was not even probed"  # noqa: ASYNC240 - nothing else runs
    assert "agree with: ues providers trust chatty" in await destination(settings(state, chatty), "chatty")

    TrustBook(state).agree(info("https://chat.example.org"), "their-provider", version="2.0", now=NOW)
    # agreed: what stops it now is that this version has no engine for web pages
    assert (await outcome(settings(state, chatty), repo))[1] is Code.NOT_SUPPORTED
    changed = settings(state, chatty, ["https://chat.example.org", "https://evil.example.org"])
    said = await outcome(changed, repo)
    assert said[1] is Code.PROVIDER_UNTRUSTED
    assert "https://evil.example.org" in said[2]
    where = await destination(settings(state, chatty), "chatty")
    assert where.endswith("(trusted by you; it runs in this process, like any other dependency)")
    TrustBook(state).revoke("double", "ues-provider-double", version="1", now=NOW)
    taken_back = await destination(Settings(state_dir=state, isolation=Isolation.IN_PROCESS), "double")
    assert "you took it back; agree with: ues providers trust double" in taken_back


async def test_a_conversation_ends_where_trust_was_taken_back(tmp_path: Path) -> None:
    state = tmp_path / "state"
    async with open_host(Settings(state_dir=state, isolation=Isolation.IN_PROCESS)) as host:
        held = await host.consult(f"{TASK} double-mood: grounded", repo=tmp_path, provider="double", mode="force")
        TrustBook(state).revoke("double", "ues-provider-double", version="1", now=NOW)
        with pytest.raises(PolicyRefusal) as refused:
            await host.follow_up(held.id, "And then?", repo=tmp_path)
        assert refused.value.code is Code.PROVIDER_UNTRUSTED
        assert len(held.receipts) == 1


Ues = Callable[..., tuple[int, Any]]


@pytest.fixture
def ues(chatty: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Ues:
    """``ues(*arguments)`` runs the command line with ``--json``; exit code and what it printed."""
    config = tmp_path / "ues.toml"
    config.write_text(f'isolation = "in-process"\nstate_dir = "{tmp_path / "state"}"\n[providers.chatty]\nlog = "{chatty}"\n')
    for name in [name for name in os.environ if name.startswith("UES_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("UES_CONFIG", str(config))
    monkeypatch.chdir(tmp_path)

    def call(*arguments: str) -> tuple[int, Any]:
        code = run(["providers", *arguments, "--json"])
        return code, json.loads(capsys.readouterr().out)

    return call


def test_the_operator_agrees_and_takes_back_on_the_shell(ues: Ues, chatty: Path) -> None:
    def agreed() -> str | None:
        rows = {row["name"]: row for row in ues("list")[1]["providers"]}
        said: str | None = rows["chatty"]["agreed"]
        return said

    assert agreed() is None
    code, shown = ues("show", "chatty")
    assert (code, shown["state"], shown["allowed"]) == (0, "untrusted", False)
    assert shown["origins"] == ["https://chat.example.org"]
    assert "https://chat.example.org" in shown["destination"]
    assert ues("trust", "chatty", "--dry-run")[0] == 0
    assert agreed() is None, "a dry run changes nothing"
    code, said = ues("trust", "chatty")
    assert (code, said["state"], "--yes" in said["error"]["next_step"]) == (1, "untrusted", True)
    assert agreed() is None, "nobody was there to agree"
    assert ues("trust", "chatty", "--yes")[1]["state"] == "trusted"
    assert ues("show", "chatty")[1]["state"] == agreed() == "trusted"
    assert ues("untrust", "chatty")[0] == 0
    assert ues("show", "chatty")[1]["state"] == agreed() == "revoked"
    code, unknown = ues("trust", "chaty", "--yes")
    assert (code, unknown["error"]["details"]["nearest"]) == (1, "chatty")
    assert not chatty.exists(), "none of this asked it anything"


def test_the_shell_tells_a_person_the_same(ues: Ues, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["providers", "trust", "chatty"]) == 1
    told = capsys.readouterr()
    assert "https://chat.example.org" in told.out
    assert "not trusted yet" in told.out
    assert "--yes" in told.err
    assert run(["providers", "trust", "chatty", "--yes"]) == 0
    assert "may send prompts to https://chat.example.org" in capsys.readouterr().out
    assert run(["providers", "list"]) == 0
    assert "trusted" in capsys.readouterr().out
    assert run(["providers", "untrust", "chatty"]) == 0
    assert "nowhere" in capsys.readouterr().out


@pytest.mark.parametrize("says", [True, False])
def test_a_person_at_a_terminal_is_asked(
    ues: Ues, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], says: bool
) -> None:
    asked: list[str] = []
    monkeypatch.setattr("sys.stdin", type("Terminal", (), {"isatty": lambda self: True})())

    def answer(question: str, default: bool) -> bool:
        asked.append(question)
        return says or default

    monkeypatch.setattr("click.confirm", answer)
    assert run(["providers", "trust", "chatty"]) == (0 if says else 1)
    assert len(asked) == 1
    assert "https://chat.example.org" in capsys.readouterr().out
    rows = {row["name"]: row for row in ues("list")[1]["providers"]}
    assert rows["chatty"]["agreed"] == ("trusted" if says else None)
