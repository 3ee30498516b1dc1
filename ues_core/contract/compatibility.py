"""Whether a plugin's contract version is one that this core accepts, and which side has to be upgraded when it is not."""

from __future__ import annotations

from typing import NamedTuple

from ues_core.contract._base import CONTRACT_VERSION, OLDEST_ACCEPTED_VERSION


class _Incompatible(NamedTuple):
    """What to tell about a plugin that speaks another version."""

    accepted: str
    """The versions that this core accepts: ``1``, or ``1 to 3``."""
    upgrade: str
    """The distribution to upgrade: ``ues-core`` or the plugin's own."""
    next_step: str


def incompatible(version: int, distribution: str) -> _Incompatible | None:
    """``None`` when ``version`` is accepted."""
    if OLDEST_ACCEPTED_VERSION <= version <= CONTRACT_VERSION:
        return None
    several = OLDEST_ACCEPTED_VERSION < CONTRACT_VERSION
    accepted = f"{OLDEST_ACCEPTED_VERSION} to {CONTRACT_VERSION}" if several else str(CONTRACT_VERSION)
    if version > CONTRACT_VERSION:
        return _Incompatible(accepted, "ues-core", f"Upgrade ues-core, or install an older release of {distribution}.")
    return _Incompatible(accepted, distribution, f"Upgrade {distribution}; ues-core is newer than it knows.")
