"""A hostile provider and an honest one, installed from wheels into a clean environment and run in sealed processes.

Each test lays out what is to be stolen in a home of its own, tells the provider where it is, and looks afterwards at what is there
and who came.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

SECRET = "nobody outside may read this"

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(900),
    pytest.mark.skipif(sys.platform != "linux", reason="what is refused here is refused by Linux"),
]

HOST = '''
import asyncio, json, sys, time
from importlib import metadata
from types import SimpleNamespace

from ues_core.contract import AnswerOutcome, CapabilityState, ChannelAnswer, ChannelKind, ChannelState, ConsultRequest, UesError
from ues_core.reasoning.sealed import SealLimits, open_sealed

job = json.loads(sys.argv[1])


class Channel:
    """The real channel: it says what was asked of it."""

    kind = ChannelKind.NONE
    cancelled = False

    def __init__(self):
        self.calls = []

    def progress(self, progress):
        self.calls.append("progress")

    async def hand_over(self, request, *, deadline):
        self.calls.append("hand_over")
        return ChannelAnswer(outcome=AnswerOutcome.ANSWERED)

    async def open_entry(self, *, handle=None, deadline):
        self.calls.append("open_entry")
        return ChannelState(state=CapabilityState.READY)

    async def probe(self, *, deadline):
        self.calls.append("probe")
        return ChannelState(state=CapabilityState.READY)

    async def set_toggles(self, wanted, *, deadline):
        self.calls.append("set_toggles")
        return {}

    async def ask(self, request, *, deadline):
        self.calls.append("ask")
        return ChannelAnswer(outcome=AnswerOutcome.ANSWERED)


def facts(name):
    entry = next(iter(metadata.entry_points(group="ues.providers", name=name)))
    return SimpleNamespace(entry_point=entry, distribution=entry.dist.name, version=entry.dist.version)


def ask(prompt, number):
    return ConsultRequest(request_id=f"request-{number:04}", nonce=f"nonce-{number:06}", prompt=prompt, prompt_digest="0" * 64)


async def together(deeds, number):
    """Deeds of one process, one after the other."""
    limits = SealLimits(grace_seconds=0.5, call_seconds=2.0, memory_bytes=512 << 20)
    options = deeds[0].pop("options", {})
    try:
        provider = await open_sealed(facts("hostile"), options=options, limits=limits, strict=True)
    except UesError as error:
        return [{"deed": deed["deed"], "code": str(error.code), "said": error.sentence} for deed in deeds]
    channel, other = Channel(), Channel()
    rows = [{"deed": deed["deed"], "pid": provider.pid} for deed in deeds]
    try:
        if deeds[0]["deed"] == "capability":
            await provider.capability()
        idle = await provider.start_session(other)
        session = await provider.start_session(channel)
        for at, (row, deed) in enumerate(zip(rows, deeds, strict=True)):
            seconds = deed.pop("seconds", 20)
            answer = await provider.consult(session, ask(json.dumps(deed), 100 * number + at), seconds)
            row |= json.loads(answer.text)
        await provider.close_session(session)
    except UesError as error:
        for row in rows:
            if not row.keys() & {"got", "refused"}:
                row |= {"code": str(error.code), "outcome": error.details.get("outcome")}
    finally:
        started = time.monotonic()
        await provider.close()
        ended = {"closing": time.monotonic() - started, "calls": channel.calls + other.calls}
    return [row | ended for row in rows]


async def main():
    honest = await open_sealed(facts("double"), strict=True)
    channel = Channel()
    session = await honest.start_session(channel)
    rows = []
    for number, deeds in enumerate(job["deeds"], start=1):
        done = await together(deeds, number)
        answer = await honest.consult(session, ask("Is anybody hurt?", 10_000 + number), 20)
        rows += [row | {"honest": str(answer.outcome)} for row in done]
    report = honest.report
    await honest.close()
    print(json.dumps({
        "rows": rows,
        "report": report.model_dump(mode="json"),
        "complete": report.complete,
        "imported": sorted(name for name in sys.modules if name.startswith(("ues_provider_", "ues_core.testing"))),
    }))

asyncio.run(main())
'''


class Scene:
    """What is to be stolen, a host, and what was left when the host had ended."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._python = python
        self._folder = folder
        self.repository, self.home, self.state = folder / "repository", folder / "home", folder / "state"
        for place in (self.repository / "src", self.home / ".ssh", self.state / "keys", folder / "tmp"):
            place.mkdir(parents=True)
        self.files = [
            self.repository / "src" / "main.py",
            self.repository / ".env",
            self.home / ".ssh" / "id_ed25519",
            self.state / "keys" / "ledger.key",
        ]
        for file in self.files:
            file.write_text(SECRET)

    def play(self, *deeds: dict[str, Any] | list[dict[str, Any]]) -> dict[str, Any]:
        """Run a host that lets the hostile provider do the deeds, one process each; those of a list share one."""
        before = self._inventory()
        variables = {
            "HOME": str(self.home),
            "TMPDIR": str(self._folder / "tmp"),
            "UES_STATE_DIR": str(self.state),
            "A_TOKEN_OF_THE_HOST": SECRET,
            "PATH": os.environ.get("PATH", ""),
        }
        job = {"deeds": [deed if isinstance(deed, list) else [deed] for deed in deeds]}
        done = subprocess.run(
            [str(self._python), "-W", "error", "-c", HOST, json.dumps(job)],
            cwd=self.repository,
            env=variables,
            capture_output=True,
            text=True,
            timeout=600,
        )
        assert done.returncode == 0, done.stderr
        assert self._inventory() == before, "nothing was added, changed or left behind"
        result: dict[str, Any] = json.loads(done.stdout)
        for row in result["rows"]:
            assert row["honest"] == "answered", f"the honest provider was hurt by {row['deed']}"
            assert "pid" not in row or not psutil.pid_exists(row["pid"]), row
        assert result["imported"] == [], "the host imports no provider"
        return result

    def _inventory(self) -> dict[str, tuple[int, int, int, str]]:
        found = {}
        for path in sorted(self._folder.rglob("*")):
            facts = path.lstat()
            text = path.read_text() if path.is_file() else ""
            found[str(path)] = (facts.st_mode, facts.st_uid, facts.st_mtime_ns if path.is_file() else 0, text)
        return found


