"""The host's desk for the child's calls: each carries the unguessable word of a call of the host that is running, and is
performed by the real channel of that call's session, with that call's own request and within that call's deadline."""

from __future__ import annotations

import asyncio
import secrets
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any, Final

from pydantic import Field, ValidationError

from ues_core.contract import (
    Code,
    ConsultChannel,
    ConsultRequest,
    Model,
    Progress,
    ProviderError,
    ProviderSession,
    UsageError,
)

_WORD_BYTES: Final = 16
_TOGGLES_MOST: Final = 40
_DEADLINE_MOST: Final = 86_400.0


@dataclass(slots=True)
class Talk:
    """One session: its word, the real channel, and the handle that the provider gave it."""

    channel: ConsultChannel
    word: str = field(default_factory=lambda: secrets.token_hex(_WORD_BYTES))
    session: ProviderSession | None = None
    busy: bool = False


@dataclass(frozen=True, slots=True)
class _Running:
    talk: Talk
    request: ConsultRequest | None
    until: float
    work: set[asyncio.Task[Any]] = field(default_factory=set)


class _Call(Model):
    call: str = Field(max_length=64)


class _Report(_Call):
    progress: Progress


class _Probe(_Call):
    deadline: float = Field(gt=0, le=_DEADLINE_MOST)


class _Entry(_Probe):
    handle: str | None = Field(default=None, max_length=400)


class _Toggles(_Probe):
    wanted: dict[str, bool] = Field(max_length=_TOGGLES_MOST)


class _Ask(_Probe):
    request_id: str = Field(max_length=64)


class Desk:
    """Which calls are running, and what the child may do in them."""

    def __init__(self) -> None:
        self._running: dict[str, _Running] = {}

    @contextmanager
    def during(self, talk: Talk, request: ConsultRequest | None, seconds: float) -> Iterator[str]:
        """While a call of the host runs; gives its word."""
        word = secrets.token_hex(_WORD_BYTES)
        running = self._running[word] = _Running(talk, request, time.monotonic() + seconds)
        try:
            yield word
        finally:
            del self._running[word]
            for task in tuple(running.work):
                task.cancel()

    async def perform(self, method: str, params: dict[str, Any]) -> Any:
        """Perform one call of the child. Raises ``UesError`` to refuse it."""
        try:
            return await self._perform(method, params)
        except ValidationError as error:
            where = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))[:80]
            raise UsageError(f"The call {method[:40]} does not fit the contract at {where}.") from None

    async def _perform(self, method: str, params: dict[str, Any]) -> Any:
        match method:
            case "channel.progress":
                report = _Report.model_validate(params)
                self._call(report.call).talk.channel.progress(report.progress)
                return None
            case "channel.probe":
                probe = _Probe.model_validate(params)
                running, seconds = self._bounded(probe)
                return _plain(await _in(seconds, running.talk.channel.probe(deadline=seconds)))
            case "channel.open_entry":
                entry = _Entry.model_validate(params)
                running, seconds = self._bounded(entry)
                return _plain(await _in(seconds, running.talk.channel.open_entry(handle=entry.handle, deadline=seconds)))
            case "channel.set_toggles":
                toggles = _Toggles.model_validate(params)
                running, seconds = self._bounded(toggles)
                return dict(await _in(seconds, running.talk.channel.set_toggles(toggles.wanted, deadline=seconds)))
            case "channel.ask" | "channel.hand_over":
                ask = _Ask.model_validate(params)
                running, seconds = self._bounded(ask)
                request = running.request
                if request is None or request.request_id != ask.request_id:
                    raise UsageError("That request is not the one of the exchange that is running.")
                channel = running.talk.channel
                doing = channel.ask if method == "channel.ask" else channel.hand_over
                return _plain(await _in(seconds, doing(request, deadline=seconds)))
            case _:
                raise UsageError("There is no such call.", code=Code.NOT_SUPPORTED)

    def _call(self, word: str) -> _Running:
        running = self._running.get(word)
        if running is None:
            raise UsageError("No exchange of that session is running, so its channel does nothing.")
        return running

    def _bounded(self, call: _Probe) -> tuple[_Running, float]:
        running = self._call(call.call)
        left = running.until - time.monotonic()
        if left <= 0:
            raise ProviderError("The deadline of the exchange has passed.", code=Code.DEADLINE_EXCEEDED)
        task = asyncio.current_task()
        if task is not None:
            running.work.add(task)
            task.add_done_callback(running.work.discard)
        return running, min(call.deadline, left)


async def _in(seconds: float, work: Any) -> Any:
    try:
        async with asyncio.timeout(seconds + 1.0):
            return await work
    except TimeoutError:
        raise ProviderError("The channel did not come back in time.", code=Code.DEADLINE_EXCEEDED) from None


def _plain(model: Model) -> Any:
    return model.model_dump(mode="json", by_alias=True)
