"""The cryptography: opaque refs, signed and chained records, the ledger."""

from __future__ import annotations

from ues_core.seal.refs import DEFAULT_TTL_SECONDS, Entropy, HostTags, RefEntry, RefTable, draw_tag

__all__ = ["DEFAULT_TTL_SECONDS", "Entropy", "HostTags", "RefEntry", "RefTable", "draw_tag"]
