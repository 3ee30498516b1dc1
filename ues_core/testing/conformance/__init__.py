"""Suites that plugin authors subclass in their own tests. They need pytest: ``pip install "ues-core[testing]"``.

::

    from ues_core.testing.conformance import ProviderConformance

    class TestMyProvider(ProviderConformance):
        @pytest.fixture
        def provider(self) -> MyProvider:
            return MyProvider()

Every standard test of a suite must stay: a guard fails when one was removed, or replaced without
``@pytest.mark.xfail(reason=...)``. What a plugin does not declare is skipped, with the reason.
"""

from __future__ import annotations

import pytest

for _module in ("_seeing", "_touching", "_gates", "_lifetime", "_bench", "driver", "guard", "provider"):
    pytest.register_assert_rewrite(f"{__name__}.{_module}")

from ues_core.testing.conformance._bench import Bench, Stand  # noqa: E402 - rewriting comes first
from ues_core.testing.conformance.driver import DriverConformance, WebDriverConformance  # noqa: E402
from ues_core.testing.conformance.guard import Guarded, audit  # noqa: E402
from ues_core.testing.conformance.memory_site import MemoryScenes  # noqa: E402
from ues_core.testing.conformance.provider import ProviderConformance, RecordingChannel  # noqa: E402
from ues_core.testing.conformance.stage import Parts, Scene, SceneName, Site, WebSite  # noqa: E402

__all__ = [
    "Bench",
    "DriverConformance",
    "Guarded",
    "MemoryScenes",
    "Parts",
    "ProviderConformance",
    "RecordingChannel",
    "Scene",
    "SceneName",
    "Site",
    "Stand",
    "WebDriverConformance",
    "WebSite",
    "audit",
]
