"""``python -m ues_core.cli`` is ``ues``."""

from __future__ import annotations

from ues_core.cli import main

main()
