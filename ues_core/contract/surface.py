"""What is driven: pages, documents, nodes' private keys, boxes."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field

from ues_core.contract._base import Model
from ues_core.contract.words import SurfaceKind

PageId = Annotated[str, Field(min_length=1, max_length=64)]
"""A page of a session; minted by the driver, never reused within a session."""


class Viewport(Model):
    """The visible rectangle, in CSS pixels."""

    width: int = Field(default=1280, ge=64, le=10_000)
    height: int = Field(default=800, ge=64, le=10_000)
    scale: float = Field(default=1.0, ge=0.5, le=4.0)
    """Device pixels per CSS pixel."""


class Box(Model):
    """A rectangle in CSS pixels, relative to the viewport of the page (never of the frame)."""

    x: float
    y: float
    width: float
    height: float


class Surface(Model):
    """The identity of a surface: what a ref is bound to."""

    page: PageId
    document: str = Field(min_length=1, max_length=128)
    """Changes when, and only when, the page's main document is replaced."""
    location: str = Field(default="", max_length=8192)
    """URL, or another address; the core scrubs it before anybody sees it."""
    title: str = Field(default="", max_length=2000)
    kind: SurfaceKind = SurfaceKind.WEB
    viewport: Viewport | None = None
    """``None`` where the surface has no pixels."""


class NodeKey(Model):
    """A node as the driver knows it. Private: it never reaches a host or a model. Never reused within a session."""

    page: PageId
    frame: str = Field(default="", max_length=128)
    """The frame within the page; empty for the main frame."""
    document: str = Field(min_length=1, max_length=128)
    """The document (of that frame) in which the node lives."""
    n: int = Field(ge=1)
    """A number within the document."""
