"""Advice that was accepted, kept for as long as its conversation is open: the same question is not sent twice.

Given again is only what was asked by the same owner, of the same provider and model, about exactly the same content - also of what
the packet does not show - within the same bounds, and only while the conversation that it came out of is still open in the same
session, generation and profile. It is held against the repository anew each time. Anything in doubt is asked anew.
"""

from __future__ import annotations

import hashlib
import json
from collections import OrderedDict
from collections.abc import Callable
from typing import Final, NamedTuple

from ues_core.contract import Packet, ProviderInfo, ProviderSession, RawAnswer

KEPT: Final = 64
"""Answers that are kept (the consult cache of the reasoning reference)."""
SECONDS: Final = 1_800.0
"""How long one is kept: 30 min, as there."""


class SessionKey(NamedTuple):
    """Which conversation it is, as its provider names it."""

    handle: str
    generation: int
    profile: str

    @classmethod
    def of(cls, session: ProviderSession) -> SessionKey:
        """The key of a session."""
        return cls(session.handle, session.generation, session.profile)


class KeptAnswer(NamedTuple):
    """One accepted answer, and where it came from."""

    consultation: str
    raw: RawAnswer
    nonce: str
    session: SessionKey
    now: Callable[[], SessionKey | None]
    """The conversation of that consultation as it is now; ``None`` once it was released."""
    at: float


class AnswerShelf:
    """The accepted answers of one host, in memory alone."""

    def __init__(self) -> None:
        self._kept: OrderedDict[str, KeptAnswer] = OrderedDict()

    def find(self, key: str, now: float) -> KeptAnswer | None:
        """The answer to exactly this question, if its conversation is still open; one that is not is forgotten."""
        kept = self._kept.get(key)
        if kept is None:
            return None
        if not 0 <= now - kept.at <= SECONDS or kept.now() != kept.session:
            del self._kept[key]
            return None
        self._kept.move_to_end(key)
        return kept

    def keep(self, key: str, answer: KeptAnswer) -> None:
        """Keep an accepted answer; the one unused longest goes."""
        self._kept[key] = answer
        self._kept.move_to_end(key)
        while len(self._kept) > KEPT:
            self._kept.popitem(last=False)

    def forget(self, key: str) -> None:
        """It does not hold any more."""
        self._kept.pop(key, None)


def question_key(packet: Packet, *, provider: ProviderInfo, identity: str, model: str, owner: str, repository: str) -> str:
    """What makes two questions the same: content, bounds, provider, model, owner and place."""
    parts = [
        packet.content,
        packet.budget.model_dump(mode="json"),
        provider.model_dump(mode="json"),
        identity,
        model,
        owner,
        repository,
    ]
    return hashlib.sha256(json.dumps(parts, sort_keys=True, ensure_ascii=True).encode()).hexdigest()
