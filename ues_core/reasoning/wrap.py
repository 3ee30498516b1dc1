"""The host's side of a provider: five methods, each bounded in time, its results validated, its authority checked every time."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, Final, NoReturn, TypeVar

from pydantic import ValidationError

from ues_core.contract import (
    Authority,
    CapabilityReport,
    Code,
    ConsultChannel,
    ConsultRequest,
    Model,
    ProviderError,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    UesError,
    WebReasoningProvider,
    check_authority,
    checked_info,
)

__all__ = ["PROBE_SECONDS", "ConsultantOnly", "check_authority"]

PROBE_SECONDS: Final = 20.0
START_SECONDS: Final = 60.0
CLOSE_SECONDS: Final = 10.0
GRACE_SECONDS: Final = 2.0
"""How long a provider may take to end after it was cancelled. After that it is left behind; nothing that it returns is read."""

M = TypeVar("M", bound=Model)


class ConsultantOnly:
    """A provider of which nothing but the contract can be reached. Made once, at registration.

    Raises ``PluginError`` (``authority-violation``) at construction and before every call when the provider is, or has become,
    anything else than a consultant. Every method raises ``ProviderError``: ``deadline-exceeded`` when it took too long,
    ``provider-failed`` when it raised or returned something else than the contract's model, or the code of its own ``UesError``.
    """

    __slots__ = ("__info", "__provider")

    def __init__(self, provider: WebReasoningProvider) -> None:
        check_authority(provider)
        self.__provider = provider
        self.__info = checked_info(provider)

    @property
    def info(self) -> ProviderInfo:
        """The provider's info, as it was at registration."""
        return self.__info

    @property
    def authority(self) -> Authority:
        """``consultant-only``."""
        return Authority.CONSULTANT_ONLY

    async def capability(self, *, seconds: float = PROBE_SECONDS) -> CapabilityReport:
        """Whether it could be consulted now."""
        return await self._call("capability", (), CapabilityReport, seconds)

    async def start_session(
        self, channel: ConsultChannel, resume: str | None = None, *, seconds: float = START_SECONDS
    ) -> ProviderSession:
        """Start a conversation or resume one. A session that claims to resume another handle than asked for is refused."""
        session = await self._call("start_session", (channel, resume), ProviderSession, seconds)
        if session.resumed and resume is None:
            self._fail("start_session", "resumed a conversation that nobody asked it to resume")
        if resume is not None and not session.resumed:
            self._fail("start_session", "started a fresh conversation instead of resuming the one it was given")
        return session

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        """One exchange, within ``deadline`` seconds."""
        return await self._call("consult", (session, request, deadline), RawAnswer, deadline)

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        """One more exchange of the same conversation."""
        return await self._call("follow_up", (session, delta, deadline), RawAnswer, deadline)

    async def close_session(self, session: ProviderSession, *, seconds: float = CLOSE_SECONDS) -> None:
        """Release the conversation."""
        await self._bounded("close_session", (session,), seconds)

    # -- private

    async def _call(self, method: str, arguments: tuple[object, ...], model: type[M], seconds: float) -> M:
        result = await self._bounded(method, arguments, seconds)
        if type(result) is not model:
            self._fail(method, f"returned {type(result).__name__} instead of {model.__name__}")
        try:
            # a model can be built around its validators; what crosses the border is validated here
            return model.model_validate(result.model_dump(warnings="error"))
        except (ValidationError, ValueError, TypeError, AttributeError):
            self._fail(method, f"returned a {model.__name__} that is not valid")

    async def _bounded(self, method: str, arguments: tuple[object, ...], seconds: float) -> object:
        check_authority(self.__provider)
        self.__same_info()
        try:
            call = getattr(self.__provider, method)(*arguments)
        except UesError as error:
            raise self._own(error) from error
        except Exception as error:  # noqa: BLE001 - a plugin may raise anything; it becomes one error with a code
            self._fail(method, f"raised {type(error).__name__}", error)
        if not asyncio.iscoroutine(call):
            self._fail(method, "is not asynchronous; wrap it with ues_core.contract.sync_provider")
        return await self._await(method, call, seconds)

    async def _await(self, method: str, call: Coroutine[Any, Any, object], seconds: float) -> object:
        task = asyncio.ensure_future(call)
        try:
            done, _ = await asyncio.wait({task}, timeout=max(0.0, seconds))
            if not done:
                raise ProviderError(
                    f"The provider '{self.__info.name}' did not finish {method} within {seconds:g} s.",
                    code=Code.DEADLINE_EXCEEDED,
                    next_step="Allow more time, or ask another provider.",
                )
            return task.result()
        except UesError as error:
            raise self._own(error) from error
        except Exception as error:  # noqa: BLE001 - see above
            self._fail(method, f"raised {type(error).__name__}", error)
        finally:
            if not task.done():
                task.cancel()
                await asyncio.wait({task}, timeout=GRACE_SECONDS)
            task.add_done_callback(forget)

    def __same_info(self) -> None:
        if checked_info(self.__provider) != self.__info:
            self._fail("info", "changed its info after registration")

    def _own(self, error: UesError) -> ProviderError:
        if isinstance(error, ProviderError):
            return error
        return ProviderError(
            error.sentence, code=error.code, fault=error.fault, next_step=error.next_step, details=dict(error.details)
        )

    def _fail(self, method: str, what: str, cause: Exception | None = None) -> NoReturn:
        raise ProviderError(
            f"The provider '{self.__info.name}' {what} ({method}).",
            next_step="Report it to the provider's author; the consultation can go on with another provider or locally.",
            details={"provider": self.__info.name, "method": method},
        ) from cause


def forget(task: asyncio.Future[Any]) -> None:
    """Read the result of a task that nobody waits for, so that it is not reported as lost."""
    if not task.cancelled():
        task.exception()