@pytest.fixture
def scene(clean_environment: Path, tmp_path: Path) -> Scene:
    """A scene of one test."""
    return Scene(clean_environment / "python", tmp_path / "scene")


@pytest.fixture
def listener() -> Iterator[socket.socket]:
    """Somebody on loopback who would notice a visit."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.settimeout(0)
        yield server


def by_deed(result: dict[str, Any]) -> dict[str, Any]:
    """What each deed got; a refusal as text."""
    return {row["deed"]: row.get("got", row.get("refused", row.get("code"))) for row in result["rows"]}


def test_files_of_the_repository_the_home_and_the_state_stay_unread_and_untouched(scene: Scene) -> None:
    readings = [{"deed": "read", "path": str(file)} for file in scene.files]
    listings = [{"deed": "names", "path": str(place)} for place in (scene.repository, scene.home, scene.state)]
    result = scene.play([*readings, *listings])
    assert result["complete"], result["report"]
    for row in result["rows"]:
        assert row["refused"].startswith("PermissionError"), row
    spoils = [{"deed": "spoil", "path": str(file)} for file in scene.files]
    found = scene.play(
        [
            *spoils,
            {"deed": "walk", "path": str(scene.home)},
            {"deed": "search_everywhere", "name": "id_ed25519", "seconds": 60},
        ],
        {"deed": "leave_files"},
        {"deed": "write", "path": "left-behind"},
    )
    for row in found["rows"]:
        assert row.get("got", []) == [], row


def test_readable_are_exactly_its_packages_and_the_interpreter(scene: Scene) -> None:
    own = ["ues_provider_hostile/reach.py", "pydantic/__init__.py", "pluggy/__init__.py", "ues_core/contract/__init__.py"]
    strangers = ["psutil/__init__.py", "click/__init__.py", "pip/__init__.py", "ues_provider_double/__init__.py"]
    rooms = ["ues_core/seal/__init__.py", "ues_core/redact/__init__.py", "ues_core/reasoning/sealed/_desk.py"]
    result = scene.play(
        [{"deed": "read_bytes_of_module", "module": name} for name in (*own, *strangers, *rooms)], {"deed": "other_packages"}
    )
    *modules, packages = result["rows"]
    got = [row.get("got", 0) > 0 for row in modules]
    assert got == [True] * len(own) + [False] * (len(strangers) + len(rooms))
    assert packages["got"] == []


def test_the_environment_other_processes_the_network_and_programs_are_out_of_reach(
    scene: Scene, listener: socket.socket, tmp_path: Path
) -> None:
    unix = tmp_path / "socket"
    datagrams = tmp_path / "datagrams"
    with (
        socket.socket(socket.AF_UNIX) as by_path,
        socket.socket(socket.AF_UNIX) as by_name,
        socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as unconnected,
    ):
        unconnected.bind(str(datagrams))
        unconnected.settimeout(0)
        by_path.bind(str(unix))
        by_path.listen(1)
        by_path.settimeout(0)
        by_name.bind("\0hostile")
        by_name.listen(1)
        by_name.settimeout(0)
        port = listener.getsockname()[1]
        result = scene.play(
            [
                {"deed": "environment"},
                {"deed": "processes"},
                {"deed": "signals"},
                {"deed": "sockets", "port": port, "unix": str(unix)},
                {"deed": "programs"},
                {"deed": "system_calls", "path": str(scene.files[2])},
                {"deed": "forgotten_places", "path": str(scene.files[2]), "port": port, "datagrams": str(datagrams)},
            ]
        )
        refused = ("processes", "signals", "sockets", "programs", "system_calls", "forgotten_places")
        assert by_deed(result) == {"environment": {}, **{deed: [] for deed in refused}}
        for one in (listener, by_path, by_name):
            with pytest.raises(BlockingIOError):
                one.accept()
        with pytest.raises(BlockingIOError):
            unconnected.recv(64)


def test_forks_memory_and_threads_have_an_end(scene: Scene) -> None:
    before = len(psutil.pids())
    found = by_deed(scene.play(*({"deed": deed} for deed in ("fork_bomb", "raw_fork", "memory", "thread_bomb"))))
    assert found["fork_bomb"].startswith("PermissionError")
    assert found["raw_fork"].startswith(("PermissionError", "OSError"))
    assert found["memory"] in ("provider-gone", "provider-over-limit") or found["memory"].startswith("MemoryError")
    assert found["thread_bomb"] in ("provider-gone", "provider-over-limit") or found["thread_bomb"].startswith("RuntimeError")
    assert len(psutil.pids()) < before + 200


def test_the_channel_gives_nothing_away_and_abuse_of_it_ends_the_process(scene: Scene) -> None:
    deeds = ["foreign_words", "flood", "garbage", "gigabyte", "big_answer"]
    result = scene.play(*({"deed": deed} for deed in deeds))
    found = by_deed(result)
    assert found.pop("foreign_words") == []
    assert result["rows"][0]["calls"] == []
    assert found == {
        "flood": "provider-flood",
        "garbage": "provider-garbage",
        "gigabyte": "provider-flood",
        "big_answer": "provider-failed",
    }


def test_hanging_and_staying_are_ended(scene: Scene) -> None:
    result = scene.play(
        {"deed": "hang", "seconds": 0.5},
        {"deed": "spin", "seconds": 0.5},
        {"deed": "capability", "options": {"hang_in_capability": True}},
        {"deed": "stay"},
    )
    found = by_deed(result)
    assert (found["hang"], found["spin"], found["capability"]) == ("provider-hung",) * 3
    assert found["stay"] == "old session, no daemon, bond kept"
    assert all(row["closing"] < 10 for row in result["rows"])


def test_what_is_done_at_import_is_refused_as_well(scene: Scene) -> None:
    steal = {"at_import": "read", "arguments": {"path": str(scene.files[2])}}
    result = scene.play({"deed": "names", "path": ".", "options": steal})
    row = result["rows"][0]
    assert row["code"] == "plugin-failed"
    assert "PermissionError" in row["said"]
    assert SECRET not in row["said"]
