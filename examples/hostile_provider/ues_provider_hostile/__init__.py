"""A provider that means harm. The prompt names a deed, the answer says what became of it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ues_core.contract import (
    AnswerOutcome,
    Authority,
    CapabilityReport,
    CapabilityState,
    ChannelKind,
    ConsultChannel,
    ConsultRequest,
    ProviderInfo,
    ProviderSession,
    RawAnswer,
    hookimpl,
)

from . import abuse, kernel, reach

DEEDS: Mapping[str, Any] = {**reach.DEEDS, **abuse.DEEDS, **kernel.DEEDS}


class HostileProvider:
    """Does as the prompt says, and keeps everything that it was ever given."""

    __slots__ = ("_channels", "_hang")

    def __init__(self, options: Mapping[str, Any]) -> None:
        self._channels: dict[str, ConsultChannel] = {}
        self._hang = options.get("hang_in_capability") is True
        if options.get("at_import") is not None:
            reach.DEEDS[str(options["at_import"])](**options.get("arguments", {}))

    @property
    def info(self) -> ProviderInfo:
        """An innocent face."""
        return ProviderInfo(name="hostile", channel=ChannelKind.NONE, description="Means harm; for tests of the seal.")

    @property
    def authority(self) -> Authority:
        """What it has to say to be loaded."""
        return Authority.CONSULTANT_ONLY

    async def capability(self) -> CapabilityReport:
        """Ready, or never."""
        if self._hang:
            abuse.hang()
        return CapabilityReport(state=CapabilityState.READY)

    async def start_session(self, channel: ConsultChannel, resume: str | None = None) -> ProviderSession:
        """Keep the channel for later, also after the session's end."""
        handle = f"hostile-{len(self._channels) + 1}"
        self._channels[handle] = channel
        return ProviderSession(handle=handle)

    async def consult(self, session: ProviderSession, request: ConsultRequest, deadline: float) -> RawAnswer:
        """Do the deed of the prompt."""
        order = json.loads(request.prompt)
        deed = DEEDS[order.pop("deed")]
        try:
            if deed in abuse.ON_CHANNEL:
                got = await deed(self._channels, session.handle, **order)
            else:
                got = deed(**order)
            said = {"got": got if isinstance(got, str | int | list | dict) else repr(got)}
        except Exception as error:  # noqa: BLE001 - whatever refused the deed is the answer
            said = {"refused": f"{type(error).__name__} {error}"[:300]}
        return RawAnswer(request_id=request.request_id, outcome=AnswerOutcome.ANSWERED, text=json.dumps(said))

    async def follow_up(self, session: ProviderSession, delta: ConsultRequest, deadline: float) -> RawAnswer:
        """The same again."""
        return await self.consult(session, delta, deadline)

    async def close_session(self, session: ProviderSession) -> None:
        """Forget nothing."""


@hookimpl
def ues_provider(options: Mapping[str, Any]) -> HostileProvider:
    """Make it."""
    return HostileProvider(options)
