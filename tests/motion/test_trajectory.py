"""The trajectory as arrays: the table's formula in a plain loop, shapes, limits, and what is predictable."""

from __future__ import annotations

import cmath

import numpy as np
import pytest

from sido.errors import SettingError
from sido.motion import MOTIONS, TABLE_COLUMNS, Obstacle, PassBeside, Region, Trajectory, motion_named


def planned(name: str, region: Region, start: np.ndarray, duration_s: float = 30.0, seed: int = 5) -> Trajectory:
    obstacle = Obstacle((region.centre_m[0] - 0.05, region.centre_m[1]), 0.04, PassBeside())
    return motion_named(name).trajectory(np.random.default_rng(seed), start, region, duration_s, obstacle)


def native(table: np.ndarray, t: float) -> tuple[complex, complex]:
    """What native code does with the table: find the row, then the docstring's formula, by (e^{iku} - 1) / (ik)."""
    row = dict(zip(TABLE_COLUMNS, table[np.flatnonzero(table[:, 0] <= t)[-1]], strict=True))
    tau = t - row["time_s"]
    way = row["speed_mps"] * tau + row["acceleration_mps2"] * tau**2 / 2
    heading, k = complex(row["heading_x"], row["heading_y"]), row["curvature_per_m"]
    lead = way if k == 0.0 else (cmath.exp(1j * k * way) - 1) / (1j * k)
    speed = row["speed_mps"] + row["acceleration_mps2"] * tau
    return complex(row["x_m"], row["y_m"]) + heading * lead, speed * heading * cmath.exp(1j * k * way)


@pytest.fixture
def wide() -> Region:
    return Region((0.56, 0.02), (0.31, 0.36))


@pytest.mark.parametrize("name", MOTIONS)
def test_the_table_says_it_all(name: str, wide: Region, start: np.ndarray):
    motion = planned(name, wide, start)
    for t in np.linspace(0.0, 30.0, 211):
        place, velocity = native(motion.table, t)
        np.testing.assert_allclose(motion.position(t)[:2], [place.real, place.imag], rtol=0, atol=1e-12)
        np.testing.assert_allclose(motion.velocity(t)[:2], [velocity.real, velocity.imag], rtol=0, atol=1e-12)


@pytest.mark.parametrize("name", MOTIONS)
def test_segments_join(name: str, wide: Region, start: np.ndarray):
    """Each segment begins where the one before it ends; headings are of length 1, speeds not below 0."""
    motion = planned(name, wide, start)
    for before, after in zip(motion.table, motion.table[1:], strict=False):
        end, _ = native(before[None], float(after[0]))
        assert abs(end - complex(after[1], after[2])) < 1e-12
    np.testing.assert_allclose(np.hypot(motion.table[:, 3], motion.table[:, 4]), 1.0, rtol=0, atol=1e-12)
    assert (motion.table[:, 6] >= 0).all()
    assert (np.diff(motion.table[:, 0]) > 0).all()


def test_any_shape_of_times(wide: Region, start: np.ndarray):
    motion = planned("random", wide, start)
    times = np.linspace(0, 30, 24).reshape(2, 3, 4)
    assert motion.position(times).shape == motion.velocity(times).shape == (2, 3, 4, 3)
    assert motion.distance(times).shape == (2, 3, 4)
    assert motion.position(3.0).shape == (3,)
    assert motion.position(np.zeros(0)).shape == (0, 3)
    assert np.array_equal(motion.position(times).reshape(-1, 3), motion.position(times.reshape(-1)))


def test_it_cannot_be_written_to(wide: Region, start: np.ndarray):
    motion = planned("random", wide, start)
    for array in (motion.table, motion.chances_s):
        with pytest.raises(ValueError, match="read-only"):
            array[0] = 1.0


@pytest.mark.usefixtures("as_user")
def test_times_that_were_not_planned_are_refused(wide: Region, start: np.ndarray):
    motion = planned("x", wide, start)
    for times in (30.1, -0.1, np.array([1.0, 31.0]), float("nan")):
        with pytest.raises(SettingError, match=r"not planned; found .* s; expected 0 to 30 s; .*longer duration_s"):
            motion.position(times)


@pytest.mark.parametrize("name", ["still", "x", "y", "circle", "peachtree", "accelerating", "stop-and-go"])
def test_what_holds_no_draw_is_predictable_throughout(name: str, wide: Region, start: np.ndarray):
    motion = planned(name, wide, start)
    assert len(motion.chances_s) == 0
    assert motion.predictable_until(3.3) == 30.0


def test_a_random_motion_is_predictable_until_the_next_draw(wide: Region, start: np.ndarray):
    motion = motion_named("random").trajectory(np.random.default_rng(0), start, wide, 30.0)
    assert motion.predictable_until(0.0) == pytest.approx(0.8)
    assert motion.predictable_until(2.5) == pytest.approx(3.2)
    assert motion.predictable_until(29.9) == 30.0
    gantry = motion_named("gantry").trajectory(np.random.default_rng(0), start, wide, 60.0)
    assert gantry.predictable_until(1.0) == pytest.approx(0.31 / 0.015)
    varying = motion_named("variable-speed").trajectory(np.random.default_rng(0), start, wide, 60.0)
    assert len(varying.chances_s) >= 2


def test_variable_speed_changes_with_the_target(wide: Region, start: np.ndarray):
    """Both are drawn every 31 cm: at each draw the way travelled is a multiple of that, and the speed one of three."""
    varying = motion_named("variable-speed").trajectory(np.random.default_rng(0), start, wide, 120.0)
    ways = varying.distance(varying.chances_s) / 0.31
    np.testing.assert_allclose(ways, np.round(ways), rtol=0, atol=1e-6)
    speeds = np.linalg.norm(varying.velocity(np.linspace(0, 120, 999)), axis=1)
    assert set(np.round(speeds, 9)) <= {0.015, 0.030, 0.045}


def test_turns_are_jumps_of_the_heading_and_bends_are_not():
    region, start = Region((0.0, 0.0)), np.array([0.0, 0.0, 0.02])
    there = motion_named("x", 0.05).trajectory(np.random.default_rng(0), start, region, 20.0)
    np.testing.assert_allclose(there.turns_s(np.pi / 4), [2.5, 7.5, 12.5, 17.5])
    assert len(motion_named("circle", 0.05).trajectory(np.random.default_rng(0), start, region, 20.0).turns_s(0.1)) == 0
    drawn = motion_named("random", 0.05).trajectory(np.random.default_rng(0), start, region, 20.0)
    before, after = drawn.velocity(drawn.turns_s(0.5) - 1e-6), drawn.velocity(drawn.turns_s(0.5))
    angles = np.arccos(np.sum(before * after, axis=1) / 0.05**2)
    assert (angles >= 0.5 - 1e-6).all()
    jumps = drawn.table[1:, 0]
    steady = np.setdiff1d(jumps, drawn.turns_s(0.5))
    before, after = drawn.velocity(steady - 1e-6), drawn.velocity(steady)
    assert (np.arccos(np.clip(np.sum(before * after, axis=1) / 0.05**2, -1, 1)) < 0.5).all()
