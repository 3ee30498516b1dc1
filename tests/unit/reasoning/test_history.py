"""The folder of kept consultations, and whose answers are read."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from ues_core.contract import (
    ChannelKind,
    Code,
    ConsultOutcome,
    ConsultRequest,
    ProviderSession,
    RawAnswer,
    ReasoningMode,
    UsageError,
)
from ues_core.reasoning import ConsultantOnly, Consultation, PacketInputs, Tools, make_channel
from ues_core.reasoning.history import KEPT_MOST, HistoryStore, Identity, KeptConsultation, KeptInputs
from ues_provider_double import DoubleProvider


def kept(number: int, **more: Any) -> KeptConsultation:
    return KeptConsultation(
        consultation=f"con-{number:04}",
        provider=Identity(name="double"),
        mode=ReasoningMode.AUTO,
        inputs=KeptInputs(task="t"),
        changed_at=float(number),
        **more,
    )


def test_what_was_kept_is_read_back_and_the_latest_stands_first(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path)
    assert store.all() == ()
    for number in (1, 3, 2):
        store.keep(kept(number))
    assert [k.consultation for k in store.all()] == ["con-0003", "con-0002", "con-0001"]
    assert not [p for p in (tmp_path / "consultations").iterdir() if p.suffix != ".json"]


def test_the_oldest_are_dropped(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path)
    for number in range(KEPT_MOST + 3):
        store.keep(kept(number))
        os.utime(tmp_path / "consultations" / f"con-{number:04}.json", (number, number))
    store.keep(kept(9_999))
    assert len(store.all()) == KEPT_MOST
    with pytest.raises(UsageError):
        store.get("con-0000")


@pytest.mark.parametrize("content", [b"", b"{", b"{}", b"\x00" * 2_000_000])
def test_a_damaged_file_is_refused_and_does_not_hide_the_others(tmp_path: Path, content: bytes) -> None:
    store = HistoryStore(tmp_path)
    store.keep(kept(1))
    (tmp_path / "consultations" / "con-0002.json").write_bytes(content)
    with pytest.raises(UsageError) as refused:
        store.get("con-0002")
    assert refused.value.code is Code.CONSULTATION_UNKNOWN
    assert [k.consultation for k in store.all()] == ["con-0001"]


def test_a_link_is_never_followed(tmp_path: Path) -> None:
    store = HistoryStore(tmp_path)
    store.keep(kept(1))
    secret = tmp_path / "secret.json"
    (tmp_path / "consultations" / "con-0001.json").rename(secret)
    (tmp_path / "consultations" / "con-0001.json").symlink_to(secret)
    with pytest.raises(UsageError):
        store.get("con-0001")


@pytest.mark.parametrize("name", ["../x", "con-../x", "", "con-", "con-a/b", "con-\0", "key"])
def test_nothing_but_an_id_becomes_a_path(tmp_path: Path, name: str) -> None:
    with pytest.raises(UsageError):
        HistoryStore(tmp_path).get(name)


@pytest.mark.parametrize(
    ("change", "ours"),
    [
        ({}, True),
        ({"request_id": "req-of-another"}, False),
        ({"session": "another-conversation"}, False),
        ({"generation": 2}, False),
        ({"profile": "private"}, False),
    ],
)
async def test_a_late_answer_is_known_by_request_conversation_generation_and_profile(
    repository: Path, tools: Tools, change: dict[str, Any], ours: bool
) -> None:
    class Late(DoubleProvider):
        async def start_session(self, channel: Any, resume: str | None = None) -> ProviderSession:
            return (await super().start_session(channel, resume)).model_copy(update={"profile": "work"})

        async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
            raw = await super().consult(session, request, deadline)
            return raw.model_copy(update={"profile": "work"} | change)

    consultation = Consultation(
        provider=ConsultantOnly(Late(mood="grounded")),
        mode=ReasoningMode.AUTO,
        inputs=PacketInputs(task="Why does the cache keep expired values? The root cause is unclear.", repo=repository),
        tools=tools,
        open_channel=lambda: make_channel(ChannelKind.NONE),
    )
    await consultation.run()
    if ours:
        assert consultation.outcome is ConsultOutcome.ANSWERED
    else:
        assert (consultation.cause, consultation.code) == (ConsultOutcome.STALE_ANSWER, Code.ANSWER_STALE)
        assert consultation.advice is None
    await consultation.close()
