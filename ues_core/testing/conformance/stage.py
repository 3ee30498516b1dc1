"""What a suite needs to find on a surface: scenes to open, and the names of the parts that it touches."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import StrEnum

from ues_core.contract import Launch, OriginGate
from ues_core.testing.server import Grounds

Launcher = Callable[[], Launch]
"""Makes what a driver is told to start, anew for each session."""


class SceneName(StrEnum):
    """The surfaces that a suite opens. A driver that is no web driver needs ``form`` only."""

    FORM = "form"
    SECOND = "second"
    COVER = "cover"
    SWAP = "swap"
    DIALOGS = "dialogs"
    DOORS = "doors"
    HOSTILE = "hostile"
    LOOP = "loop"
    CLOSED = "closed"
    STORAGE = "storage"
    NOISE = "noise"
    MANY = "many"
    LATER = "later"
    DOWNLOAD = "download"


@dataclass(frozen=True)
class Scene:
    """Where a scene is. ``url = None``: it is what a fresh session shows."""

    url: str | None = None


@dataclass(frozen=True)
class Parts:
    """The names of what the scene ``form`` holds; ``None`` where the surface has no such thing.

    ``clicks``, ``hovers`` and ``presses`` are patterns with one group of digits, matched against names of nodes.
    """

    add: str = "Add one"
    clicks: str = r"Clicks: (\d+)"
    field: str = "Name"
    hover: str | None = "Hover here"
    hovers: str = r"Hovers: (\d+)"
    press: str | None = "Search"
    presses: str = r"Searches: (\d+)"
    secret: str | None = "Password"
    secret_values: tuple[str, ...] = ("correct-horse-battery", "4111111111111111")
    select: str | None = "Size"
    option: tuple[int, str] = (1, "Medium")
    """Index and label of an option that can be chosen and is not chosen at first."""
    disabled: str | None = "Out of order"
    remove: str | None = "Remove victim"
    victim: str = "Victim"
    grow: str | None = "Add a button"
    fresh: str = "Fresh 1"
    link: str | None = "Second page"


class Site:
    """What a driver is shown. Override what your surface has; everything else is skipped with its reason."""

    parts: Parts = Parts()
    gate: OriginGate = OriginGate()
    """Allows the scenes and nothing else."""

    def scene(self, name: SceneName, to: str = "") -> Scene | None:
        """Where a scene is; ``to`` is where the doors of ``doors`` lead. ``None``: there is no such scene."""
        return Scene() if name is SceneName.FORM else None

    def canary(self) -> str | None:
        """An address that the gate forbids and that counts what reaches it."""
        return None

    def canary_hits(self) -> int:
        """How often the canary was asked for anything."""
        return 0

    def canary_gate(self) -> OriginGate:
        """A gate that allows the canary too, to prove that it is alive."""
        return self.gate

    def redirect(self, to: str) -> str | None:
        """An allowed address that redirects to ``to``."""
        return None

    def hang(self) -> str | None:
        """An allowed address that does not answer."""
        return None


class WebSite(Site):
    """The pages that ship with the suites, over loopback."""

    def __init__(self, grounds: Grounds) -> None:
        self._grounds = grounds
        self.gate = OriginGate(allowed_origins=(grounds.pages.origin,))

    def scene(self, name: SceneName, to: str = "") -> Scene:
        """The page of that name."""
        return Scene(self._grounds.pages.page(name.value, **({"to": to} if to else {})))

    def canary(self) -> str:
        """A page of the second server."""
        return self._grounds.canary.page("second")

    def canary_hits(self) -> int:
        """Every request that reached the second server."""
        return self._grounds.canary.hits()

    def canary_gate(self) -> OriginGate:
        """Both servers."""
        return OriginGate(allowed_origins=(self._grounds.pages.origin, self._grounds.canary.origin))

    def redirect(self, to: str) -> str:
        """The first server's redirect."""
        return self._grounds.pages.redirect(to)

    def hang(self) -> str:
        """The first server's address that holds the connection."""
        return f"{self._grounds.pages.origin}/hang"
