"""Sessions over the in-memory driver: the whole path to observe and act, without a browser."""

from __future__ import annotations

import itertools
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

import pytest

from ues_core.contract import AnyReceipt, Intent, Launch, LedgerError, Limits, OpenSpec, OriginGate, Timeouts
from ues_core.policy.approvals import ApprovalBook
from ues_core.seal.refs import HostTags, RefTable
from ues_core.session import Session, SessionContext
from ues_core.testing import GoTo, Increment, MemoryDriver, MemoryNode, MemoryPage, RemoveNode, SetState, SetText

HOME = "https://shop.test/"
PAGES = (
    MemoryPage(
        url=HOME,
        title="Shop",
        nodes=(
            MemoryNode(role="heading", name="Nobody yet", id="result"),
            MemoryNode(role="textbox", name="Your name", id="name", value=""),
            MemoryNode(role="textbox", name="Password", input_type="password", secret=True, id="password"),
            MemoryNode(role="button", name="Greet", id="greet", on_click=(SetText(node="result", text="Hello"),)),
            MemoryNode(role="button", name="Count 1", id="count", on_click=(Increment(node="count"),)),
            MemoryNode(role="button", name="Delete account", id="delete", on_click=(RemoveNode(node="name"),)),
            MemoryNode(role="button", name="Vanish", id="vanish", on_click=(RemoveNode(node="greet"),)),
            MemoryNode(role="checkbox", name="Loudly", id="loud", on_click=(SetState(node="loud", state="checked"),)),
            MemoryNode(role="link", name="Next", href="https://shop.test/next", on_click=(GoTo(url="https://shop.test/next"),)),
            MemoryNode(role="link", name="Elsewhere", href="https://evil.test/", on_click=(GoTo(url="https://evil.test/"),)),
        ),
    ),
    MemoryPage(url="https://shop.test/next", title="Next", nodes=(MemoryNode(role="heading", name="The next page"),)),
)


@dataclass
class Kept:
    """A recorder that keeps everything in memory, and can be told to fail."""

    receipts: list[AnyReceipt] = field(default_factory=list)
    intents: list[Intent] = field(default_factory=list)
    log: list[str] = field(default_factory=list)
    fails: bool = False

    def check(self) -> None:
        if self.fails:
            raise LedgerError("The disk is full.")

    def receipt(self, receipt: AnyReceipt) -> None:
        self.receipts.append(receipt)
        self.log.append(f"receipt {receipt.kind}")

    async def intent(self, intent: Intent) -> None:
        self.check()
        self.intents.append(intent)
        self.log.append("intent")


@dataclass
class Bench:
    """A session and what stands around it."""

    session: Session
    driver: MemoryDriver
    recorder: Kept
    clock: list[float]
    ctx: SessionContext


@dataclass
class World:
    """What the sessions of one test share."""

    tags: HostTags
    approvals: ApprovalBook = field(default_factory=ApprovalBook)
    side_effects: set[str] = field(default_factory=set)
    recorder: Kept = field(default_factory=Kept)


Open = Callable[..., Any]


@pytest.fixture
async def open_session() -> AsyncIterator[Open]:
    """``await open_session(owner="a", pages=..., ...) -> Bench``; sessions of one test share a host."""
    counter = itertools.count(1)
    opened: list[Session] = []

    def entropy(count: int) -> bytes:
        return b"".join(next(counter).to_bytes(8, "big") for _ in range(-(-count // 8)))[:count]

    world = World(HostTags(entropy))

    async def build(
        owner: str = "alice", driver: MemoryDriver | None = None, gate: OriginGate | None = None, **changes: Any
    ) -> Bench:
        driver = driver or MemoryDriver(PAGES)
        gate = gate or OriginGate(allowed_origins=("https://shop.test",))
        raw = await driver.open(OpenSpec(target=Launch(), gate=gate, url=HOME))
        clock = [1_000_000.0]
        ctx = SessionContext(
            owner=owner,
            session_id=f"s{next(counter)}",
            driver_name=driver.info.name,
            capabilities=driver.info.capabilities,
            driver=raw,
            refs=RefTable.open(world.tags, owner, entropy),
            approvals=world.approvals,
            recorder=world.recorder,
            now=lambda: clock[0],
            entropy=entropy,
            new_id=lambda prefix: f"{prefix}-{next(counter)}",
            gate=gate,
            timeouts=Timeouts(wait=0.3, action=1.0, observe=1.0, close=0.5, navigation=2.0),
            limits=Limits(max_nodes=60, max_bytes=49_152),
            side_effects=world.side_effects,
            **changes,
        )
        session = Session(ctx, (await raw.pages())[0].page)
        opened.append(session)
        return Bench(session, driver, world.recorder, clock, ctx)

    yield build
    for session in opened:
        await session.close()
