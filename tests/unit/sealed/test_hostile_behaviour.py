"""What a hostile provider does with its process and its pipe, and what becomes of it, of the host and of the others."""

from __future__ import annotations

import asyncio
import os
import signal
import subprocess
import sys
import textwrap
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import psutil
import pytest

from ues_core.contract import AnswerOutcome, Code, ConsultRequest, PluginError, ProviderError
from ues_core.reasoning.sealed import SealLimits, open_sealed

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="what is refused here is refused by Linux")

Make = Callable[..., ConsultRequest]

ENDINGS = {
    "garbage": ("os.write(out, b'what is this' * 10)", Code.PROVIDER_GARBAGE, Code.PROVIDER_FLOOD),
    "no-json": ("os.write(out, (5).to_bytes(4, 'big') + b'[1,2}')", Code.PROVIDER_GARBAGE, None),
    "not-finite": ("say(b'{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"result\":NaN}')", Code.PROVIDER_GARBAGE, None),
    "too-deep": ("say(b'[' * 60000)", Code.PROVIDER_GARBAGE, None),
    "nobody-asked": ("say(b'{\"jsonrpc\":\"2.0\",\"id\":\"guess\",\"result\":1}')", Code.PROVIDER_GARBAGE, None),
    "all-structure": ("say(RESULT + b'[' + b'[],' * 900_000 + b'0]}')", Code.PROVIDER_GARBAGE, None),
    "endless-number": ("say(RESULT + b'9' * 900_000 + b'}')", Code.PROVIDER_GARBAGE, None),
    "a-gigabyte": ("os.write(out, (1 << 30).to_bytes(4, 'big')); os.write(out, bytes(60000))", Code.PROVIDER_FLOOD, None),
    "big-call": ("channel._send({'method': 'channel.progress', 'params': {'x': 'y' * 100_000}})", Code.PROVIDER_FLOOD, None),
    "flood": ("[channel._send({'method': 'channel.progress', 'params': {}}) for _ in range(2000)]", Code.PROVIDER_FLOOD, None),
    "dies": ("os._exit(0)", Code.PROVIDER_GONE, None),
    "aborts": ("os.abort()", Code.PROVIDER_GONE, None),
    "overruns": ("return '\\u00e9' * 4_000_000", Code.PROVIDER_FLOOD, None),
    "hangs": ("time.sleep(600)", Code.PROVIDER_HUNG, None),
    "spins": ("exec('while True: pass')", Code.PROVIDER_HUNG, None),
    "threads": ("[threading.Thread(target=time.sleep, args=(600,)).start() for _ in range(100)]; await asyncio.sleep(600)",
                Code.PROVIDER_OVER_LIMIT, Code.PROVIDER_FAILED),
    "closes-its-pipe": ("os.closerange(3, 64); await asyncio.sleep(600)", Code.PROVIDER_GONE, None),
}  # fmt: skip

PIPE = """
peer = None
for thing in __import__("gc").get_objects():
    if type(thing).__name__ == "Peer":
        peer = thing
out = peer._writing
RESULT = b'{"jsonrpc":"2.0","id":"x","result":'
def say(body):
    os.write(out, len(body).to_bytes(4, "big") + body)
"""


def body_of(deed: str) -> str:
    """A provider that does the deed in its first exchange."""
    inner = textwrap.indent(PIPE + deed, "    ")
    return f"async def act(self, channel, request, deadline):\n{inner}\n    await asyncio.sleep(5)\n"


@pytest.mark.parametrize("how", ENDINGS)
async def test_it_is_ended_with_a_code_and_its_process_is_gone(opened: Any, channel: Any, make_request: Make, how: str) -> None:
    deed, code, also = ENDINGS[how]
    limits = SealLimits(grace_seconds=0.3)
    bad = await opened("bad", body_of(deed), limits=limits)
    process = psutil.Process(bad.pid)
    session = await bad.start_session(channel)
    with pytest.raises(ProviderError) as ended:
        await bad.consult(session, make_request(1), 20 if code is not Code.PROVIDER_HUNG else 0.3)
    assert ended.value.code in (code, also), ended.value
    assert ended.value.details["outcome"] in (AnswerOutcome.UNAVAILABLE, AnswerOutcome.TIMED_OUT)
    if ended.value.code is Code.PROVIDER_FAILED:
        return
    with pytest.raises(ProviderError) as again:
        await bad.consult(session, make_request(3), 1)
    assert again.value.code is ended.value.code
    await bad.close()
    assert not process.is_running()


