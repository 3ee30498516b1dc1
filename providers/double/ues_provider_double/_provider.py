"""The double: a provider without a way out that answers by rules or by a script. Never a real second opinion."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ues_core.contract import (
    AnswerOutcome,
    Authority,
    CapabilityReport,
    CapabilityState,
    ChannelKind,
    Code,
    ConfigError,
    ConsultChannel,
    ConsultRequest,
    Progress,
    ProgressKind,
    ProviderCapabilities,
    ProviderError,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
)
from ues_provider_double._handles import conversation_of, handle_of
from ues_provider_double._moods import Mood, answer_text
from ues_provider_double._prompt import Place, mood_in, places_in

SESSIONS: Final = 64
SCRIPT_BYTES: Final = 1_000_000
_CAPABILITIES: Final = ProviderCapabilities(
    follow_up=True, resume=True, max_prompt_chars=2_000_000, max_follow_ups=16, models=("double-1",), deterministic=True
)


@dataclass(slots=True)
class _Conversation:
    channel: ConsultChannel
    places: list[Place] = field(default_factory=list)
    exchanges: int = 0
    wished: bool = False
    """Whether it asked for evidence; a consultant that was answered does not ask again."""
    generation: int = 1


@dataclass(frozen=True, slots=True)
class Rule:
    """``mood`` when the prompt contains ``contains``."""

    contains: str
    mood: Mood


class DoubleProvider:
    """Answers deterministically.

    The mood of an exchange is, in this order: the script's next entry; the first rule whose text stands in the prompt; the mood
    that the prompt asks for (``double-mood: badly``); the default ``mood``. ``script`` is a JSON file, a list of moods or of
    literal answers: ``["well", {"text": "..."}, {"mood": "late"}]``; after its last entry the other rules decide.
    """

    def __init__(
        self,
        *,
        mood: Mood | str = Mood.WELL,
        rules: Sequence[Rule] = (),
        script: str | Path | None = None,
        delay: float = 0.0,
    ) -> None:
        self._mood = _mood(mood, "the option mood")
        self._rules = tuple(rules)
        self._script = _read_script(Path(script)) if script is not None else []
        self._delay = max(0.0, min(delay, 600.0))
        self._conversations: dict[str, _Conversation] = {}
        self._count = 0

    @property
    def info(self) -> ProviderInfo:
        """Who it is."""
        return ProviderInfo(
            name="double",
            channel=ChannelKind.NONE,
            capabilities=_CAPABILITIES,
            description="Deterministic answers by rules or a script; for tests and demonstrations.",
        )

    @property
    def authority(self) -> Authority:
        """``consultant-only``."""
        return Authority.CONSULTANT_ONLY

    async def capability(self) -> CapabilityReport:
        """Ready, unless its default mood is to need a login."""
        if self._mood is Mood.NEEDS_AUTH:
            return CapabilityReport(
                state=CapabilityState.NEEDS_AUTH, reason="the double plays logged out", next_step="Set another mood."
            )
        return CapabilityReport(state=CapabilityState.READY)

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        """Start a conversation, or take one up again by the handle of its last answer; an unknown handle is refused."""
        if len(self._conversations) >= SESSIONS:
            raise ProviderError(f"The double holds {SESSIONS} conversations already.", next_step="Close some.")
        if resume is not None:
            return self._resumed(channel, resume)
        self._count += 1
        handle = f"double-{self._count}"
        self._conversations[handle] = _Conversation(channel)
        return ProviderSession(handle=handle)

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        """Answer in the mood of the exchange."""
        return await self._exchange(session, request, deadline)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        """Answer again; places that the first prompt showed are remembered."""
        return await self._exchange(session, delta, deadline)

    async def close_session(self, session: ProviderSession) -> None:
        """Forget the conversation."""
        self._conversations.pop(session.handle, None)

    # -- private

    def _resumed(self, channel: ConsultChannel, handle: str) -> ProviderSession:
        known = conversation_of(handle)
        if known is None:
            raise ProviderError(
                "This handle is none of the double's.", code=Code.RESUME_REFUSED, next_step="Start another consultation."
            )
        if handle in self._conversations:
            raise ProviderError("This conversation is open already.", code=Code.RESUME_REFUSED, next_step="Close it first.")
        generation, exchanges, places = known
        self._conversations[handle] = _Conversation(channel, places, exchanges, generation=generation + 1)
        return ProviderSession(handle=handle, generation=generation + 1, resumed=True)

    async def _exchange(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        conversation = self._conversations.get(session.handle)
        if conversation is None:
            raise ProviderError("This conversation is not one of the double's.", next_step="Start a session first.")
        conversation.exchanges += 1
        conversation.places = places_in(request.prompt) or conversation.places
        conversation.channel.progress(Progress(kind=ProgressKind.STARTED))
        if self._delay:
            await asyncio.sleep(self._delay)
        literal, mood = self._next(request.prompt)
        if literal is not None:
            return _raw(request, session, text=literal.replace("{nonce}", request.nonce), conversation=conversation)
        return await self._in_mood(mood, session, request, conversation, deadline)

    def _next(self, prompt: str) -> tuple[str | None, Mood]:
        if self._script:
            entry = self._script.pop(0)
            # a Mood is a str as well, so it is asked for first
            return (None, entry) if isinstance(entry, Mood) else (entry, self._mood)
        for rule in self._rules:
            if rule.contains in prompt:
                return None, rule.mood
        asked = mood_in(prompt)
        return None, Mood(asked) if asked in tuple(Mood) else self._mood

    async def _in_mood(
        self, mood: Mood, session: ProviderSession, request: ConsultRequest, conversation: _Conversation, deadline: float
    ) -> RawAnswer:
        match mood:
            case Mood.LATE:
                # sleeps beyond its deadline whatever that is, so the host's own bound has to end it
                await asyncio.sleep(deadline * 2 + 1)
            case Mood.SILENT:
                return _raw(request, session, text="")
            case Mood.PROMPT_ECHO:
                return _raw(request, session, text=request.prompt)
            case Mood.RAISES:
                raise RuntimeError("the double was told to raise")
            case Mood.NEEDS_AUTH | Mood.RATE_LIMITED | Mood.TRUNCATED:
                return RawAnswer(
                    request_id=request.request_id,
                    outcome=AnswerOutcome(mood.value),
                    reason=f"the double plays {mood}",
                    generation=session.generation,
                    submitted=True,
                )
            case _:
                pass
        conversation.channel.progress(Progress(kind=ProgressKind.FINISHED))
        if conversation.wished and mood in (Mood.WANTS_EVIDENCE, self._mood):
            mood = Mood.GROUNDED
        conversation.wished = conversation.wished or mood is Mood.WANTS_EVIDENCE
        text = answer_text(mood, request.nonce, conversation.places)
        return _raw(request, session, text=text, conversation=conversation)


def _raw(
    request: ConsultRequest, session: ProviderSession, *, text: str, conversation: _Conversation | None = None
) -> RawAnswer:
    """An answer; with its conversation, one that says how to take it up again."""
    return RawAnswer(
        request_id=request.request_id,
        outcome=AnswerOutcome.ANSWERED,
        text=text,
        model_observed="double-1",
        generation=session.generation,
        session=session.handle,
        resume_handle=handle_of(session.generation, conversation.exchanges, conversation.places) if conversation else "",
        submitted=True,
    )


# -- options ---------------------------------------------------------------------------------------------------------


def from_options(options: Mapping[str, Any]) -> DoubleProvider:
    """The provider for the table ``[providers.double]``: ``mood``, ``rules``, ``script``, ``delay``. Raises ``ConfigError``."""
    unknown = set(options) - {"mood", "rules", "script", "delay"}
    if unknown:
        raise _invalid(f"there is no option '{sorted(unknown)[0]}'")
    rules = options.get("rules", [])
    if not isinstance(rules, list) or not all(isinstance(r, Mapping) and isinstance(r.get("contains"), str) for r in rules):
        raise _invalid("rules is a list of tables with 'contains' and 'mood'")
    delay = options.get("delay", 0.0)
    if isinstance(delay, bool) or not isinstance(delay, int | float):
        raise _invalid("delay is a number of seconds")
    script = options.get("script")
    if script is not None and not isinstance(script, str):
        raise _invalid("script is the path of a JSON file")
    return DoubleProvider(
        mood=str(options.get("mood", Mood.WELL)),
        rules=[Rule(r["contains"], _mood(str(r.get("mood", "")), "a rule's mood")) for r in rules],
        script=script,
        delay=float(delay),
    )


def _mood(word: Mood | str, where: str) -> Mood:
    try:
        return Mood(word)
    except ValueError:
        raise _invalid(f"{where} is one of {', '.join(Mood)}, not '{word}'") from None


def _read_script(path: Path) -> list[Mood | str]:
    """The entries of a script: moods, and literal texts in which ``{nonce}`` stands for the request's nonce."""
    try:
        with path.open("rb") as file:
            raw = file.read(SCRIPT_BYTES + 1)
        entries = json.loads(raw) if len(raw) <= SCRIPT_BYTES else None
    except (OSError, ValueError, RecursionError) as error:
        raise _invalid(f"the script '{path}' cannot be read as JSON ({type(error).__name__})") from None
    if not isinstance(entries, list):
        raise _invalid(f"the script '{path}' is no JSON list of at most {SCRIPT_BYTES} bytes")
    found: list[Mood | str] = []
    for number, entry in enumerate(entries, 1):
        match entry:
            case str():
                found.append(_mood(entry, f"entry {number} of the script"))
            case {"mood": str(word)}:
                found.append(_mood(word, f"entry {number} of the script"))
            case {"text": str(text)}:
                found.append(text)
            case _:
                raise _invalid(f"entry {number} of the script is neither a mood nor a text")
    return found


def _invalid(what: str) -> ConfigError:
    return ConfigError(
        f"The options of the provider 'double' are wrong: {what}.",
        code=Code.CONFIG_INVALID,
        next_step="Correct the table [providers.double].",
    )
