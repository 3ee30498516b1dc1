from __future__ import annotations

import asyncio
import sys
import textwrap
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from importlib.metadata import EntryPoint
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from ues_core.contract import (
    AnswerOutcome,
    CapabilityState,
    ChannelAnswer,
    ChannelKind,
    ChannelState,
    ConsultRequest,
    Progress,
)
from ues_core.reasoning.sealed import SealedProvider, SealLimits, open_sealed

PROVIDER = """
import asyncio, os, signal, socket, subprocess, sys, threading, time

from ues_core.contract import (
    AnswerOutcome, Authority, CapabilityReport, CapabilityState, ChannelKind, Code, NotSupported, Progress, ProgressKind,
    ProviderError, ProviderInfo, ProviderSession, RawAnswer, hookimpl,
)

NAME = {name!r}


async def act(self, channel, request, deadline):
    return "an answer to " + request.request_id

async def look(self):
    return CapabilityReport(state=CapabilityState.READY)

async def begin(self, channel, resume):
    self.count += 1
    return ProviderSession(handle=NAME + "-" + str(self.count), resumed=resume is not None)

def about():
    return ProviderInfo(name=NAME, channel=ChannelKind({channel!r}))

{body}


class Provider:
    __slots__ = ("channels", "count", "options")

    def __init__(self, options):
        self.options = options
        self.channels = {{}}
        self.count = 0

    info = property(lambda self: about())
    authority = property(lambda self: Authority.CONSULTANT_ONLY)

    async def capability(self):
        return await look(self)

    async def start_session(self, channel, resume=None):
        session = await begin(self, channel, resume)
        self.channels[session.handle] = channel
        return session

    async def consult(self, session, request, deadline):
        said = await act(self, self.channels[session.handle], request, deadline)
        if isinstance(said, RawAnswer):
            return said
        return RawAnswer(request_id=request.request_id, outcome=AnswerOutcome.ANSWERED, text=str(said))

    follow_up = consult

    async def close_session(self, session):
        self.channels.pop(session.handle, None)


@hookimpl
def ues_provider(options):
    return Provider(options)
"""


class Facts(NamedTuple):
    """What the host knows of an installed provider."""

    entry_point: EntryPoint
    distribution: str
    version: str
    path: tuple[str, ...]


def install(
    site: Path, distribution: str, files: Mapping[str, str], *, requires: tuple[str, ...] = (), entry_points: str = ""
) -> None:
    """Lay files out as an installer would, with the metadata that names them."""
    info = site / f"{distribution.replace('-', '_')}-1.0.dist-info"
    info.mkdir(parents=True)
    lines = "".join(f"Requires-Dist: {line}\n" for line in requires)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {distribution}\nVersion: 1.0\n{lines}")
    (info / "entry_points.txt").write_text(entry_points)
    for name, text in files.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(text)
    names = [*files, *(f"{info.name}/{name}" for name in ("METADATA", "entry_points.txt", "RECORD"))]
    (info / "RECORD").write_text("".join(f"{name},,\n" for name in names))


def write_provider(site: Path, name: str, body: str = "", *, channel: str = "none", requires: tuple[str, ...] = ()) -> Facts:
    """A provider ``name`` whose module says ``body``, installed into ``site``."""
    module = f"sealed_{name}"
    text = PROVIDER.format(name=name, body=textwrap.dedent(body), channel=channel)
    points = f"[ues.providers]\n{name} = {module}\n"
    install(site, f"test-{name}", {f"{module}.py": text}, requires=("ues-core", *requires), entry_points=points)
    return Facts(EntryPoint(name, module, "ues.providers"), f"test-{name}", "1.0", (str(site), *sys.path))


class Channel:
    """The real channel, as far as these tests need one: it records, and answers at once."""

    def __init__(self, kind: ChannelKind = ChannelKind.NONE) -> None:
        self.kind = kind
        self.cancelled = False
        self.asked: list[ConsultRequest] = []
        self.reported: list[Progress] = []
        self.calls: list[str] = []
        self.called = asyncio.Event()
        self.wait: asyncio.Event | None = None

    def progress(self, progress: Progress) -> None:
        self.reported.append(progress)

    async def hand_over(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        self.calls.append("hand_over")
        return await self.ask(request, deadline=deadline)

    async def open_entry(self, *, handle: str | None = None, deadline: float) -> ChannelState:
        self.calls.append(f"open_entry {handle}")
        return ChannelState(state=CapabilityState.READY, handle="conversation")

    async def probe(self, *, deadline: float) -> ChannelState:
        self.calls.append("probe")
        return ChannelState(state=CapabilityState.READY)

    async def set_toggles(self, wanted: Mapping[str, bool], *, deadline: float) -> dict[str, bool]:
        self.calls.append("set_toggles")
        return dict(wanted)

    async def ask(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        self.asked.append(request)
        self.called.set()
        if self.wait is not None:
            await self.wait.wait()
        return ChannelAnswer(outcome=AnswerOutcome.ANSWERED, text="from the channel", submitted=True)


def request(number: int = 1) -> ConsultRequest:
    """One exchange."""
    return ConsultRequest(
        request_id=f"request-{number:04}",
        nonce=f"nonce-{number:06}",
        exchange=number,
        prompt="What now?",
        prompt_digest="0" * 64,
    )


Opener = Callable[..., Awaitable[SealedProvider]]


@pytest.fixture
def site(tmp_path: Path) -> Path:
    """Where packages of this test are installed."""
    folder = tmp_path / "site"
    folder.mkdir()
    return folder


@pytest.fixture
async def opened(site: Path) -> AsyncIterator[Opener]:
    """``await opened(name, body, channel=...)``: a sealed provider, closed at the end of the test."""
    held: list[SealedProvider] = []

    async def make(
        name: str = "one",
        body: str = "",
        *,
        channel: str = "none",
        limits: SealLimits | None = None,
        strict: bool = False,
        options: dict[str, Any] | None = None,
    ) -> SealedProvider:
        facts = write_provider(site, name, body, channel=channel)
        provider = await open_sealed(facts, options=options, limits=limits, strict=strict, path=facts.path)
        held.append(provider)
        return provider

    yield make
    for provider in held:
        await provider.close()


@pytest.fixture
def channel() -> Channel:
    """A channel of kind ``none``."""
    return Channel()


@pytest.fixture
def web_channel() -> Channel:
    """A channel of kind ``web``."""
    return Channel(ChannelKind.WEB)


@pytest.fixture
def make_request() -> Callable[..., ConsultRequest]:
    """Makes requests, each with ids of its own."""
    return request


@pytest.fixture
def installer(site: Path) -> Callable[..., None]:
    """``installer(distribution, files, requires=..., entry_points=...)`` lays a distribution out in ``site``."""

    def lay(distribution: str, files: Mapping[str, str], **more: Any) -> None:
        install(site, distribution, files, **more)

    return lay


@pytest.fixture
def provider_facts(site: Path) -> Callable[..., Facts]:
    """``provider_facts(name, body)`` installs a provider and gives what the host knows of it."""

    def write(name: str, body: str = "", **more: Any) -> Facts:
        return write_provider(site, name, body, **more)

    return write
