"""A digest over everything that a packet is made from, before anything of it is left out for size."""

from __future__ import annotations

import hashlib
import json
from typing import Any


class Content:
    """Collects parts under names; equal digests mean equal parts in equal order."""

    def __init__(self) -> None:
        self._hash = hashlib.sha256()

    def add(self, name: str, part: Any) -> None:
        """Add a JSON-shaped part. It is encoded with its bounds, so no two different sequences of parts encode alike."""
        body = json.dumps([name, part], ensure_ascii=True, separators=(",", ":"), default=list).encode()
        self._hash.update(str(len(body)).encode() + b":" + body)

    def digest(self) -> str:
        """SHA-256, 64 hex."""
        return self._hash.hexdigest()
