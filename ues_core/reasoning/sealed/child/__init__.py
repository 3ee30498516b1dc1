"""The child's side of a sealed provider. Until the seal is closed, only the standard library is imported here."""

from __future__ import annotations
