"""The host: isolated owners, one-shot approvals, a chain that verifies, nothing left open, nothing shared between hosts."""

from __future__ import annotations

import asyncio
import base64
import functools
import json
import os
import threading
from pathlib import Path

import pytest

from ues_core.config import Settings, override_settings
from ues_core.contract import Code, ConfigError, NotSupported, PluginError, PolicyRefusal, Refusal, UsageError
from ues_core.host import Host, open_host
from ues_core.seal.history import open_intents
from ues_core.seal.keys import load_public_key
from ues_core.seal.verify import LedgerReport, verify_chain
from ues_core.session import Session
from ues_core.testing import memory

A, B = "https://a.test/", "https://b.test/"


def verified(host: Host, state: Path) -> LedgerReport:
    key = load_public_key(state)
    assert host.head is not None
    return verify_chain(host.ledger.path, {key.key_id: key}, expected_head=host.head.digest)


async def test_two_owners_work_side_by_side_and_the_chain_verifies(host_settings: Settings) -> None:
    async with open_host(host_settings) as host:
        alice, bob = await host.session("alice", url=A), await host.session("bob", url=A)
        seen, theirs = await alice.observe(), await bob.observe()
        button, foreign = seen.find(role="button", name="Greet"), theirs.find(role="button", name="Greet")
        assert button is not None
        assert foreign is not None
        assert (await alice.act({"verb": "click", "ref": foreign.ref})).code is Code.REF_OTHER_OWNER
        assert (await alice.act({"verb": "click", "ref": button.ref})).ok
        assert (await alice.observe()).find(role="heading", name="Hello") is not None
        assert (await bob.observe()).find(role="heading", name="Hello") is None
    assert alice.closed
    assert bob.closed
    report = verified(host, host_settings.state_dir)
    assert report.ok, report
    assert report.terminal


async def test_releasing_an_owner_closes_only_its_sessions(host_settings: Settings) -> None:
    async with open_host(host_settings) as host:
        mine = [await host.session("alice", url=A) for _ in range(2)]
        other = await host.session("bob", url=A)
        assert await host.release("alice") == 2
        assert await host.release("alice") == 0
        assert [s.closed for s in (*mine, other)] == [True, True, False]
        with pytest.raises(Refusal):
            await mine[0].observe()
        assert (await other.observe()).nodes


async def test_an_approved_side_effect_happens_once_and_its_intent_is_closed_by_its_receipt(host_settings: Settings) -> None:
    async with open_host(host_settings) as host:
        session = await host.session("alice", url=A)
        node = (await session.observe()).find(role="button", name="Delete account")
        assert node is not None
        action = {"verb": "click", "ref": node.ref}
        assert (await session.act(action)).code is Code.DESTRUCTIVE_TARGET
        approval = await host.approve(session, action)
        assert (await session.act(action, approval=approval)).ok
        assert host.revoke(approval) is False
    assert open_intents(host_settings.state_dir) == ()


async def test_a_revoked_approval_is_used_up(host_settings: Settings) -> None:
    async with open_host(host_settings) as host:
        session = await host.session("alice", url=A)
        node = (await session.observe()).find(role="button", name="Delete account")
        assert node is not None
        approval = await host.approve(session, {"verb": "click", "ref": node.ref})
        assert host.revoke(approval) is True
        assert (await session.act({"verb": "click", "ref": node.ref}, approval=approval)).code is Code.APPROVAL_USED


async def test_an_open_intent_of_a_killed_host_refuses_the_duplicate(host_settings: Settings) -> None:
    from ues_core.contract import ActionClass, Intent

    async with open_host(host_settings) as probe:
        session = await probe.session("alice", url=A)
        node = (await session.observe()).find(role="button", name="Delete account")
        assert node is not None
        approval = await probe.approve(session, {"verb": "click", "ref": node.ref})
        receipt = await session.act({"verb": "click", "ref": node.ref}, approval=approval)
        assert receipt.intent_id
        lines = probe.ledger.path.read_bytes()
    # What a host that was killed right after its intent leaves: the chain up to the intent.
    for path in (host_settings.state_dir / "ledger").iterdir():
        path.unlink()
    upto = lines.splitlines(keepends=True)
    cut = next(
        i for i, line in enumerate(upto) if json.loads(base64.b64decode(json.loads(line)["payload"]))["kind"] == "intent"
    )
    probe.ledger.path.write_bytes(b"".join(upto[: cut + 1]))
    assert len(open_intents(host_settings.state_dir)) == 1
    async with open_host(host_settings) as host:
        session = await host.session("alice", url=A)
        node = (await session.observe()).find(role="button", name="Delete account")
        assert node is not None
        approval = await host.approve(session, {"verb": "click", "ref": node.ref})
        refused = await session.act({"verb": "click", "ref": node.ref}, approval=approval)
        assert (refused.code, refused.dispatched) == (Code.DUPLICATE_SIDE_EFFECT, False)
    assert Intent.model_fields["action_class"].annotation is ActionClass


