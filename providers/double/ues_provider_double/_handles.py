"""The double's resume handles: everything that it remembers of a conversation, in an opaque word that checks itself."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
from collections.abc import Sequence
from typing import Final

from ues_provider_double._prompt import Place

HANDLE_CHARS: Final = 400
"""What the contract's handle holds."""
_PREFIX: Final = "double~"


def handle_of(generation: int, exchanges: int, places: Sequence[Place]) -> str:
    """A handle that ``conversation_of`` understands, in this process or in another one."""
    for count in range(min(4, len(places)), -1, -1):
        memory = [generation, exchanges, [[place.path, place.line] for place in places[:count]]]
        body = base64.urlsafe_b64encode(json.dumps(memory, separators=(",", ":")).encode()).decode()
        handle = f"{_PREFIX}{body}~{_check(body)}"
        if len(handle) <= HANDLE_CHARS:
            break
    return handle


def conversation_of(handle: str) -> tuple[int, int, list[Place]] | None:
    """``(generation, exchanges, places)``, or ``None`` for a handle that the double never gave."""
    body, _, check = handle.removeprefix(_PREFIX).rpartition("~")
    if not handle.startswith(_PREFIX) or not body or check != _check(body):
        return None
    try:
        generation, exchanges, places = json.loads(base64.urlsafe_b64decode(body))
        return int(generation), int(exchanges), [Place(str(path), int(line)) for path, line in places]
    except (ValueError, TypeError, binascii.Error, RecursionError):
        return None


def _check(body: str) -> str:
    return hashlib.sha256(b"ues-provider-double\0" + body.encode()).hexdigest()[:16]
