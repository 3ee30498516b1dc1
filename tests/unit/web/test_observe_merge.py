"""Merging frames, on a transport that is only data."""

from __future__ import annotations

import json
from typing import Any, cast

import pytest

from ues_core.contract import Collected, CollectRequest, DocumentGone, DriverError, FrameReach, TruncationReason
from ues_core.web.deadline import Clock
from ues_core.web.observe import collect, parse
from ues_core.web.transport import FrameView, WebTransport
from ues_core.web.verification import verification_service


class Frames:
    """Frames as scripted answers; ``None`` is a frame whose document went away."""

    def __init__(self, views: list[FrameView], answers: dict[str, str | None], owners: dict[str, int]) -> None:
        self.views, self.answers, self.owners = views, answers, owners
        self.asked: list[tuple[str, int]] = []

    def frames(self, page: str) -> tuple[FrameView, ...]:
        return tuple(self.views)

    async def evaluate(
        self, page: str, frame: str, function: str, argument: dict[str, Any], *, deadline: float, document: str = ""
    ) -> str:
        self.asked.append((frame, argument["max_nodes"]))
        answer = self.answers[frame]
        if answer is None:
            raise DocumentGone("gone")
        return answer

    async def frame_owner(self, page: str, frame: str, *, deadline: float) -> int:
        return self.owners[frame]


async def seen_by(transport: Frames, **request: Any) -> Collected:
    return await collect(cast(WebTransport, transport), "p1", CollectRequest(**request), Clock(5))


def answer(frame: str, names: list[tuple[str, int | None]], frames: list[dict[str, Any]] | None = None) -> str:
    nodes = [
        {"key": {"page": "p1", "frame": frame, "document": "D" + frame, "n": n + 1}, "name": name, "parent": parent}
        for n, (name, parent) in enumerate(names)
    ]
    body = json.dumps(
        {"surface": {"page": "p1", "document": "D" + frame}, "nodes": nodes, "candidates": len(nodes)}, separators=(",", ":")
    )
    return f"{json.dumps({'frames': frames, 'asked': 0})}\n{body}" if frames else body


def note(n: int, *, same: bool = True, shown: bool = True, parent: int | None = None, src: str = "") -> dict[str, Any]:
    return {"n": n, "same": same, "shown": shown, "seen": True, "parent": parent, "src": src, "map": [1, 0, 0, 1, 0, 0]}


MAIN = FrameView("", "", "D", "http://a.test/", False)
INNER = FrameView("F", "", "DF", "http://a.test/in", False)


async def test_nodes_of_frames_follow_with_parents_across() -> None:
    frames = Frames(
        [MAIN, INNER],
        {"": answer("", [("main", None), ("button", 0)], [note(9, parent=0)]), "F": answer("F", [("top", None), ("below", 0)])},
        {"F": 9},
    )
    seen = await seen_by(frames, max_nodes=10)
    assert [(node.name, node.parent) for node in seen.nodes] == [("main", None), ("button", 0), ("top", 0), ("below", 2)]
    assert (seen.candidates, seen.reasons) == (4, ())
    assert frames.asked == [("", 10), ("F", 8)], "the budget is one for all frames"


@pytest.mark.parametrize(
    ("note_", "reason"),
    [
        (note(9, same=False, src="http://b.test/"), TruncationReason.FRAME_NOT_TRAVERSED),
        (note(9, src="https://www.google.com/recaptcha/api2/anchor"), TruncationReason.HUMAN_VERIFICATION_FRAME),
        (note(5), TruncationReason.FRAME_NOT_TRAVERSED),
    ],
)
async def test_what_is_not_entered_is_named(note_: dict[str, Any], reason: TruncationReason) -> None:
    frames = Frames([MAIN, INNER], {"": answer("", [("main", None)], [note_]), "F": answer("F", [("x", None)])}, {"F": 9})
    seen = await seen_by(frames)
    assert seen.reasons == (reason,)
    assert [(frame.entered, frame.reason) for frame in seen.frames] == [(False, reason)]
    assert len(seen.nodes) == 1


async def test_a_frame_that_goes_away_is_unreadable_and_a_hidden_one_is_nothing() -> None:
    frames = Frames([MAIN, INNER], {"": answer("", [("main", None)], [note(9), note(8, shown=False)]), "F": None}, {"F": 9})
    seen = await seen_by(frames)
    assert seen.reasons == (TruncationReason.FRAME_UNREADABLE,)
    none = await seen_by(frames, frames=FrameReach.NONE)
    assert none.reasons == (TruncationReason.FRAME_NOT_TRAVERSED,)


async def test_a_frame_that_went_to_another_origin_meanwhile_is_not_entered() -> None:
    frames = Frames([MAIN, INNER], {"": answer("", [("main", None)], [note(9)]), "F": '{"foreign":true}'}, {"F": 9})
    seen = await seen_by(frames)
    assert seen.reasons == (TruncationReason.FRAME_NOT_TRAVERSED,)
    assert [frame.entered for frame in seen.frames] == [False]


async def test_a_full_budget_leaves_frames_out_and_says_so() -> None:
    frames = Frames([MAIN, INNER], {"": answer("", [("a", None)], [note(9)]), "F": answer("F", [("x", None)])}, {"F": 9})
    seen = await seen_by(frames, max_nodes=1)
    assert TruncationReason.NODE_BUDGET_EXCEEDED in seen.reasons
    assert seen.hidden_matches_partial


def test_what_is_no_observation_is_an_error_of_the_driver() -> None:
    with pytest.raises(DriverError):
        parse('{"surface": 1}')


@pytest.mark.parametrize(
    ("url", "name"),
    [
        ("https://newassets.hcaptcha.com/x", "hcaptcha"),
        ("https://challenges.cloudflare.com/turnstile", "turnstile"),
        ("https://www.google.com/maps", ""),
        ("https://evil-hcaptcha.com/", ""),
        ("http://[bad", ""),
        ("", ""),
    ],
)
def test_human_verification_services_are_known_by_their_hosts(url: str, name: str) -> None:
    assert verification_service(url) == name
