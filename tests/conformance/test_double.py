"""The scripted provider passes the suite of providers."""

from __future__ import annotations

import pytest

from ues_core.contract import WebReasoningProvider
from ues_core.testing.conformance import ProviderConformance
from ues_provider_double import ues_provider


class TestDouble(ProviderConformance):
    @pytest.fixture
    def provider(self) -> WebReasoningProvider:
        return ues_provider({})
