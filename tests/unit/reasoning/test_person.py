"""The hand-over to a person: a private file out, a complete file back, never the prompt itself."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from pathlib import Path

import pytest

from ues_core.contract import (
    AnswerOutcome,
    ChannelAnswer,
    ChannelKind,
    Code,
    ConsultChannel,
    ConsultRequest,
    NotSupported,
    Progress,
    ProgressKind,
    ProviderError,
    UsageError,
)
from ues_core.reasoning import NoChannel, PersonChannel, Relay, Tools, make_channel
from ues_core.reasoning.grant import granted
from ues_core.reasoning.person import is_prompt

PROMPT = "\n".join(f"Line {n} of a prompt about the repository and its many files." for n in range(40))
REQUEST = ConsultRequest(request_id="req-0001", nonce="nonce-0001", prompt=PROMPT, prompt_digest="d")


async def hand_over(relay: Relay, deadline: float = 10.0) -> ChannelAnswer:
    return await relay.hand_over(REQUEST, deadline=deadline, cancelled=lambda: False)


class Shown:
    """What the person was shown, and when."""

    def __init__(self) -> None:
        self.what: list[tuple[Path, Path, str]] = []
        self.event = asyncio.Event()

    def __call__(self, prompt: Path, answer: Path, text: str) -> None:
        self.what.append((prompt, answer, text))
        self.event.set()

    async def wait(self) -> None:
        await asyncio.wait_for(self.event.wait(), 30)


def append(path: Path, text: str) -> None:
    with path.open("a", encoding="utf-8") as file:
        file.write(text)


def names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


async def test_the_prompt_goes_out_and_the_answer_comes_back(tmp_path: Path) -> None:
    shown = Shown()
    relay = Relay(tmp_path / "relay", show=shown)
    work = asyncio.create_task(hand_over(relay))
    prompt, answer = relay.prompt_path(REQUEST), relay.answer_path(REQUEST)
    await shown.wait()
    assert prompt.read_text() == PROMPT
    if sys.platform != "win32":
        assert stat.S_IMODE(prompt.stat().st_mode) == 0o600
    part = answer.with_suffix(".tmp")
    part.write_text('{"nonce": "nonce-0001"}')
    os.replace(part, answer)
    result = await work
    assert (result.outcome, result.text) == (AnswerOutcome.ANSWERED, '{"nonce": "nonce-0001"}')
    assert shown.what == [(prompt, answer, PROMPT)]
    assert not prompt.exists()


async def test_a_file_that_still_grows_is_not_read_yet(tmp_path: Path) -> None:
    shown = Shown()
    relay = Relay(tmp_path, show=shown)
    work = asyncio.create_task(hand_over(relay))
    await shown.wait()
    for n in range(8):
        append(relay.answer_path(REQUEST), f"part {n} ")
        await asyncio.sleep(0.1)
    append(relay.answer_path(REQUEST), "end")
    assert (await work).text.endswith("part 7 end")


async def test_an_answer_that_is_the_prompt_is_refused(tmp_path: Path) -> None:
    relay = Relay(tmp_path)
    relay.answer_path(REQUEST).write_text("> " + PROMPT.upper().replace("\n", "\r\n> "))
    with pytest.raises(ProviderError) as refused:
        await hand_over(relay)
    assert refused.value.code is Code.ANSWER_IS_PROMPT
    assert not relay.prompt_path(REQUEST).exists()


async def test_nobody_answering_is_a_bounded_wait(tmp_path: Path) -> None:
    answer = await hand_over(Relay(tmp_path), deadline=0.05)
    assert answer.outcome is AnswerOutcome.TIMED_OUT
    assert "req-0001.answer.json" in answer.next_step
    assert not names(tmp_path)


async def test_cancelling_ends_the_wait_and_removes_the_prompt(tmp_path: Path, tools: Tools) -> None:
    shown = Shown()
    channel = PersonChannel(Relay(tmp_path, show=shown))
    facts = {"owner": "o", "consultation": "con-1", "provider": "p", "conversation": "c"}
    with granted(channel, tools, REQUEST, seconds=60.0, **facts):
        work = asyncio.create_task(channel.hand_over(REQUEST, deadline=60.0))
        await shown.wait()
        channel.cancel()
        assert (await work).outcome is AnswerOutcome.UNAVAILABLE
    assert not names(tmp_path)


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege on Windows")
async def test_a_link_is_no_answer(tmp_path: Path) -> None:
    secret = tmp_path / "secret.txt"
    secret.write_text("not for the consultant's channel")
    relay = Relay(tmp_path / "relay")
    (tmp_path / "relay").mkdir()
    relay.answer_path(REQUEST).symlink_to(secret)
    assert (await hand_over(relay, deadline=1.0)).outcome is AnswerOutcome.TIMED_OUT


async def test_an_answer_that_is_too_large_is_not_read(tmp_path: Path) -> None:
    relay = Relay(tmp_path)
    relay.answer_path(REQUEST).write_bytes(b"x" * 1_000_001)
    assert (await hand_over(relay)).outcome is AnswerOutcome.UNAVAILABLE


async def test_a_folder_that_cannot_be_made_is_the_operators_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("x")
    with pytest.raises(UsageError):
        await hand_over(Relay(tmp_path / "file" / "relay"))


@pytest.mark.parametrize(
    ("answer", "same"),
    [
        (PROMPT, True),
        (PROMPT + "\nHere is what I think.", True),
        (PROMPT.split("\n")[3], False),
        ('{"quote": "Line 3 of a prompt"}', False),
        ("", False),
    ],
)
def test_mostly_the_prompt_is_the_prompt(answer: str, same: bool) -> None:
    assert is_prompt(answer, PROMPT) is same


# -- channels --------------------------------------------------------------------------------------------------------


async def test_a_channel_refuses_the_methods_of_other_kinds(tmp_path: Path) -> None:
    channels: list[ConsultChannel] = [NoChannel(), PersonChannel(Relay(tmp_path))]
    for channel in channels:
        with pytest.raises(NotSupported) as refused:
            await channel.ask(REQUEST, deadline=1.0)
        assert refused.value.details["capability"] == "ask"
        with pytest.raises(NotSupported):
            await channel.open_entry(deadline=1.0)
    with pytest.raises(NotSupported):
        await NoChannel().hand_over(REQUEST, deadline=1.0)


@pytest.mark.parametrize("kind", [ChannelKind.WEB, ChannelKind.PERSON])
def test_what_this_host_cannot_offer_is_not_supported_by_name(kind: ChannelKind) -> None:
    with pytest.raises(NotSupported) as refused:
        make_channel(kind)
    assert refused.value.details["capability"] == f"channel-{kind}"


def test_a_provider_that_floods_its_progress_keeps_a_bounded_number() -> None:
    channel = NoChannel()
    for n in range(1_000):
        channel.progress(Progress(kind=ProgressKind.STREAMING, chars=n))
    assert len(channel.reports) == 200
    assert channel.reports[-1].chars == 999
