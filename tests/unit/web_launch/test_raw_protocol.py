"""The protocol side of the raw connection, on a wire that a test plays."""

from __future__ import annotations

import asyncio
import json
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.contract import Code, DeadlineExceeded, DocumentGone, DriverError
from ues_driver_cdp_raw.connection import RawConnection, error_of
from ues_driver_cdp_raw.pipe import Frames


class PlayedWire:
    """Keeps what is sent; a test answers by hand."""

    def __init__(self) -> None:
        self.sent: list[dict[str, Any]] = []
        self.blocked = asyncio.Event()
        self.blocked.set()
        self.closed = 0
        self.breaks_on_close = False
        self.breaks_on_write: Exception | None = None

    async def write(self, data: bytes) -> None:
        if self.breaks_on_write is not None:
            raise self.breaks_on_write
        self.sent.append(json.loads(data))
        await self.blocked.wait()

    async def close(self) -> None:
        self.closed += 1
        if self.breaks_on_close:
            raise OSError("broken")


@pytest.fixture
async def wire() -> PlayedWire:
    return PlayedWire()


@pytest.fixture
async def connection(wire: PlayedWire) -> RawConnection:
    made = RawConnection()
    made.use(wire)
    return made


async def sent(
    connection: RawConnection, method: str, *, session: str = "", deadline: float = 30
) -> asyncio.Task[dict[str, Any]]:
    task = asyncio.create_task(connection.send(method, session=session, deadline=deadline))
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    return task


def says(connection: RawConnection, **message: Any) -> None:
    connection.feed(json.dumps(message).encode())


async def test_answers_find_their_commands_in_any_order(connection: RawConnection, wire: PlayedWire) -> None:
    first, second = await sent(connection, "A.a"), await sent(connection, "B.b", session="S")
    assert [(m["method"], m.get("sessionId")) for m in wire.sent] == [("A.a", None), ("B.b", "S")]
    says(connection, id=wire.sent[1]["id"], sessionId="S", result={"n": 2})
    says(connection, id=wire.sent[0]["id"], result={"n": 1})
    assert (await first, await second) == ({"n": 1}, {"n": 2})


async def test_an_answer_after_the_deadline_is_dropped(connection: RawConnection, wire: PlayedWire) -> None:
    with pytest.raises(DeadlineExceeded):
        await connection.send("A.a", deadline=0.01)
    says(connection, id=wire.sent[0]["id"], result={})
    assert connection.waiting == 0
    assert connection.faults == ()


async def test_a_deadline_that_has_passed_sends_nothing(connection: RawConnection, wire: PlayedWire) -> None:
    with pytest.raises(DeadlineExceeded):
        await connection.send("A.a", deadline=0)
    assert wire.sent == []


async def test_a_wire_that_does_not_take_the_message_is_bounded_too(connection: RawConnection, wire: PlayedWire) -> None:
    wire.blocked.clear()
    with pytest.raises(DeadlineExceeded):
        await connection.send("A.a", deadline=0.05)


async def test_a_wire_that_breaks_is_a_closed_session(connection: RawConnection, wire: PlayedWire) -> None:
    wire.breaks_on_write = BrokenPipeError("gone")
    with pytest.raises(DriverError) as caught:
        await connection.send("A.a", deadline=5)
    assert caught.value.code is Code.SESSION_CLOSED


async def test_a_cancelled_caller_leaves_nothing_behind(connection: RawConnection) -> None:
    task = await sent(connection, "A.a")
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert connection.waiting == 0


async def test_a_dead_session_fails_its_own_commands_and_those_below_it_only(connection: RawConnection) -> None:
    for parent, child in (("", "page"), ("page", "frame"), ("frame", "worker"), ("", "other")):
        says(
            connection,
            method="Target.attachedToTarget",
            sessionId=parent,
            params={"sessionId": child, "targetInfo": {"targetId": f"t-{child}"}},
        )
    doomed = [await sent(connection, "A.a", session=session) for session in ("page", "frame", "worker")]
    spared = [await sent(connection, "A.a", session=session) for session in ("other", "")]
    says(connection, method="Target.detachedFromTarget", params={"sessionId": "page"})
    for task in doomed:
        with pytest.raises(DriverError) as caught:
            await task
        assert caught.value.code is Code.PAGE_UNKNOWN
    assert not any(task.done() for task in spared)
    await connection.close()
    for task in spared:
        with pytest.raises(DriverError) as caught:
            await task
        assert caught.value.code is Code.SESSION_CLOSED


@pytest.mark.parametrize(
    ("event", "code"),
    [("Target.targetDestroyed", Code.PAGE_UNKNOWN), ("Target.targetCrashed", Code.PAGE_CRASHED)],
)
async def test_the_end_of_a_target_reaches_its_session(connection: RawConnection, event: str, code: Code) -> None:
    says(connection, method="Target.attachedToTarget", params={"sessionId": "s", "targetInfo": {"targetId": "t"}})
    task = await sent(connection, "A.a", session="s")
    says(connection, method=event, params={"targetId": "t"})
    with pytest.raises(DriverError) as caught:
        await task
    assert caught.value.code is code


