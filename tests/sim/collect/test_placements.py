"""Where the object begins."""

from __future__ import annotations

import numpy as np
import pytest

from sido.errors import SettingError
from sido.motion import Region
from sido.sim.collect import PLACEMENTS, PRESETS, preset
from sido.sim.scenes import gantry

GANTRY = Region((0.5, 0.0), (0.23, 0.43))


def test_they_span_the_region_evenly():
    assert PLACEMENTS["random"](GANTRY, 64) == ()
    x, y, grid = (np.array(PLACEMENTS[name](GANTRY, count)) for name, count in (("x", 30), ("y", 22), ("grid", 64)))
    assert (x.shape, y.shape, grid.shape) == ((30, 2), (22, 2), (64, 2))
    np.testing.assert_allclose(x[[0, -1]], [[0.385, 0.0], [0.615, 0.0]], atol=1e-15)
    np.testing.assert_allclose(y[[0, -1]], [[0.5, -0.215], [0.5, 0.215]], atol=1e-15)
    np.testing.assert_allclose(np.diff(x[:, 0]), 0.23 / 29)
    for axis in (0, 1):
        levels, counts = np.unique(grid[:, axis].round(12), return_counts=True)
        assert counts.tolist() == [8] * 8
        assert np.ptp(np.diff(levels)) < 1e-9
    assert len({tuple(place) for place in grid.tolist()}) == 64
    for places in (x, y, grid):
        assert GANTRY.contains(places).all()


def test_they_are_those_of_the_scene():
    world = np.array([0.56, 0.0])  # from the gantry's base to the world's origin
    region = Region((gantry.REGION.centre_m[0] + world[0], gantry.REGION.centre_m[1]), gantry.REGION.size_m)
    np.testing.assert_allclose(np.array(PLACEMENTS["grid"](region, 64)) - world, gantry.grid(8), atol=1e-12)
    np.testing.assert_allclose(np.array(PLACEMENTS["x"](region, 30)) - world, gantry.along_axis("x", 30), atol=1e-12)


def test_one_stands_in_the_middle():
    for name in ("x", "y", "grid"):
        assert PLACEMENTS[name](GANTRY, 1) == (GANTRY.centre_m,)


def test_a_grid_is_square():
    with pytest.raises(SettingError, match=r"found 60; expected a square number.*to mend it: -n 49 or -n 64"):
        PLACEMENTS["grid"](GANTRY, 60)


def test_the_papers_numbers():
    assert preset("gantry") == ("grid", 64)
    assert preset("gantry", "x") == ("x", 30)
    assert preset("gantry", "y") == ("y", 22)
    assert [preset(task) for task in ("stack", "square", "mug", "peachtree")] == [
        ("random", 200), ("random", 1000), ("random", 1000), ("random", 25)
    ]  # fmt: skip
    assert preset("stack", "grid") == ("grid", None)
    assert all(placement in PLACEMENTS for task in PRESETS.values() for placement in task)
