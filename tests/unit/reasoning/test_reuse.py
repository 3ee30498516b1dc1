"""The same question twice in one session: nothing is sent, the advice is judged again; whatever differs is asked anew."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from ues_core.contract import (
    ChannelKind,
    Code,
    ConsultOutcome,
    ConsultReceipt,
    EvidenceKind,
    EvidenceRow,
    ProviderSession,
    ReasoningMode,
    UsageError,
)
from ues_core.reasoning import ConsultantOnly, Consultation, PacketInputs, Tools, make_channel
from ues_core.reasoning.accuracy._scripted import Scripted
from ues_core.reasoning.report import consultation_report
from ues_core.reasoning.reuse import KEPT, SECONDS, AnswerShelf, KeptAnswer, SessionKey

TASK = "Why does the cache keep expired values? The root cause is unclear."
Write = Callable[[Path, str, str], Path]
Make = Callable[..., Consultation]


@pytest.fixture
def shelf() -> AnswerShelf:
    return AnswerShelf()


@pytest.fixture
def make(repository: Path, tools: Tools, shelf: AnswerShelf) -> Make:
    def build(provider: Any, *, owner: str = "ann", model: str = "", identity: str = "double 1", **inputs: Any) -> Consultation:
        return Consultation(
            provider=ConsultantOnly(provider),
            mode=ReasoningMode.FORCE,
            inputs=PacketInputs(task=TASK, repo=repository, **inputs),
            tools=replace(tools, answers=shelf, provider=identity),
            open_channel=lambda: make_channel(ChannelKind.NONE),
            owner=owner,
            model=model,
        )

    return build


async def test_the_same_question_is_answered_from_memory_and_nothing_is_sent(
    make: Make, receipts: list[ConsultReceipt]
) -> None:
    provider = Scripted([{}])
    first = await make(provider).run()
    second = await make(provider).run()
    assert len(provider.prompts) == 1
    assert (second.outcome, second.reused, second.sent) == (ConsultOutcome.ANSWERED, first.id, False)
    assert first.advice is not None
    assert second.advice is not None
    assert second.advice.bindings == first.advice.bindings
    assert (receipts[1].reused, receipts[1].prompt_chars, receipts[1].request_id) == (first.id, 0, "")
    assert consultation_report(second)["sent"] is None
    with pytest.raises(UsageError) as refused:
        await second.follow_up("And?")
    assert refused.value.code is Code.CONSULTATION_CLOSED
    await first.close()


async def test_whatever_differs_is_asked_anew(make: Make, repository: Path, write_file: Write) -> None:
    provider = Scripted([{}])
    first = await make(provider).run()
    row = EvidenceRow(evidence=EvidenceKind.TOOL_OUTPUT, source="x", text="seen")
    different: list[dict[str, Any]] = [
        {"owner": "bob"},
        {"model": "other"},
        {"identity": "double 2"},
        {"evidence": (row,)},
        {"constraints": ("MUST",)},
        {"failing_log": "it broke"},
    ]
    held = [first]
    for more in different:
        held.append(await make(provider, **more).run())
        assert not held[-1].reused, more
    write_file(repository, "docs/elsewhere.md", "A file that no packet about the task shows.\n")
    held.append(await make(provider).run())
    assert not held[-1].reused
    assert len(provider.prompts) == len(different) + 2
    for consultation in held:
        await consultation.close()


async def test_a_conversation_that_was_closed_or_became_another_answers_nothing(make: Make) -> None:
    provider = Scripted([{}])
    first = await make(provider).run()
    assert first._session is not None
    first._session = ProviderSession(handle="case", profile="somebody-else")
    second = await make(provider).run()
    assert not second.reused
    await second.close()
    await first.close()
    third = await make(provider).run()
    assert not third.reused
    assert len(provider.prompts) == 3
    await third.close()


async def test_advice_that_does_not_hold_any_more_is_not_given_again(
    make: Make, repository: Path, write_file: Write, monkeypatch: pytest.MonkeyPatch
) -> None:
    provider = Scripted([{}])
    first = await make(provider).run()
    # the same key by force: even then the advice is held against what is there now
    monkeypatch.setattr("ues_core.reasoning.steps.question_key", lambda *args, **more: first._key)
    write_file(repository, "src/shop/cache.py", "# nothing is compared any more\n")
    second = await make(provider).run()
    assert not second.reused
    assert second.outcome is ConsultOutcome.REJECTED
    await first.close()
    await second.close()


@pytest.mark.parametrize("answer", [{"confidence": 0.1}, {"claims": []}, {"summary": "Final verdict: pass."}])
async def test_only_accepted_advice_is_kept(make: Make, answer: dict[str, Any]) -> None:
    provider = Scripted([answer])
    for _ in range(2):
        consultation = await make(provider).run()
        assert consultation.outcome is ConsultOutcome.REJECTED
        await consultation.close()
    assert len(provider.prompts) == 2


def test_the_shelf_is_bounded_in_number_and_in_time() -> None:
    shelf, session = AnswerShelf(), SessionKey("h", 1, "")
    answer: Any = None
    for n in range(KEPT + 1):
        answer = KeptAnswer(f"con-{n}", answer, "nonce", session, lambda: session, 0.0)
        shelf.keep(str(n), answer)
    assert shelf.find("0", 1.0) is None
    assert shelf.find("1", 1.0) is not None
    assert shelf.find("1", SECONDS + 1) is None
    assert shelf.find("2", -1.0) is None