async def test_the_first_reason_of_the_end_stays_and_pending_commands_carry_it(connection: RawConnection) -> None:
    task = await sent(connection, "A.a")
    connection.lost("the pipe broke")
    await connection.close()
    assert connection.closed.result() == "the pipe broke"
    with pytest.raises(DriverError) as caught:
        await task
    assert caught.value.details["reason"] == "the pipe broke"
    with pytest.raises(DriverError) as later:
        await connection.send("A.a", deadline=5)
    assert later.value.code is Code.SESSION_CLOSED


async def test_closing_twice_with_a_broken_wire_raises_nothing(connection: RawConnection, wire: PlayedWire) -> None:
    wire.breaks_on_close = True
    await connection.close()
    await connection.close()
    assert "broken" in connection.faults[0]


async def test_handlers_are_called_in_order_with_session_and_params(connection: RawConnection) -> None:
    seen: list[tuple[str, str, dict[str, Any]]] = []
    connection.on_event(lambda *event: seen.append(event))
    says(connection, method="X.one", params={"a": 1}, sessionId="s")
    says(connection, method="X.two")
    assert seen == [("s", "X.one", {"a": 1}), ("", "X.two", {})]


async def test_recorded_faults_are_bounded(connection: RawConnection) -> None:
    for _ in range(500):
        connection.feed(b"no json " + b"x" * 10_000)
    assert len(connection.faults) <= 50
    assert all(len(fault) <= 500 for fault in connection.faults)


WORDS = ("id", "method", "params", "result", "error", "sessionId", "targetInfo", "targetId")
METHODS = ("Target.attachedToTarget", "Target.detachedFromTarget", "Target.targetDestroyed", "Target.targetCrashed", "X.y")
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(WORDS) | st.text(), inner, max_size=4),
    max_leaves=10,
)
events = st.fixed_dictionaries({"method": st.sampled_from(METHODS), "params": json_values})
answers = st.fixed_dictionaries({"id": json_values}, optional={"result": json_values, "error": json_values})


@given(message=json_values | events | answers)
async def test_no_message_however_odd_ends_the_reader(message: Any) -> None:
    connection = RawConnection()
    connection.use(PlayedWire())
    connection.on_event(lambda session, method, params: None)
    connection.feed(json.dumps(message))
    assert not connection.closed.done()


@pytest.mark.parametrize(
    ("message", "kind", "code"),
    [
        ("Session with given id not found.", DriverError, Code.PAGE_UNKNOWN),
        ("No target with given id found", DriverError, Code.PAGE_UNKNOWN),
        ("Target crashed", DriverError, Code.PAGE_CRASHED),
        ("Inspected target navigated or closed", DocumentGone, Code.DOCUMENT_GONE),
        ("Execution context was destroyed.", DocumentGone, Code.DOCUMENT_GONE),
        ("Cannot find context with specified id", DocumentGone, Code.DOCUMENT_GONE),
        ("Could not find node with given id", DriverError, Code.DRIVER_FAILED),
    ],
)
def test_the_protocols_errors_become_ours_with_their_words_kept(message: str, kind: type, code: Code) -> None:
    error = error_of("A.a", {"code": -32000, "message": message})
    assert type(error) is kind
    assert error.code is code
    assert error.details == {"method": "A.a", "cdp_code": "-32000", "cdp_message": message}


# -- the pipe's frames -----------------------------------------------------------------------------------------------


@given(
    messages=st.lists(st.binary(max_size=40).map(lambda data: data.replace(b"\0", b"")), max_size=8),
    cuts=st.lists(st.integers(min_value=0, max_value=400), max_size=12),
)
def test_messages_are_the_same_however_the_bytes_are_cut(messages: list[bytes], cuts: list[int]) -> None:
    stream = b"".join(message + b"\0" for message in messages)
    edges = sorted({0, len(stream), *(cut for cut in cuts if cut < len(stream))})
    frames = Frames()
    got = [m for start, end in pairwise(edges) for m in frames.feed(stream[start:end])]
    assert got == messages


def test_a_large_message_is_joined_once() -> None:
    frames, chunk = Frames(), b"x" * 65_536
    for _ in range(2_000):
        assert list(frames.feed(chunk)) == []
    (whole,) = frames.feed(b"\0")
    assert len(whole) == 2_000 * 65_536


def test_a_message_beyond_the_limit_is_refused() -> None:
    frames = Frames(limit=100)
    assert list(frames.feed(b"x" * 100)) == []
    with pytest.raises(ValueError, match="larger"):
        list(frames.feed(b"x"))