async def test_an_answer_in_another_s_place_or_twice_is_garbage(opened: Any, channel: Any, make_request: Make) -> None:
    deed = """
service = next(thing for thing in __import__("gc").get_objects() if type(thing).__name__ == "Service")
(own,) = service._running
answer = {"request_id": request.request_id, "outcome": "answered", "text": "forged"}
say(__import__("json").dumps({"jsonrpc": "2.0", "id": own, "result": answer}).encode())
await asyncio.sleep(0.2)
return "and once more"
"""
    body = body_of(deed)
    provider = await opened("twice", body)
    session = await provider.start_session(channel)
    assert (await provider.consult(session, make_request(1), 10)).text == "forged"
    end = time.monotonic() + 10
    while provider.ended is None and time.monotonic() < end:  # noqa: ASYNC110 - the end of a process, and no event
        await asyncio.sleep(0.02)
    assert provider.ended is Code.PROVIDER_GARBAGE


async def test_the_end_of_one_hurts_no_other(opened: Any, channel: Any, make_request: Make) -> None:
    bad, good = await asyncio.gather(opened("bad", body_of("os._exit(1)")), opened("good"))
    session, calm = await bad.start_session(channel), await good.start_session(type(channel)())
    answer = asyncio.create_task(good.consult(calm, make_request(2), 10))
    with pytest.raises(ProviderError):
        await bad.consult(session, make_request(1), 10)
    assert (await answer).text == "an answer to request-0002"
    assert (await good.consult(calm, make_request(3), 10)).text == "an answer to request-0003"
    assert bad.ended is Code.PROVIDER_GONE


async def test_memory_has_an_end_and_the_machine_does_not_notice(opened: Any, channel: Any, make_request: Make) -> None:
    body = """
    async def act(self, channel, request, deadline):
        held = []
        while True:
            held.append(bytearray(16 << 20))
    """
    provider = await opened("hungry", body, limits=SealLimits(memory_bytes=512 << 20))
    session = await provider.start_session(channel)
    with pytest.raises(ProviderError) as ended:
        await provider.consult(session, make_request(), 20)
    assert ended.value.code in (Code.PROVIDER_FAILED, Code.PROVIDER_GONE, Code.PROVIDER_OVER_LIMIT)
    assert "MemoryError" in ended.value.sentence or provider.ended is not None


