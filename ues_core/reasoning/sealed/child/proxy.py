"""The channel as the plugin sees it: every call is a question to the host, which holds the real one and judges the call."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any, Final

from ues_core.contract import (
    ChannelAnswer,
    ChannelKind,
    ChannelState,
    Code,
    ConsultRequest,
    NotSupported,
    PolicyRefusal,
    Progress,
    ProviderError,
    UesError,
    UsageError,
)

_PROGRESS_PER_SECOND: Final = 10.0
_PROGRESS_AT_ONCE: Final = 20.0
"""Progress beyond this is dropped here, so that a provider that reports every token is not ended for a flood."""

_KINDS: Final[dict[str, type[UesError]]] = {
    "NotSupported": NotSupported,
    "PolicyRefusal": PolicyRefusal,
    "UsageError": UsageError,
}


class Refused(Exception):
    """The host's error, as it came over the pipe."""

    def __init__(self, error: Any) -> None:
        super().__init__("refused")
        self.data: dict[str, str] = error.get("data") or {} if isinstance(error, dict) else {}

    def as_error(self) -> UesError:
        """The error of the contract that the host meant."""
        code = self.data.get("code", "")
        return _KINDS.get(self.data.get("kind", ""), ProviderError)(
            self.data.get("sentence") or "The host refused the call.",
            code=Code(code) if code in Code.__members__.values() else None,
            next_step=self.data.get("next_step", ""),
        )


class ChannelProxy:
    """A ``ConsultChannel`` of one session. It works only while the host has a call of this session running."""

    def __init__(
        self, send: Callable[[dict[str, Any]], None], ask: Callable[[str, dict[str, Any]], Awaitable[Any]], kind: str
    ) -> None:
        self._send = send
        self._ask_host = ask
        self._kind = ChannelKind(kind)
        self._call = ""
        self._request: ConsultRequest | None = None
        self._credit = _PROGRESS_AT_ONCE
        self._at = time.monotonic()
        self.cancelled = False

    @property
    def kind(self) -> ChannelKind:
        """``web``, ``person`` or ``none``."""
        return self._kind

    @contextlib.contextmanager
    def during(self, call: str, request: ConsultRequest | None) -> Iterator[None]:
        """While the host's call runs, the channel carries its word. One that was cancelled may end after the next has begun."""
        self._call, self._request = call, request
        if request is not None:
            self.cancelled = False
        try:
            yield
        finally:
            if self._call == call:
                self._call, self._request = "", None

    def progress(self, progress: Progress) -> None:
        """Report progress; what is too much is dropped."""
        now = time.monotonic()
        self._credit = min(_PROGRESS_AT_ONCE, self._credit + (now - self._at) * _PROGRESS_PER_SECOND)
        self._at = now
        if self._credit < 1 or not self._call:
            return
        self._credit -= 1
        self._send({"method": "channel.progress", "params": {"call": self._call, "progress": progress.model_dump(mode="json")}})

    async def hand_over(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """``person``: the host hands over the request that it made."""
        return ChannelAnswer.model_validate(await self._with_request("hand_over", request, deadline))

    async def ask(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """``web``: the host asks the request that it made."""
        return ChannelAnswer.model_validate(await self._with_request("ask", request, deadline))

    async def open_entry(self, *, handle: str | None = None, deadline: float) -> ChannelState:
        """``web``: open the entry page, or the conversation ``handle``."""
        return ChannelState.model_validate(await self._do("open_entry", {"handle": handle, "deadline": deadline}))

    async def probe(self, *, deadline: float) -> ChannelState:
        """``web``: look, read-only."""
        return ChannelState.model_validate(await self._do("probe", {"deadline": deadline}))

    async def set_toggles(self, wanted: Mapping[str, bool], *, deadline: float) -> dict[str, bool]:
        """``web``: set mode switches; the states that were reached."""
        reached = await self._do("set_toggles", {"wanted": dict(wanted), "deadline": deadline})
        return {str(name): bool(state) for name, state in reached.items()}

    async def _with_request(self, method: str, request: ConsultRequest, deadline: float) -> Any:
        if request != self._request:
            raise UsageError(
                "A sealed provider asks exactly the request of the exchange that is running.",
                next_step="Pass the request on as it came.",
            )
        return await self._do(method, {"request_id": request.request_id, "deadline": deadline})

    async def _do(self, method: str, params: dict[str, Any]) -> Any:
        if not self._call:
            raise UsageError("No exchange of this session is running, so its channel does nothing.")
        try:
            return await self._ask_host(f"channel.{method}", {"call": self._call, **params})
        except Refused as refused:
            raise refused.as_error() from None
