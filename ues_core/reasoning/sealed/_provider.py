"""``SealedProvider``: a provider whose code runs in a process of its own that can read its packages and nothing else."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any, Final, NoReturn, Self, TypeVar

from pydantic import JsonValue, ValidationError

from ues_core.contract import (
    AnswerOutcome,
    Authority,
    CapabilityReport,
    Code,
    ConsultChannel,
    ConsultRequest,
    Model,
    NotSupported,
    PluginError,
    ProviderError,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    UesError,
    UsageError,
)
from ues_core.contract.compatibility import incompatible
from ues_core.reasoning.sealed._desk import Desk, Talk
from ues_core.reasoning.sealed._link import ChildError, End, Link, ended
from ues_core.reasoning.sealed._models import EntryPointFacts, SealLimits, SealReport, report_of
from ues_core.reasoning.sealed._process import Child
from ues_core.reasoning.sealed._roots import roots_of
from ues_core.reasoning.sealed._targets import Targets
from ues_core.redact import redact_and_clip

_LOOK_SECONDS: Final = 0.1
"""How soon a cancellation that the host set on the channel reaches the child."""
_SESSIONS_MOST: Final = 64
_NOT_ITS_OWN: Final = frozenset(
    {
        Code.OK,
        Code.INTERNAL,
        Code.CANCELLED,
        Code.SECRET_OUTBOUND,
        Code.PROVIDER_UNTRUSTED,
        Code.SEAL_INCOMPLETE,
        Code.LEDGER_FAILED,
    }
    | {code for code in Code if code.startswith(("approval-", "provider-", "plugin-")) and code is not Code.PROVIDER_FAILED}
)
"""What the host alone can say: a provider that raises it has failed, and that is all."""
_SENTENCE: Final = 300

_M = TypeVar("_M", bound=Model)


class SealedProvider:
    """A ``WebReasoningProvider`` on the host's side of the seal. Open it with ``open_sealed``, close it with ``close``.

    Whatever goes wrong on the other side is a ``ProviderError`` here, with a code and ``details["outcome"]`` (a word of
    ``AnswerOutcome``). When its process had to be ended, every later call says so; nothing is started again by itself.
    """

    def __init__(self, facts: EntryPointFacts, limits: SealLimits, targets: Targets) -> None:
        self._facts = facts
        self._limits = limits
        self._targets = targets
        self._desk = Desk()
        self._talks: dict[str, Talk] = {}
        self._child: Child | None = None
        self._link: Link | None = None
        self._ending: asyncio.Task[None] | None = None
        self._info: ProviderInfo | None = None
        self._report: SealReport | None = None

    @property
    def info(self) -> ProviderInfo:
        """Who it says it is; validated once, before anything else of it was asked."""
        if self._info is None:
            raise UsageError("The provider was not opened.")
        return self._info

    @property
    def authority(self) -> Authority:
        """``consultant-only``."""
        return Authority.CONSULTANT_ONLY

    @property
    def report(self) -> SealReport:
        """What was found to be enforced, before any of its code ran."""
        if self._report is None:
            raise UsageError("The provider was not opened.")
        return self._report

    @property
    def ended(self) -> Code | None:
        """Why its process is no more; ``None`` while it runs."""
        return self._link.end.code if self._link is not None and self._link.end is not None else None

    @property
    def errors(self) -> str:
        """The tail of its error output, redacted: for the person who has to repair it."""
        return self._child.errors if self._child is not None else ""

    @property
    def pid(self) -> int | None:
        """The number of its process; ``None`` when it does not run."""
        return self._child.pid if self._child is not None and self._child.running else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.close()

    # -- the five methods --------------------------------------------------------------------------------------------

    async def capability(self) -> CapabilityReport:
        """Whether it could be consulted now."""
        return self._valid(CapabilityReport, await self._ask("capability", {}, self._limits.call_seconds))

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        """Start a conversation, or resume one; fails closed."""
        if len(self._talks) >= _SESSIONS_MOST:
            raise UsageError(f"A sealed provider holds {_SESSIONS_MOST} sessions at most.", next_step="Close some.")
        talk = Talk(channel)
        with self._desk.during(talk, None, self._limits.call_seconds) as call:
            params = {"call": call, "session": talk.word, "kind": str(channel.kind), "resume": resume}
            result = await self._ask("start_session", params, self._limits.call_seconds)
        session = self._valid(ProviderSession, result)
        if session.handle in self._talks:
            self._break("It gave one handle to two sessions.")
        talk.session = session
        self._talks[session.handle] = talk
        return session

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        """One exchange, within ``deadline`` seconds."""
        return await self._exchange("consult", session, request, deadline)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        """One more exchange of the same conversation."""
        return await self._exchange("follow_up", session, delta, deadline)

    async def close_session(self, session: ProviderSession) -> None:
        """Release the conversation. Idempotent; a provider that is no more has nothing to release."""
        talk = self._talks.pop(session.handle, None)
        if talk is None or talk.session is None or self.ended is not None:
            return
        with self._desk.during(talk, None, self._limits.call_seconds) as call:
            params = {"call": call, "session": talk.word, "handle": _plain(talk.session)}
            await self._ask("close_session", params, self._limits.call_seconds)

    # -- opening and closing -----------------------------------------------------------------------------------------

    async def open(self, options: Mapping[str, JsonValue], path: Sequence[str] | None, *, strict: bool) -> None:
        """Start, seal, measure, judge, and only then let the child import the plugin. Raises ``PluginError``."""
        entry, limits = self._facts.entry_point, self._limits
        roots = await asyncio.to_thread(roots_of, self._facts.distribution, entry.module, path)
        config = {
            "places": roots.places,
            "readable": roots.readable,
            "metadata": roots.metadata,
            "targets": self._targets.describe(limits.memory_bytes),
            "limits": {
                "AS": limits.memory_bytes,
                "CPU": limits.cpu_seconds,
                "NOFILE": limits.open_files,
                "FSIZE": 0,
                "CORE": 0,
            },
        }
        try:
            self._child = await Child.start(self._targets.work, config, limits)
        except OSError as error:
            raise self._failed(f"its process could not be started ({type(error).__name__})") from error
        self._link = Link(self._child.reader, self._child.writer, limits, self._desk.perform, self._ended)
        self._link.start()
        try:
            async with asyncio.timeout(limits.start_seconds):
                said = await asyncio.shield(self._link.sealed)
            self._report = report_of(said, self._targets.seen())
        except (TimeoutError, ProviderError, ValidationError, KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._incomplete("its process sent no report of its seal") from error
        finally:
            self._targets.stop()
        if strict and not self._report.complete:
            raise self._incomplete(
                f"not enforced: {', '.join(self._report.weak)} ({'; '.join(self._report.details)[:_SENTENCE]})"
            )
        self._child.watch(self._link.finish)
        await self._load(options)

    async def close(self) -> None:
        """End the process and everything it started, and remove its folder. Idempotent; safe on every path."""
        try:
            if self._link is not None and self._child is not None:
                self._link.finish(End(Code.CONSULTATION_CLOSED, "It was closed."))
                if self._ending is not None:
                    await asyncio.shield(self._ending)
        finally:
            self._targets.stop()
            await asyncio.to_thread(self._targets.remove)
            self._talks.clear()

    async def _load(self, options: Mapping[str, JsonValue]) -> None:
        entry = self._facts.entry_point
        params = {"name": entry.name, "value": entry.value, "options": dict(options)}
        assert self._link is not None
        try:
            result = await self._link.request("load", params, seconds=self._limits.start_seconds)
            self._info = ProviderInfo.model_validate(result)
        except ChildError as error:
            code = Code(error.code) if error.code in set(Code) - {Code.OK} else Code.PLUGIN_FAILED
            said = redact_and_clip(error.sentence, _SENTENCE)
            cause = "its import did not end in time" if error.cancelled else f"{error.kind}: {said}"
            raise self._failed(cause, code=code) from None
        except ProviderError as error:
            raise self._failed(error.sentence) from None
        except ValidationError as error:
            where = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))[:80]
            code = Code.AUTHORITY_VIOLATION if "authority" in where else Code.PLUGIN_DATA_INVALID
            raise self._failed(f"its info is invalid at {where}", code=code) from None
        version = self._info.contract_version
        other = incompatible(version, self._facts.distribution)
        if other is not None:
            raise self._failed(
                f"it speaks contract version {version}; this ues-core accepts {other.accepted}",
                code=Code.PLUGIN_INCOMPATIBLE,
                next_step=other.next_step,
            )
        if self._info.name != entry.name:
            raise self._failed(f"it calls itself {self._info.name}", code=Code.PLUGIN_DATA_INVALID)

    def _ended(self, end: End) -> None:
        self._ending = asyncio.create_task(self._end())

    async def _end(self) -> None:
        assert self._child is not None
        assert self._link is not None
        await self._child.end()
        await self._link.stop()

    # -- calls -------------------------------------------------------------------------------------------------------

    async def _exchange(self, method: str, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        talk = self._talks.get(session.handle)
        if talk is None or talk.session != session:
            raise ProviderError(
                "There is no such conversation.",
                code=Code.CONSULTATION_CLOSED,
                next_step="Start a session; a closed or unknown one is never taken up silently.",
                details={"outcome": str(AnswerOutcome.UNAVAILABLE)},
            )
        if talk.busy:
            raise UsageError("An exchange of this conversation is running.", next_step="Wait for it, or cancel it.")
        talk.busy = True
        passing = asyncio.create_task(self._pass_cancellation(talk))
        try:
            with self._desk.during(talk, request, deadline) as call:
                params = {
                    "call": call,
                    "session": talk.word,
                    "handle": _plain(session),
                    "request": _plain(request),
                    "deadline": deadline,
                }
                seconds = deadline + self._limits.grace_seconds
                result = await self._ask(method, params, seconds, most=self._limits.answer_bytes)
        finally:
            talk.busy = False
            passing.cancel()
            await asyncio.gather(passing, return_exceptions=True)
        return self._valid(RawAnswer, result)

    async def _pass_cancellation(self, talk: Talk) -> None:
        while not talk.channel.cancelled:  # noqa: ASYNC110 - the contract's channel has a word to look at, no event
            await asyncio.sleep(_LOOK_SECONDS)
        if self._link is not None:
            self._link.notify("cancelled", {"session": talk.word})

    async def _ask(self, method: str, params: dict[str, Any], seconds: float, most: int | None = None) -> Any:
        if self._link is None or self._info is None:
            raise UsageError("The provider was not opened.")
        try:
            return await self._link.request(method, params, seconds=seconds, most=most)
        except ChildError as error:
            raise _as_error(method, error) from None

    def _valid(self, model: type[_M], data: Any) -> _M:
        try:
            return model.model_validate(data)
        except ValidationError as error:
            where = ".".join(map(str, error.errors(include_url=False)[0]["loc"]))[:80]
            self._break(f"Its {model.__name__} is invalid at {where or 'the whole'}.")

    def _break(self, sentence: str) -> NoReturn:
        end = End(Code.PROVIDER_GARBAGE, sentence)
        if self._link is not None:
            self._link.finish(end)
        raise ended(end)

    def _failed(self, cause: str, *, code: Code = Code.PLUGIN_FAILED, next_step: str = "") -> PluginError:
        return PluginError(
            f"The plugin {self._facts.entry_point.name} of {self._facts.distribution} {self._facts.version} failed in its sealed "
            f"process: {cause.rstrip('.')}.",
            code=code,
            next_step=next_step or f"Repair or uninstall {self._facts.distribution}, or list it in disabled_plugins.",
            details={**self._names(), "cause": cause, "errors": self.errors[-_SENTENCE:]},
        )

    def _incomplete(self, cause: str) -> PluginError:
        return PluginError(
            f"The provider {self._facts.entry_point.name} of {self._facts.distribution} could not be sealed: {cause}.",
            code=Code.SEAL_INCOMPLETE,
            next_step="Run it where all of it can be enforced, or without strict.",
            details={**self._names(), "cause": cause, "errors": self.errors[-_SENTENCE:]},
        )

    def _names(self) -> dict[str, str]:
        entry = self._facts.entry_point
        return {
            "plugin": entry.name,
            "distribution": self._facts.distribution,
            "version": self._facts.version,
            "entry_point": entry.value,
        }


async def open_sealed(
    found: EntryPointFacts,
    *,
    options: Mapping[str, JsonValue] | None = None,
    limits: SealLimits | None = None,
    strict: bool = False,
    path: Sequence[str] | None = None,
) -> SealedProvider:
    """Start a provider in a sealed process; it has to be closed. ``async with await open_sealed(...) as provider`` does both.

    ``found``   its entry point and distribution, from metadata; nothing of it is imported in this process.
    ``strict``  refuse (``seal-incomplete``) when any area is not enforced; without it the report says so.
    ``path``    where distributions are looked for, default ``sys.path``.

    Raises ``PluginError``; then nothing is left running.
    """
    provider = SealedProvider(found, limits or SealLimits(), await asyncio.to_thread(Targets))
    try:
        await provider.open(options or {}, path, strict=strict)
    except BaseException:
        await provider.close()
        raise
    return provider


def _plain(model: Model) -> Any:
    return model.model_dump(mode="json", by_alias=True)


def _as_error(method: str, error: ChildError) -> UesError:
    """What the provider raised, as the host may see it: its code when the contract knows it, its words redacted."""
    if error.cancelled:
        return ProviderError(
            f"The provider did not come back from {method} in time.",
            code=Code.DEADLINE_EXCEEDED,
            next_step="Nothing is sent again by itself; go on without, or ask with a longer deadline.",
            details={"outcome": str(AnswerOutcome.TIMED_OUT)},
        )
    code = Code(error.code) if error.code in set(Code) - _NOT_ITS_OWN else Code.PROVIDER_FAILED
    kind = NotSupported if code is Code.NOT_SUPPORTED else ProviderError
    said = redact_and_clip(error.sentence, _SENTENCE)
    return kind(
        f"The provider failed in {method}: {error.kind}: {said}",
        code=code,
        # its words, and no advice of ours
        next_step=f"The provider says: {redact_and_clip(error.next_step, _SENTENCE)}" if error.next_step else "",
        details={"outcome": str(AnswerOutcome.UNAVAILABLE)},
    )
