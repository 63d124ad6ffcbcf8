"""The rectangle."""

from __future__ import annotations

import numpy as np
import pytest

from sido.errors import SettingError
from sido.motion import GANTRY_SIZE_M, TABLETOP_SIZE_M, Region


def test_the_paper_sizes():
    assert TABLETOP_SIZE_M == (0.25, 0.25)
    assert GANTRY_SIZE_M == (0.23, 0.43)
    assert Region((0.5, 0.0)).size_m == TABLETOP_SIZE_M


def test_corners_and_extents():
    region = Region((0.5, -0.1), (0.2, 0.4))
    np.testing.assert_allclose(region.low_m, (0.4, -0.3))
    np.testing.assert_allclose(region.high_m, (0.6, 0.1))
    assert (region.extent_m("x"), region.extent_m("y")) == (0.2, 0.4)


def test_contains_its_edges_and_any_height():
    region = Region((0.0, 0.0), (0.2, 0.4))
    points = np.array([[[0.1, 0.2, 9.0], [-0.1, -0.2, 0.0]], [[0.1001, 0.0, 0.0], [0.0, -0.2001, 0.0]]])
    assert region.contains(points).tolist() == [[True, True], [False, False]]
    assert region.contains(points, tolerance_m=1e-3).all()
    assert region.contains(np.zeros(2)).shape == ()


def test_nearest():
    region = Region((0.0, 0.0), (0.2, 0.4))
    assert region.nearest(5 + 0.1j) == 0.1 + 0.1j
    assert region.nearest(-5 - 5j) == -0.1 - 0.2j
    assert region.nearest(0.05 + 0.05j) == 0.05 + 0.05j
    assert region.holds(0.05 + 0.05j)
    assert not region.holds(0.2 + 0j)


@pytest.mark.usefixtures("as_user")
def test_no_region_of_nothing_or_nowhere():
    with pytest.raises(SettingError, match=r"Region.size_m: not a usable number; found 0.0; expected a finite"):
        Region((0.0, 0.0), (0.2, 0.0))
    with pytest.raises(SettingError, match=r"Region.centre_m: not a place; found \(inf, 0.0\)"):
        Region((float("inf"), 0.0))
