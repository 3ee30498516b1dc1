"""The channels that a provider can be handed. A kind's own methods work; every other refuses with ``not-supported``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final, NoReturn

from ues_core.contract import (
    ChannelAnswer,
    ChannelKind,
    ChannelState,
    ConsultChannel,
    ConsultRequest,
    NotSupported,
    Progress,
)
from ues_core.reasoning.grant import Grant, use
from ues_core.reasoning.person import Relay

PROGRESS_KEPT: Final = 200
"""Reports of progress that are kept; a provider that floods overwrites its own."""


class NoChannel:
    """For providers of kind ``none``: no way out at all."""

    kind = ChannelKind.NONE

    def __init__(self) -> None:
        self._cancelled = False
        self._grant: Grant | None = None
        self.reports: list[Progress] = []
        """What the provider said while it worked, latest last."""

    def progress(self, progress: Progress) -> None:
        """Keep a report of progress."""
        if type(progress) is not Progress:
            return
        self.reports.append(progress)
        del self.reports[:-PROGRESS_KEPT]

    @property
    def cancelled(self) -> bool:
        """Whether the host has cancelled the exchange."""
        return self._cancelled

    def cancel(self) -> None:
        """The host's side: no wait of this channel lasts longer than its next poll."""
        self._cancelled = True

    def permit(self, grant: Grant | None) -> None:
        """The host's side: the grant of the exchange that is running, or none."""
        self._grant = grant

    async def hand_over(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """Refused."""
        self._refuse("hand_over")

    async def open_entry(self, *, handle: str | None = None, deadline: float) -> ChannelState:
        """Refused."""
        self._refuse("open_entry")

    async def probe(self, *, deadline: float) -> ChannelState:
        """Refused."""
        self._refuse("probe")

    async def set_toggles(self, wanted: Mapping[str, bool], *, deadline: float) -> dict[str, bool]:
        """Refused."""
        self._refuse("set_toggles")

    async def ask(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """Refused."""
        self._refuse("ask")

    def _refuse(self, method: str) -> NoReturn:
        raise NotSupported(
            f"A channel of kind '{self.kind}' has no {method}.",
            next_step="Declare the channel kind that the provider needs in its info.",
            details={"capability": method, "channel": str(self.kind)},
        )


class PersonChannel(NoChannel):
    """For providers of kind ``person``: the core hands the prompt to a person and waits for the answer."""

    kind = ChannelKind.PERSON

    def __init__(self, relay: Relay) -> None:
        super().__init__()
        self._relay = relay

    async def hand_over(self, request: ConsultRequest, *, deadline: float) -> ChannelAnswer:
        """See ``Relay.hand_over``; the first time uses the exchange's grant up, so there is no second."""
        use(self._grant, request)
        return await self._relay.hand_over(request, deadline=deadline, cancelled=lambda: self._cancelled)


Channel = NoChannel
"""What the core holds of a channel: the contract's side, and ``cancel``."""


def make_channel(kind: ChannelKind, *, relay: Relay | None = None) -> Channel:
    """The channel for a provider's declared kind. Raises ``NotSupported`` for what this host cannot offer."""
    if kind is ChannelKind.NONE:
        return NoChannel()
    if kind is ChannelKind.PERSON and relay is not None:
        return PersonChannel(relay)
    what, step = (
        ("a person, but no place to hand over is configured", "Name a folder with --relay-dir, or relay_dir= in host.consult.")
        if kind is ChannelKind.PERSON
        else (
            "a web page, but the web-chat engine is not part of this version",
            "Use a provider of channel kind person or none.",
        )
    )
    raise NotSupported(
        f"The provider's way out is {what}.", next_step=step, details={"capability": f"channel-{kind}", "channel": str(kind)}
    )


def _conforms(channel: NoChannel) -> ConsultChannel:
    """Checked by the type checker: every channel satisfies the contract."""
    return channel
