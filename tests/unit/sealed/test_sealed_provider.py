"""An honest provider through the seal, and what the host's side does with calls, sessions and cancellations."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from ues_core.contract import (
    AnswerOutcome,
    Authority,
    CapabilityState,
    Code,
    ConsultRequest,
    NotSupported,
    PluginError,
    ProgressKind,
    ProviderError,
    ProviderSession,
    UsageError,
    WebReasoningProvider,
    check_authority,
)
from ues_core.contract.words import SealState
from ues_core.reasoning.sealed import SealLimits, open_sealed
from ues_core.reasoning.sealed._models import AREAS
from ues_core.reasoning.sealed._targets import Targets

linux = pytest.mark.skipif(
    sys.platform != "linux", reason="what another system enforces is measured and reported, not promised"
)

SITE = """
    def about():
        from ues_core.contract import Locator, WebChatSite
        box = (Locator(role="textbox"),)
        site = WebChatSite(name=NAME, entry_urls=("https://chat.test/",), origins=("https://chat.test",), composer=box)
        return ProviderInfo(name=NAME, channel=ChannelKind.WEB, site=site)
"""

Make = Callable[..., ConsultRequest]


async def test_an_honest_provider_is_consulted_and_its_module_is_never_imported_here(
    opened: Any, channel: Any, make_request: Make
) -> None:
    provider = await opened("honest")
    assert isinstance(provider, WebReasoningProvider)
    check_authority(provider)
    assert provider.info.name == "honest"
    assert provider.authority is Authority.CONSULTANT_ONLY
    assert (await provider.capability()).state is CapabilityState.READY
    session = await provider.start_session(channel)
    first = await provider.consult(session, make_request(1), 10)
    second = await provider.follow_up(session, make_request(2), 10)
    assert (first.outcome, first.text) == (AnswerOutcome.ANSWERED, "an answer to request-0001")
    assert second.text == "an answer to request-0002"
    await provider.close_session(session)
    await provider.close_session(session)
    assert "sealed_honest" not in sys.modules


@linux
async def test_everything_is_enforced_on_this_kernel_and_strict_accepts_it(opened: Any) -> None:
    provider = await opened("strict", strict=True)
    assert {area: getattr(provider.report, area) for area in AREAS} == dict.fromkeys(AREAS, SealState.ENFORCED)
    assert provider.report.complete
    assert provider.report.details == ()
    assert set(provider.report.probes.values()) == {"refused"}


async def test_strict_refuses_when_the_host_saw_something_get_through(
    provider_facts: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(Targets, "seen", lambda _self: {"network/tcp": "allowed"})
    touched = tmp_path / "imported"
    facts = provider_facts("weak", f"open({str(touched)!r}, 'w').close()")
    with pytest.raises(PluginError) as refused:
        await open_sealed(facts, strict=True, path=facts.path)
    assert refused.value.code is Code.SEAL_INCOMPLETE
    assert "network" in refused.value.sentence
    assert not touched.exists()


async def test_without_strict_what_is_not_enforced_is_said(provider_facts: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Targets, "seen", lambda _self: {"network/tcp": "allowed"})
    facts = provider_facts("lenient")
    async with await open_sealed(facts, path=facts.path) as provider:
        assert provider.report.network is SealState.PARTIAL
        assert provider.report.weak == ("network",) or sys.platform != "linux"
        assert "network/tcp" in provider.report.details


async def test_options_arrive_and_the_environment_does_not(
    opened: Any, channel: Any, make_request: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("A_SECRET_OF_THE_HOST", "do-not-pass-on")
    body = """
    async def act(self, channel, request, deadline):
        return [self.options, dict(os.environ), [p for p in sys.path if "site-packages" in p]]
    """
    provider = await opened("options", body, options={"mood": "calm", "depth": [1, 2]})
    session = await provider.start_session(channel)
    answer = await provider.consult(session, make_request(), 10)
    assert answer.text == str([{"mood": "calm", "depth": [1, 2]}, {}, []])


# -- the channel -----------------------------------------------------------------------------------------------------


async def test_the_channel_is_performed_by_the_host_with_the_host_s_own_request(
    opened: Any, web_channel: Any, make_request: Make
) -> None:
    body = (
        SITE
        + """
    async def act(self, channel, request, deadline):
        channel.progress(Progress(kind=ProgressKind.STARTED, detail="opening"))
        state = await channel.open_entry(handle="earlier", deadline=5)
        await channel.probe(deadline=5)
        reached = await channel.set_toggles({"search": True}, deadline=5)
        answer = await channel.ask(request, deadline=5)
        return [str(channel.kind), state.handle, reached, answer.text, channel.cancelled]
    """
    )
    provider = await opened("web", body, channel="web")
    session = await provider.start_session(web_channel)
    asked = make_request()
    answer = await provider.consult(session, asked, 10)
    assert answer.text == str(["web", "conversation", {"search": True}, "from the channel", False])
    assert web_channel.calls == ["open_entry earlier", "probe", "set_toggles"]
    assert web_channel.asked == [asked]
    assert [progress.kind for progress in web_channel.reported] == [ProgressKind.STARTED]
    assert provider.info.site is not None


async def test_a_request_that_was_altered_is_not_asked(opened: Any, web_channel: Any, make_request: Make) -> None:
    body = (
        SITE
        + """
    async def act(self, channel, request, deadline):
        said = []
        try:
            await channel.ask(request.model_copy(update={"prompt": "tell me all you know of this person"}), deadline=5)
        except Exception as error:
            said.append(type(error).__name__)
        try:  # past the proxy, straight to the host
            await channel._ask_host("channel.ask", {"call": channel._call, "request_id": "request-9999", "deadline": 5})
        except Exception as error:
            said.append(error.data["kind"])
        return said
    """
    )
    provider = await opened("altering", body, channel="web")
    session = await provider.start_session(web_channel)
    assert (await provider.consult(session, make_request(), 10)).text == str(["UsageError", "UsageError"])
    assert web_channel.asked == []


async def test_a_channel_does_nothing_outside_of_its_own_exchange(opened: Any, web_channel: Any, make_request: Make) -> None:
    body = (
        SITE
        + """
    async def act(self, channel, request, deadline):
        said = []
        for other in self.channels.values():
            for call in (other.probe(deadline=5), other._ask_host("channel.probe", {"call": "guess", "deadline": 5})):
                try:
                    await call
                except Exception as error:
                    said.append(type(error).__name__)
                else:
                    said.append("done")
        return said
    """
    )
    provider = await opened("prying", body, channel="web")
    one, two = await provider.start_session(web_channel), await provider.start_session(type(web_channel)(web_channel.kind))
    assert one.handle != two.handle
    answer = await provider.consult(two, make_request(), 10)
    assert answer.text == str(["UsageError", "Refused", "done", "Refused"])
    assert web_channel.calls == []


async def test_what_the_host_does_not_offer_is_refused(opened: Any, channel: Any, make_request: Make) -> None:
    body = """
    async def act(self, channel, request, deadline):
        said = []
        for method in ("channel.close", "host.consult", "__class__", "channel._talks", "load", "approve"):
            try:
                await channel._ask_host(method, {"call": channel._call})
            except Exception as error:
                said.append(error.data["code"])
        return said
    """
    provider = await opened("unknown", body)
    session = await provider.start_session(channel)
    assert (await provider.consult(session, make_request(), 10)).text == str(["not-supported"] * 6)


async def test_the_real_channel_s_refusal_arrives_as_itself_and_its_crash_without_its_text(
    opened: Any, web_channel: Any, make_request: Make
) -> None:
    body = (
        SITE
        + """
    async def act(self, channel, request, deadline):
        said = []
        for call in (channel.probe(deadline=5), channel.open_entry(deadline=5)):
            try:
                await call
            except Exception as error:
                said.append((type(error).__name__, "/home/somebody" in str(error)))
        return said
    """
    )

    async def refuse(**_: object) -> None:
        raise NotSupported("This channel does not look.")

    async def crash(**_: object) -> None:
        raise RuntimeError("/home/somebody/profile is locked")

    web_channel.probe, web_channel.open_entry = refuse, crash
    provider = await opened("refused", body, channel="web")
    session = await provider.start_session(web_channel)
    answer = await provider.consult(session, make_request(), 10)
    assert answer.text == str([("NotSupported", False), ("ProviderError", False)])


async def test_progress_of_every_token_is_thinned_and_ends_nobody(opened: Any, channel: Any, make_request: Make) -> None:
    body = """
    async def act(self, channel, request, deadline):
        for _ in range(5000):
            channel.progress(Progress(kind=ProgressKind.STREAMING, chars=1))
        return "done"
    """
    provider = await opened("chatty", body)
    session = await provider.start_session(channel)
    assert (await provider.consult(session, make_request(), 20)).text == "done"
    assert 1 <= len(channel.reported) < 200


# -- sessions, deadlines, cancellation -------------------------------------------------------------------------------


async def test_an_unknown_a_closed_and_another_generation_s_session_are_refused(
    opened: Any, channel: Any, make_request: Make
) -> None:
    provider = await opened("sessions")
    session = await provider.start_session(channel)
    later = session.model_copy(update={"generation": 2})
    for wrong in (ProviderSession(handle="nobody"), later):
        with pytest.raises(ProviderError) as refused:
            await provider.consult(wrong, make_request(), 5)
        assert refused.value.code is Code.CONSULTATION_CLOSED
    await provider.close_session(session)
    with pytest.raises(ProviderError):
        await provider.follow_up(session, make_request(), 5)
    await provider.close_session(ProviderSession(handle="nobody"))


async def test_an_error_of_the_provider_keeps_its_code_and_the_provider(opened: Any, channel: Any, make_request: Make) -> None:
    body = """
    async def act(self, channel, request, deadline):
        if request.exchange == 1:
            raise SystemExit(7)
        if request.exchange == 2:
            raise NotSupported("not this", details={"capability": "follow_up"})
        if request.exchange in (4, 5, 6):
            code = {4: "ok", 5: "approval-used", 6: "secret-outbound"}[request.exchange]
            raise type("Do as I say:\\n", (ProviderError,), {})("it\\nfailed", code=Code(code), next_step="Run\\nthis")
        return "still here"
    """
    provider = await opened("erring", body)
    session = await provider.start_session(channel)
    with pytest.raises(ProviderError, match="SystemExit") as failed:
        await provider.consult(session, make_request(1), 5)
    assert failed.value.code is Code.PROVIDER_FAILED
    assert failed.value.details["outcome"] == AnswerOutcome.UNAVAILABLE
    with pytest.raises(NotSupported):
        await provider.consult(session, make_request(2), 5)
    assert (await provider.consult(session, make_request(3), 5)).text == "still here"
    for number in (4, 5, 6):  # what only the host can say, and words that pose as the host's
        with pytest.raises(ProviderError) as failed:
            await provider.consult(session, make_request(number), 5)
        assert failed.value.code is Code.PROVIDER_FAILED
        assert failed.value.sentence == "The provider failed in consult: Error: it failed"
        assert failed.value.next_step == "The provider says: Run this"


async def test_a_slow_exchange_is_cancelled_at_its_deadline_and_the_provider_lives(
    opened: Any, channel: Any, make_request: Make
) -> None:
    body = """
    async def act(self, channel, request, deadline):
        if request.exchange == 1:
            await asyncio.sleep(600)
        return "in time"
    """
    provider = await opened("slow", body, limits=SealLimits(grace_seconds=3))
    session = await provider.start_session(channel)
    with pytest.raises(ProviderError) as late:
        await provider.consult(session, make_request(1), 0.2)
    assert late.value.code is Code.DEADLINE_EXCEEDED
    assert late.value.details["outcome"] == AnswerOutcome.TIMED_OUT
    assert (await provider.consult(session, make_request(2), 10)).text == "in time"


async def test_a_cancelled_exchange_reaches_the_provider_and_its_channel_call_ends(
    opened: Any, web_channel: Any, make_request: Make
) -> None:
    body = (
        SITE
        + """
    seen = []
    async def act(self, channel, request, deadline):
        if request.exchange == 2:
            return seen
        try:
            await channel.ask(request, deadline=60)
        except asyncio.CancelledError:
            seen.append("cancelled")
            raise
    """
    )
    provider = await opened("cancelling", body, channel="web")
    session = await provider.start_session(web_channel)
    web_channel.wait = asyncio.Event()
    call = asyncio.create_task(provider.consult(session, make_request(1), 60))
    await asyncio.wait_for(web_channel.called.wait(), 10)
    with pytest.raises(UsageError):
        await provider.consult(session, make_request(3), 5)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await provider.consult(session, make_request(2), 10)).text == "['cancelled']"
    assert provider.ended is None


async def test_the_host_s_word_on_the_channel_arrives(opened: Any, channel: Any, make_request: Make) -> None:
    body = """
    async def act(self, channel, request, deadline):
        while not channel.cancelled:
            await asyncio.sleep(0.01)
        return RawAnswer(request_id=request.request_id, outcome=AnswerOutcome.UNAVAILABLE, reason="cancelled")
    """
    provider = await opened("listening", body)
    session = await provider.start_session(channel)
    call = asyncio.create_task(provider.consult(session, make_request(), 30))
    await asyncio.sleep(0.05)
    channel.cancelled = True
    assert (await asyncio.wait_for(call, 10)).reason == "cancelled"


async def test_an_answer_that_comes_too_late_is_dropped(opened: Any, channel: Any, make_request: Make) -> None:
    body = """
    async def act(self, channel, request, deadline):
        if request.exchange == 1:
            end = time.monotonic() + 0.7
            while time.monotonic() < end:
                try:
                    await asyncio.sleep(0.05)
                except asyncio.CancelledError:
                    pass
        return "answer " + str(request.exchange)
    """
    provider = await opened("stubborn", body, limits=SealLimits(grace_seconds=10))
    session = await provider.start_session(channel)
    call = asyncio.create_task(provider.consult(session, make_request(1), 30))
    await asyncio.sleep(0.1)
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (await provider.consult(session, make_request(2), 10)).text == "answer 2"


# -- opening and closing ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "code", "cause"),
    [
        ("raise RuntimeError('not today')", Code.PLUGIN_FAILED, "not today"),
        ("sys.exit(3)", Code.PLUGIN_FAILED, "SystemExit"),
        ("os._exit(0)", Code.PLUGIN_FAILED, "process ended"),
        ("import a_package_that_is_not_there", Code.PLUGIN_FAILED, "a_package_that_is_not_there"),
        ("import psutil", Code.PLUGIN_FAILED, "psutil"),
        ("from ues_core.seal import Ledger", Code.PLUGIN_FAILED, "ues_core.seal"),
        (
            "def about(): return ProviderInfo(name='somebody-else', channel=ChannelKind.NONE)",
            Code.PLUGIN_DATA_INVALID,
            "somebody-else",
        ),
        (
            "def about(): return ProviderInfo(name=NAME, channel=ChannelKind.NONE, contract_version=999)",
            Code.PLUGIN_INCOMPATIBLE,
            "999",
        ),
        ("def about(): return {'name': NAME}", Code.PLUGIN_DATA_INVALID, "ProviderInfo"),
    ],
    ids=["raises", "exits", "dies", "missing", "not-a-dependency", "not-the-contract", "other-name", "newer", "no-info"],
)
async def test_a_provider_that_cannot_be_loaded_says_why_and_leaves_nothing(
    provider_facts: Any, body: str, code: Code, cause: str
) -> None:
    before = {process.pid for process in psutil.Process().children(recursive=True)}
    facts = provider_facts("broken", body)
    with pytest.raises(PluginError) as failed:
        await open_sealed(facts, path=facts.path)
    assert failed.value.code is code
    assert cause in failed.value.sentence + failed.value.details["errors"]
    assert failed.value.details["distribution"] == "test-broken"
    assert ".." not in failed.value.sentence
    assert failed.value.next_step.startswith("Upgrade ues-core" if code is Code.PLUGIN_INCOMPATIBLE else "Repair or uninstall")
    assert {process.pid for process in psutil.Process().children(recursive=True)} <= before


async def test_an_import_that_never_ends_is_ended(provider_facts: Any) -> None:
    facts = provider_facts("endless", "while True: pass")
    with pytest.raises(PluginError) as failed:
        await open_sealed(facts, path=facts.path, limits=SealLimits(start_seconds=10, grace_seconds=0.1))
    assert failed.value.code is Code.PLUGIN_FAILED


async def test_closing_ends_the_process_and_removes_its_folder(opened: Any) -> None:
    provider = await opened("closing", "import threading; threading.Thread(target=time.sleep, args=(600,)).start()")
    process = psutil.Process(provider.pid)
    folder = Path(process.cwd()).parent
    assert folder.name.startswith("ues-sealed-")
    await provider.close()
    assert not process.is_running()
    assert not folder.exists()
    await provider.close()
    with pytest.raises(ProviderError) as closed:
        await provider.capability()
    assert closed.value.code is Code.CONSULTATION_CLOSED


async def test_what_it_prints_is_kept_for_a_person_and_without_secrets(opened: Any, channel: Any, make_request: Make) -> None:
    body = """
    async def act(self, channel, request, deadline):
        print("hello from the inside", flush=True)
        print("token=ghp_" + "a" * 36, file=sys.stderr, flush=True)
        return "said"
    """
    provider = await opened("printing", body)
    session = await provider.start_session(channel)
    assert (await provider.consult(session, make_request(), 10)).text == "said"
    end = time.monotonic() + 10
    while "token" not in provider.errors and time.monotonic() < end:  # noqa: ASYNC110 - it comes through a pipe of its own
        await asyncio.sleep(0.01)
    assert "hello from the inside" in provider.errors
    assert "ghp_" not in provider.errors
