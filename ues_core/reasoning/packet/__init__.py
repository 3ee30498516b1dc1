"""The decision packet: built from a real repository, bounded, redacted, fingerprinted over its content."""

from __future__ import annotations

from ues_core.reasoning.packet._build import BUILD_SECONDS, INPUT_CHARS, TIERS, build_packet, known_paths
from ues_core.reasoning.packet._cache import PacketCache
from ues_core.reasoning.packet._context import Collect
from ues_core.reasoning.packet._rows import render_row
from ues_core.reasoning.packet._tree import contained, decode_source, name_reason, read_source
from ues_core.reasoning.packet._view import RepositoryView

__all__ = [
    "BUILD_SECONDS",
    "INPUT_CHARS",
    "TIERS",
    "Collect",
    "PacketCache",
    "RepositoryView",
    "build_packet",
    "contained",
    "decode_source",
    "known_paths",
    "name_reason",
    "read_source",
    "render_row",
]
