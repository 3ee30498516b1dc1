"""A call with arguments of the wrong kind is the kit's own error that names the argument; nothing is opened or asked."""

from __future__ import annotations

from typing import Any

import pytest

from ues_core.config import Settings
from ues_core.contract import UesError, UsageError
from ues_core.host import open_host

A = "https://a.test/"


@pytest.mark.parametrize(
    "arguments",
    [
        {"url": 5},
        {"attach": ""},
        {"attach": "x" * 2_001},
        {"attach": "\ud800"},
        {"profile": []},
        {"allowed_origins": 5},
        {"allowed_origins": [5]},
        {"headless": None},
        {"timeouts": 5},
        {"storage_state": "x"},
    ],
)
async def test_a_session_with_such_arguments_is_not_opened(host_settings: Settings, arguments: dict[str, Any]) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(UsageError) as refused:
            await host.session("alice", **arguments)
        assert refused.value.details["argument"] in arguments
        assert refused.value.next_step
        assert await host.release("alice") == 0


@pytest.mark.parametrize(
    ("call", "arguments"),
    [
        ("observe", {"max_nodes": 1.5}),
        ("observe", {"max_nodes": "x"}),
        ("observe", {"max_nodes": 0}),
        ("observe", {"max_nodes": -1}),
        ("observe", {"verify_coverage": "x"}),
        ("observe", {"boxes": 1}),
        ("observe", {"cursor": 5}),
        ("observe", {"within": 5}),
        ("observe", {"since": "x"}),
        ("evidence", {"since": ""}),
        ("evidence", {"limit": ""}),
        ("evidence", {"kinds": 5}),
        ("read", {"ref": "x", "limit": ""}),
        ("read", {"ref": None}),
        ("extract", {"limit": 0}),
        ("extract", {"max_items": ""}),
        ("act_many", {"actions": {"verb": "reload"}}),
    ],
)
async def test_a_call_with_such_arguments_is_refused_and_the_session_goes_on(
    host_settings: Settings, call: str, arguments: dict[str, Any]
) -> None:
    async with open_host(host_settings) as host:
        session = await host.session("alice", url=A)
        with pytest.raises(UesError):
            await getattr(session, call)(**arguments)
        assert (await session.observe()).nodes


@pytest.mark.parametrize(
    "arguments",
    [
        {"task": None},
        {"task": " "},
        {"repo": 5},
        {"repo": "x" * 200_000},
        {"provider": 5},
        {"providers": 5},
        {"constraints": None},
        {"constraints": "one"},
        {"evidence": 5},
        {"attempts": 5},
        {"questions": "one"},
        {"files": [5]},
        {"requirements": [None]},
        {"tier": "huge"},
        {"failing_log": b"x"},
        {"seconds": float("nan")},
        {"seconds": float("inf")},
        {"seconds": 0},
        {"seconds": -1},
        {"reuse": "no"},
        {"owner": 5},
        {"relay_dir": 5},
        {"facts": [1]},
        {"facts": {"colour": "red"}},
        {"facts": {"local_confidence": 2}},
    ],
)
async def test_a_question_with_such_arguments_is_not_asked(host_settings: Settings, arguments: dict[str, Any]) -> None:
    async with open_host(host_settings) as host:
        with pytest.raises(UsageError) as refused:
            await host.consult(**{"task": "why?", **arguments})
        assert refused.value.details["argument"] in arguments


async def test_approving_and_revoking_nonsense_is_refused(host_settings: Settings) -> None:
    async with open_host(host_settings) as host:
        session = await host.session("alice", url=A)
        wrong: list[tuple[Any, Any]] = [(None, {}), (session, {"verb": "reload"})]
        for arguments in wrong:
            with pytest.raises(UesError):
                await host.approve(*arguments)
        times: list[Any] = ["x", 0, -1, float("nan"), True]
        for seconds in times:
            with pytest.raises(UsageError):
                await host.approve(session, {"verb": "reload"}, seconds=seconds)
        assert host.revoke([]) is False  # type: ignore[arg-type]


async def test_following_up_and_lanes_take_no_nonsense_either(host_settings: Settings) -> None:
    async with open_host(host_settings) as host:
        lane: Any = host.lane("alice")
        gates: list[tuple[Any, ...]] = [(None, "click"), ([], "click"), ("c1", 5)]
        gates += [("c1", "click", wrong) for wrong in (5, [1], {1: 2}, "text")]
        for arguments in gates:
            with pytest.raises(UsageError):
                lane.gate(*arguments)
        receipts: list[dict[str, Any]] = [{"call_id": []}, {"call_id": "c1", "result": 5}, {"call_id": "c1", "error": 5}]
        for named in receipts:
            with pytest.raises(UsageError):
                lane.receipt(**named)
        questions: list[tuple[Any, Any]] = [(5, "why?"), ("", "why?"), ("con-1", 5), ("con-1", "")]
        for question in questions:
            with pytest.raises(UsageError):
                await host.follow_up(*question)
        assert lane.gate("c1", "observe").allowed
