"""Points of turned and stretched frames."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ues_core.web.crossing import Mapping2D, Point

NUMBERS = st.floats(-1000, 1000)
ANGLES = st.floats(-math.pi, math.pi)
STRETCHES = st.floats(0.1, 10)
MARKERS = ((0.0, 0.0), (1000.0, 0.0), (0.0, 1000.0))


@given(ANGLES, STRETCHES, STRETCHES, NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_three_points_say_where_all_are(angle: float, wide: float, high: float, x: float, y: float, u: float, v: float) -> None:
    cos, sin = math.cos(angle), math.sin(angle)
    real = Mapping2D(cos * wide, sin * wide, -sin * high, cos * high, x, y)
    found = Mapping2D.between(MARKERS, [Point(*real.point(*marker)) for marker in MARKERS])
    assert found.point(u, v) == pytest.approx(real.point(u, v), abs=1e-3)
    box = found.box({"x": u, "y": v, "width": 40.0, "height": 20.0})
    corners = [real.point(u + dx, v + dy) for dx in (0, 40) for dy in (0, 20)]
    assert box["x"] == pytest.approx(min(corner[0] for corner in corners), abs=1e-3)
    assert box["y"] + box["height"] == pytest.approx(max(corner[1] for corner in corners), abs=1e-3)


def test_points_on_one_line_say_only_how_far_it_is() -> None:
    found = Mapping2D.between(((1.0, 1.0), (1.0, 1.0), (1.0, 1.0)), [Point(5.0, 7.0)] * 3)
    assert found.point(2.0, 3.0) == (6.0, 9.0)
