"""The manual relay: a complete third-party provider for UES Kit."""

from __future__ import annotations

from ues_core.contract import WebReasoningProvider, hookimpl
from ues_provider_relay.provider import RelayProvider

__all__ = ["RelayProvider", "ues_provider"]


@hookimpl
def ues_provider() -> WebReasoningProvider:
    """Make the provider. It takes no options."""
    return RelayProvider()
