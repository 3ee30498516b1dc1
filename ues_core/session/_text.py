"""Small conversions that several files of the room share."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from datetime import UTC, datetime

from ues_core.contract import Code, DriverCapabilities, NotSupported


def iso(seconds: float) -> str:
    """Seconds since the epoch as ISO 8601 in UTC, with milliseconds."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def sha(parts: Iterable[str], width: int = 32) -> str:
    """SHA-256 over length-prefixed parts, as ``width`` hex characters."""
    state = hashlib.sha256()
    for part in parts:
        data = part.encode("utf-8", "surrogatepass")
        state.update(len(data).to_bytes(8, "big"))
        state.update(data)
    return state.hexdigest()[:width]


def unsupported(capability: str, what: str, driver: str) -> NotSupported:
    """The refusal for a capability that the driver does not declare."""
    return NotSupported(
        f"The driver '{driver}' does not declare '{capability}', which {what} needs.",
        code=Code.NOT_SUPPORTED,
        next_step="Leave it out, or choose a driver that declares it (ues plugins list).",
        details={"capability": capability, "driver": driver},
    )


def declares(capabilities: DriverCapabilities, name: str) -> bool:
    """Whether a yes-or-no capability is declared."""
    return bool(getattr(capabilities, name))
