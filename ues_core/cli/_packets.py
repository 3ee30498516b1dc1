"""A packet as a consultation would build it: the operator's bounds, the listed hook packages, what the ledger tells."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from ues_core.cli._output import note

if TYPE_CHECKING:
    from ues_core.config import Ignored, Settings
    from ues_core.contract import ExtraDetector, Packet


def packet_for(settings: Settings, task: str, repo: Path, **inputs: Any) -> tuple[Packet, tuple[ExtraDetector, ...]]:
    """The packet, and the detectors that its text is scanned with. Nothing is written and nobody is asked but hook packages."""
    import os

    from ues_core.plugins import ContextDesk, load_hooks
    from ues_core.reasoning import build_packet
    from ues_core.reasoning.history import earlier_attempts
    from ues_core.redact import live_values

    hooks = load_hooks(settings)
    context = ContextDesk(hooks.observers)
    live = live_values(os.environ)
    detectors = (*hooks.detectors, *([live] if live else []))
    packet = build_packet(
        task,
        repo,
        history=earlier_attempts(settings.state_dir, repo),
        budget=settings.packet,
        detectors=detectors,
        collect=context.collect if context else None,
        **inputs,
    )
    return packet, detectors


def outbound(packet: Packet, detectors: tuple[ExtraDetector, ...] = ()) -> str:
    """The outbound text of a packet under a nonce of its own, scanned as it would be before it is sent."""
    import secrets

    from ues_core.reasoning import NONCE_CHARS, check_outbound, render_prompt

    rendered = render_prompt(packet.sections, nonce=secrets.token_hex(NONCE_CHARS // 2))
    check_outbound(rendered, detectors=detectors)
    return rendered.text


def ignored_here(settings: Settings) -> list[Ignored]:
    """Keys of the repository's own file that were read and not applied."""
    return [ignored for ignored in settings.ignored if "ues.toml, line " in ignored.where]


def show_ignored(settings: Settings) -> None:
    """Say which they are, and why."""
    for ignored in ignored_here(settings):
        note(f"ignored: {ignored.key} ({ignored.where}): {ignored.why}")