DEEDS = {
    "read the host's files": "open(victim).read()",
    "list the host's files": "os.listdir(os.path.dirname(victim))",
    "list the home": "os.listdir(os.path.expanduser('~root'))",
    "write beside": "open(os.path.join(os.path.dirname(victim), 'mine'), 'w')",
    "write here": "open('mine', 'w')",
    "write over itself": "open(__file__, 'a')",
    "append": "open(victim, 'a')",
    "remove": "os.remove(victim)",
    "rename": "os.rename(victim, victim + 'x')",
    "change the mode": "os.chmod(victim, 0)",
    "change the times": "os.utime(victim)",
    "link": "os.symlink(victim, 'link')",
    "make a folder": "os.mkdir('folder')",
    "read the users": "open('/etc/passwd').read()",
    "read the host's environment": "open(f'/proc/{os.getppid()}/environ').read()",
    "read the host's memory": "open(f'/proc/{os.getppid()}/mem', 'rb').read(1)",
    "read its own environment": "open('/proc/self/environ').read()",
    "open a device": "open('/dev/mem', 'rb')",
    "TCP": "socket.create_connection(('127.0.0.1', port), 1)",
    "TCP to the world": "socket.create_connection(('192.0.2.1', 80), 1)",
    "UDP": "socket.socket(socket.AF_INET, socket.SOCK_DGRAM)",
    "unix": "socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)",
    "netlink": "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW)",
    "a server": "socket.create_server(('127.0.0.1', 0))",
    "names": "socket.getaddrinfo('example.test', 80)",
    "a program": "subprocess.run(['/bin/true'])",
    "a program, directly": "os.execv('/bin/true', ['true'])",
    "a shell": "None if os.system('exit 0') else 'it ran'",
    "the interpreter": "os.posix_spawn(sys.executable, [sys.executable, '-c', ''], {})",
    "a fork": "os.fork()",
    "a pseudo terminal": "os.openpty()",
    "a signal to the host": "os.kill(os.getppid(), 0)",
    "a signal to everybody": "os.kill(-1, 0)",
    "the host's priority": "os.setpriority(os.PRIO_PROCESS, os.getppid(), 19)",
    "the host's limits": "__import__('resource').prlimit(os.getppid(), __import__('resource').RLIMIT_NOFILE, (16, 16))",
    "its own limits": "__import__('resource').setrlimit(__import__('resource').RLIMIT_FSIZE, (1, -1))",
    "another root": "os.chroot('/')",
    "another user": "os.setuid(12345)",
    "memory shared by name": "__import__('multiprocessing.shared_memory').shared_memory.SharedMemory('x', create=True, size=9)",
    "a file in memory": "os.memfd_create('x')",
    "attributes": "os.listxattr(victim)",
    "a datagram without connecting": "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)",
    "a lease": "__import__('fcntl').fcntl(os.open(__file__, os.O_RDONLY), 1024, 0)",
    "a lock": "__import__('fcntl').flock(os.open(__file__, os.O_RDONLY), 2) or 'held'",
    "another package": "__import__('psutil')",
    "the host's rooms": "__import__('ues_core.seal')",
}


async def test_everything_outside_is_refused(opened: Any, channel: Any, make_request: Make, tmp_path: Path) -> None:
    victim = tmp_path / "secret"
    victim.write_text("of the host")
    before = victim.stat()
    with __import__("socket").create_server(("127.0.0.1", 0)) as server:
        lines = [
            "async def act(self, channel, request, deadline):",
            f"    victim, port, done = {str(victim)!r}, {server.getsockname()[1]}, []",
            f"    for name, deed in {DEEDS!r}.items():",
            "        try:",
            "            got = eval(deed)",
            "        except (Exception, SystemExit) as error:",
            "            continue",
            "        if got is not None:",
            "            done.append(name)",
            "    return done",
        ]
        provider = await opened("thief", "\n".join(lines))
        session = await provider.start_session(channel)
        answer = await provider.consult(session, make_request(), 30)
        assert answer.text == "[]"
        server.settimeout(0)
        with pytest.raises(BlockingIOError):
            server.accept()
    after = victim.stat()
    assert (after.st_mode, after.st_mtime_ns) == (before.st_mode, before.st_mtime_ns)
    assert sorted(os.listdir(tmp_path)) == ["secret", "site"]


async def test_the_deeds_are_possible_without_a_seal(tmp_path: Path) -> None:
    """Otherwise the test above would show nothing; run where the deeds do no harm."""
    harmless = [
        "read the host's files",
        "list the host's files",
        "write beside",
        "append",
        "UDP",
        "unix",
        "a program",
        "a fork",
    ]
    victim = tmp_path / "secret"
    victim.write_text("of the host")
    code = "\n".join(
        [
            "import os, socket, subprocess, sys",
            f"victim = {str(victim)!r}",
            f"for deed in {[DEEDS[name] for name in harmless]!r}:",
            "    got = eval(deed)",
            "    if got == 0: os._exit(0)",
            "    print(got is not None)",
        ]
    )
    run = await asyncio.to_thread(
        subprocess.run, [sys.executable, "-W", "ignore", "-c", code], capture_output=True, text=True, timeout=30, check=True
    )
    assert run.stdout.split().count("True") >= len(harmless)