async def test_a_session_can_only_narrow_the_operators_origins(host_settings: Settings) -> None:
    settings = override_settings(host_settings, {"allowed_origins": ["https://a.test"]})
    async with open_host(settings) as host:
        with pytest.raises(PolicyRefusal) as refused:
            await host.session("alice", url=B, allowed_origins=["https://b.test"])
        assert refused.value.code is Code.ORIGIN_NOT_ALLOWED
        session = await host.session("alice", url=A, allowed_origins=["https://a.test", "https://b.test"])
        assert (await session.act({"verb": "navigate", "url": B})).code is Code.ORIGIN_NOT_ALLOWED


@pytest.mark.parametrize(
    ("arguments", "capability"),
    [
        ({"attach": "http://127.0.0.1:9"}, "attach"),
        ({"profile": "work"}, "profiles"),
        ({"storage_state": {}}, "storage_state"),
    ],
)
async def test_what_the_driver_does_not_declare_is_refused_by_name(
    host_settings: Settings, arguments: dict[str, object], capability: str
) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(NotSupported) as refused:
            await host.session("alice", **arguments)  # type: ignore[arg-type]
        assert refused.value.details["capability"] == capability


@pytest.mark.parametrize(
    ("arguments", "capability"), [({"popups": "follow"}, "pages"), ({"allowed_origins": ["https://a.test"]}, "network_gate")]
)
async def test_what_only_a_surface_with_pages_and_places_can_do_is_refused_on_another(
    host_settings: Settings, arguments: dict[str, object], capability: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Silently ignored, an origin that was to be kept out would not be."""
    bare = memory.MEMORY_CAPABILITIES.model_copy(update={"navigation": False, "pages": False, "network_gate": False})
    made = memory.MemoryDriver.__init__
    monkeypatch.setattr(memory.MemoryDriver, "__init__", functools.partialmethod(made, capabilities=bare))
    async with open_host(host_settings) as host:
        with pytest.raises(NotSupported) as refused:
            await host.session("alice", **arguments)  # type: ignore[arg-type]
        assert refused.value.details["capability"] == capability
        assert (await host.session("alice")).id


@pytest.mark.parametrize("owner", ["", "   ", "a\nb", "x" * 257, "\ud800"])
async def test_an_owner_that_is_none_is_refused(host_settings: Settings, owner: str) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(UsageError) as refused:
            await host.session(owner)
        assert refused.value.code is Code.OWNER_INVALID


async def test_an_unknown_driver_names_what_is_installed_and_the_nearest(host_settings: Settings) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(PluginError, match="in-memory"):
            await host.session("alice", driver="in-memery")


async def test_a_closed_host_refuses_and_closing_twice_is_one_closing(host_settings: Settings) -> None:
    async with open_host(host_settings) as host:
        pass
    assert await host.close() == host.head
    with pytest.raises(UsageError) as refused:
        await host.session("alice")
    assert refused.value.code is Code.HOST_CLOSED


async def test_the_lane_gates_and_receipts_what_the_host_dispatches_by_itself(host_settings: Settings) -> None:
    settings = override_settings(host_settings, {"allowed_origins": ["https://a.test"]})
    async with open_host(settings) as host:
        lane = host.lane("alice")
        assert lane.gate("1", "navigate", {"url": A}).allowed
        assert lane.receipt("1", location=A, expect={"kind": "url", "text": A}).verification.status == "verified"
        assert lane.gate("2", "navigate", {"url": B}).code is Code.ORIGIN_NOT_ALLOWED
        assert lane.gate("3", "purchase", {"what": "it"}).code is Code.APPROVAL_REQUIRED
        assert lane.gate("4", "frobnicate").code is Code.UNKNOWN_VERB
        assert lane.gate("5", "purchase", {"what": "it"}, approved=True).allowed
        assert lane.receipt("5", result="done").verification.status == "unverified"
        again = lane.gate("6", "purchase", {"what": "it"}, approved=True)
        assert again.code is Code.BUDGET_EXHAUSTED
        assert lane.receipt("never").status == "rejected"
    assert verified(host, host_settings.state_dir).ok


def test_two_hosts_with_different_settings_run_on_two_loops_of_one_process(host_settings: Settings) -> None:
    ready = threading.Barrier(2, timeout=30)
    codes: dict[str, list[str]] = {}
    hosts: dict[str, Host] = {}

    async def one(name: str, origin: str) -> None:
        async with open_host(host_settings, allowed_origins=[origin], budgets={"actions": 3}) as host:
            hosts[name] = host
            session = await host.session(name)
            await asyncio.to_thread(ready.wait)
            receipts = [await session.act({"verb": "navigate", "url": url}) for url in (A, B)]
            codes[name] = [str(r.code) for r in receipts]
            await asyncio.to_thread(ready.wait)

    threads = [
        threading.Thread(target=lambda n=n, o=o: asyncio.run(one(n, o)))
        for n, o in (("a", "https://a.test"), ("b", "https://b.test"))
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert codes == {"a": ["ok", "origin-not-allowed"], "b": ["origin-not-allowed", "ok"]}
    assert hosts["a"].ledger.path != hosts["b"].ledger.path
    assert all(verified(host, host_settings.state_dir).ok for host in hosts.values())


async def test_a_session_that_fails_to_open_leaves_a_receipt_and_nothing_else(
    host_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_host(host_settings) as host:
        import ues_core.testing.memory as memory

        async def broken(self: object) -> None:
            raise RuntimeError("no")

        monkeypatch.setattr(memory.MemorySession, "start", broken)
        with pytest.raises(Exception, match="failed to open"):
            await host.session("alice", url=A)
        assert await host.release("alice") == 0
    assert verified(host, host_settings.state_dir).ok


async def for_ever(session: Session) -> None:
    while True:
        await session.observe()


async def nothing() -> None:
    """What leaves a session unused."""


async def test_a_session_that_nobody_uses_is_closed(host_settings: Settings) -> None:
    settings = host_settings.model_copy(update={"timeouts": host_settings.timeouts.model_copy(update={"idle": 0.6})})
    async with open_host(settings) as host, asyncio.timeout(30):
        used, unused = await host.session("alice", url=A), await host.session("bob", url=A)
        ends = []
        for session, use in ((unused, used.observe), (used, nothing)):
            while not session.closed:
                await use()
                await asyncio.sleep(0.05)
            ends.append((used.closed, unused.closed))
        assert ends == [(False, True), (True, True)]


async def test_a_session_does_not_outlive_its_whole_life_however_busy(host_settings: Settings) -> None:
    """Also the call that it ends in is refused with the code of a closed session, whatever the driver said."""
    for life in (0.01, 0.02, 0.03, 0.3):
        settings = host_settings.model_copy(update={"timeouts": host_settings.timeouts.model_copy(update={"session": life})})
        async with open_host(settings) as host, asyncio.timeout(30):
            session = await host.session("alice", url=A)
            with pytest.raises(Refusal) as refused:
                await for_ever(session)
            assert refused.value.code is Code.SESSION_CLOSED


async def test_a_chain_that_lost_a_record_does_not_end_as_complete(
    host_settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_host(host_settings) as host:
        session = await host.session("alice", url=A)

        def full(line: bytes) -> None:
            raise OSError(28, "No space left on device")

        with monkeypatch.context() as patch:
            patch.setattr(host.ledger._file, "append", full)
            await session.observe()
        receipt = await session.act({"verb": "reload"})
        assert (receipt.code, receipt.dispatched) == (Code.LEDGER_FAILED, False)
    last = host.ledger.path.read_bytes().splitlines()[-1]
    assert json.loads(base64.b64decode(json.loads(last)["payload"]))["body"]["state"] == "interrupted"


@pytest.mark.parametrize("place", ["file", "file/below"])
async def test_a_state_directory_that_cannot_be_is_the_operators_error(
    tmp_path: Path, host_settings: Settings, place: str
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ConfigError, match="state directory"):
        async with open_host(host_settings, state_dir=str(tmp_path / place)):
            pass


@pytest.mark.skipif(os.name == "nt", reason="Windows has no modes")
async def test_a_state_directory_that_others_may_write_is_not_used(host_settings: Settings, tmp_path: Path) -> None:
    state = tmp_path / "open"
    state.mkdir()
    state.chmod(0o777)
    with pytest.raises(ConfigError, match="0777") as refused:
        async with open_host(host_settings, state_dir=str(state)):
            pytest.fail("a host opened")
    assert refused.value.next_step == f"chmod 700 {state}"
    assert list(state.iterdir()) == []
    state.chmod(0o700)
    async with open_host(host_settings, state_dir=str(state)):
        assert (state / "ledger").exists()
