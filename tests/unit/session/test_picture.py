"""A picture that shows nothing says so."""

from __future__ import annotations

import io

import pytest
from PIL import Image, ImageDraw

from ues_core.contract import Box, Captured, CaptureQuality
from ues_core.session.picture import in_picture, quality_of


def png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def drawn(mode: str, ground: object, ink: object | None) -> bytes:
    image = Image.new(mode, (640, 400), ground)  # type: ignore[arg-type]
    if ink is not None:
        ImageDraw.Draw(image).rectangle((100, 100, 300, 200), fill=ink)  # type: ignore[arg-type]
    return png(image)


@pytest.mark.parametrize(
    ("data", "quality"),
    [
        (drawn("RGB", "white", "black"), CaptureQuality.USABLE),
        (drawn("RGB", "white", None), CaptureQuality.NEAR_UNIFORM),
        (drawn("RGB", "black", None), CaptureQuality.NEAR_UNIFORM),
        (drawn("RGB", (200, 200, 200), (203, 203, 203)), CaptureQuality.NEAR_UNIFORM),
        (drawn("RGBA", (0, 0, 0, 0), None), CaptureQuality.BLANK),
        (drawn("RGBA", (0, 0, 0, 0), (255, 0, 0, 255)), CaptureQuality.NEAR_UNIFORM),
        (drawn("L", 255, 0), CaptureQuality.USABLE),
        (b"", CaptureQuality.UNKNOWN),
        (b"\x89PNG\r\n\x1a\n" + b"\x00" * 40, CaptureQuality.UNKNOWN),
        (drawn("RGB", "white", "black")[:200], CaptureQuality.UNKNOWN),
    ],
)
def test_the_verdict_says_what_a_person_would_see(data: bytes, quality: CaptureQuality) -> None:
    assert quality_of(data) is quality


def test_boxes_are_pixels_of_the_picture_and_end_with_it() -> None:
    shot = Captured(png=b"x", width=200, height=100, scale_x=2, scale_y=2, origin_x=10, origin_y=-5)
    assert in_picture(Box(x=20, y=5, width=30, height=10), shot) == Box(x=20, y=20, width=60, height=20)
    assert in_picture(Box(x=-40, y=30, width=500, height=90), shot) == Box(x=0, y=70, width=200, height=30)