async def test_a_child_dies_with_its_host(provider_facts: Any, tmp_path: Path) -> None:
    facts = provider_facts("orphan", "signal.signal(signal.SIGTERM, signal.SIG_IGN)")
    code = f"""
        import asyncio, sys, time
        from importlib.metadata import EntryPoint
        from types import SimpleNamespace
        from ues_core.reasoning.sealed import open_sealed
        async def main():
            entry = EntryPoint("orphan", "sealed_orphan", "ues.providers")
            facts = SimpleNamespace(entry_point=entry, distribution="test-orphan", version="1.0")
            provider = await open_sealed(facts, path={list(facts.path)!r})
            print(provider.pid, flush=True)
            time.sleep(600)
        asyncio.run(main())
    """
    host = await asyncio.create_subprocess_exec(
        sys.executable, "-c", textwrap.dedent(code), stdout=subprocess.PIPE, env={**os.environ, "TMPDIR": str(tmp_path)}
    )
    assert host.stdout is not None
    pid = int(await asyncio.wait_for(host.stdout.readline(), 60))
    child = psutil.Process(pid)
    host.send_signal(signal.SIGKILL)
    await host.wait()
    end = time.monotonic() + 10
    while child.is_running() and child.status() != psutil.STATUS_ZOMBIE and time.monotonic() < end:  # noqa: ASYNC110
        await asyncio.sleep(0.02)
    assert not child.is_running() or child.status() == psutil.STATUS_ZOMBIE


@pytest.mark.parametrize("where", ["look", "begin"])
async def test_hanging_in_the_short_calls_is_ended_too(opened: Any, channel: Any, where: str) -> None:
    arguments = {"look": "self", "begin": "self, channel, resume"}[where]
    provider = await opened(
        "hanging", f"async def {where}({arguments}): time.sleep(600)", limits=SealLimits(call_seconds=0.3, grace_seconds=0.2)
    )
    with pytest.raises(ProviderError) as ended:
        await (provider.capability() if where == "look" else provider.start_session(channel))
    assert ended.value.code is Code.PROVIDER_HUNG
    assert ended.value.details["outcome"] == AnswerOutcome.TIMED_OUT


@pytest.mark.parametrize(
    "result",
    ['{"request_id": "r", "outcome": "pass"}', '{"request_id": "r", "outcome": "answered", "trust": "trusted"}', "[]", '"yes"'],
)
async def test_an_answer_outside_of_the_contract_ends_it(opened: Any, channel: Any, make_request: Make, result: str) -> None:
    body = f"""
    async def act(self, channel, request, deadline):
        import json
        serve = sys.modules["ues_core.reasoning.sealed.child.serve"]
        serve._dump = lambda model: json.loads({result!r})
        return "x"
    """
    provider = await opened("forging", body)
    session = await provider.start_session(channel)
    assert (await provider.consult(session, make_request(1), 10)).text == "x"
    with pytest.raises(ProviderError) as ended:
        await provider.consult(session, make_request(2), 10)
    assert ended.value.code is Code.PROVIDER_GARBAGE
    assert provider.ended is Code.PROVIDER_GARBAGE


async def test_one_handle_for_two_sessions_ends_it(opened: Any, channel: Any) -> None:
    body = "async def begin(self, channel, resume): return ProviderSession(handle='the-same')"
    provider = await opened("twins", body)
    await provider.start_session(channel)
    with pytest.raises(ProviderError):
        await provider.start_session(type(channel)())
    assert provider.ended is Code.PROVIDER_GARBAGE


async def test_an_info_that_claims_more_is_refused(provider_facts: Any) -> None:
    body = """
    def about():
        serve = sys.modules["ues_core.reasoning.sealed.child.serve"]
        plain = serve._dump
        serve._dump = lambda model: {**plain(model), "authority": "owner"}
        return ProviderInfo(name=NAME, channel=ChannelKind.NONE)
    """
    facts = provider_facts("climbing", body)
    with pytest.raises(PluginError) as refused:
        await open_sealed(facts, path=facts.path)
    assert refused.value.code is Code.AUTHORITY_VIOLATION
