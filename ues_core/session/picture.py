"""What a picture shows: whether anything, decoded by Pillow and judged on a sample of its pixels, and where a node is in it."""

from __future__ import annotations

import io
from typing import Final

from ues_core.contract import Box, Captured, CaptureQuality

SAMPLE_SIDE: Final = 64
"""The picture is scaled down to at most this many pixels a side (reference: a grid of 4,096 samples)."""
VISIBLE_SHARE: Final = 0.01
"""Below this share of visible pixels a picture is blank (reference: quality thresholds of contract v9)."""
VISIBLE_ALPHA: Final = 16
RANGE: Final = 0.05
VARIANCE: Final = 0.0005
"""Below both, luminance is near-uniform (reference: the same)."""


def quality_of(png: bytes) -> CaptureQuality:
    """The verdict; ``unknown`` for bytes that no decoder takes."""
    from PIL import Image, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(png), formats=["PNG"]) as image:
            image.draft("RGB", (SAMPLE_SIDE, SAMPLE_SIDE))
            small = image.convert("RGBA").resize(
                (min(SAMPLE_SIDE, image.width), min(SAMPLE_SIDE, image.height)), Image.Resampling.BOX
            )
    except (UnidentifiedImageError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
        return CaptureQuality.UNKNOWN
    alphas = small.getchannel("A").tobytes()
    visible = [i for i, alpha in enumerate(alphas) if alpha >= VISIBLE_ALPHA]
    if len(visible) < VISIBLE_SHARE * len(alphas):
        return CaptureQuality.BLANK
    grey = small.convert("L").tobytes()
    values = [grey[i] / 255 for i in visible]
    mean = sum(values) / len(values)
    variance = sum((v - mean) ** 2 for v in values) / len(values)
    if max(values) - min(values) < RANGE and variance < VARIANCE:
        return CaptureQuality.NEAR_UNIFORM
    return CaptureQuality.USABLE


def in_picture(box: Box, shot: Captured) -> Box:
    """A box of the page, in CSS pixels of its viewport, as pixels of the picture; cut to the picture."""
    left, right = ((x - shot.origin_x) * shot.scale_x for x in (box.x, box.x + box.width))
    top, bottom = ((y - shot.origin_y) * shot.scale_y for y in (box.y, box.y + box.height))
    left, right = max(0.0, min(left, shot.width)), max(0.0, min(right, shot.width))
    top, bottom = max(0.0, min(top, shot.height)), max(0.0, min(bottom, shot.height))
    return Box(x=left, y=top, width=right - left, height=bottom - top)
