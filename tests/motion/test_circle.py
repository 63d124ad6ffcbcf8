"""The circle: its radius, its sense, where its centre may be, and what an obstacle leaves of it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import SettingError
from sido.motion import Circle, Driven, NoRoomError, Obstacle, PassBeside, Region, Reverse, Steady, Trajectory

TIMES = np.linspace(0.0, 60.0, 6001)
SPEEDS = st.floats(0.005, 0.2)


def plan(seed: int, start: np.ndarray, region: Region, speed: float = 0.02, obstacle: Obstacle | None = None):
    return Driven(Circle(0.05), Steady(speed)).trajectory(np.random.default_rng(seed), start, region, 60.0, obstacle)


def fitted_centre(motion: Trajectory) -> np.ndarray:
    """The centre by least squares from positions alone: |p|^2 = 2 p.c + (r^2 - |c|^2)."""
    points = motion.position(TIMES)[:, :2]
    shifted = points - points[0]
    rows = np.column_stack([2 * shifted, np.ones(len(points))])
    return points[0] + np.linalg.lstsq(rows, (shifted**2).sum(1), rcond=None)[0][:2]


@given(x=st.floats(-0.1, 0.1), y=st.floats(-0.1, 0.1), speed=SPEEDS, seed=st.integers(0, 999))
def test_radius_speed_and_arc_length_hold(x: float, y: float, speed: float, seed: int):
    region = Region((0.5, 0.1))
    motion = plan(seed, np.array([0.5 + x, 0.1 + y, 0.0]), region, speed)
    centre = fitted_centre(motion)
    offset = motion.position(TIMES)[:, :2] - centre
    np.testing.assert_allclose(np.linalg.norm(offset, axis=1), 0.05, rtol=0, atol=1e-7)
    assert (np.abs(centre - region.centre_m) <= 0.125 - 0.05 + 1e-7).all(), "the whole circle lies in the region"
    angles = np.unwrap(np.arctan2(offset[:, 1], offset[:, 0]))
    np.testing.assert_allclose(np.abs(angles - angles[0]), speed * TIMES / 0.05, rtol=0, atol=1e-4)
    np.testing.assert_allclose((motion.velocity(TIMES)[:, :2] * offset).sum(1), 0.0, atol=1e-8)


def test_centres_and_senses_are_drawn_evenly(region: Region):
    middle = np.array([*region.centre_m, 0.0])
    motions = [plan(seed, middle, region) for seed in range(400)]
    towards = np.array([fitted_centre(motion) for motion in motions]) - middle[:2]
    counts, _ = np.histogram(np.arctan2(towards[:, 1], towards[:, 0]), 8, (-np.pi, np.pi))
    assert ((counts - 50) ** 2 / 50).sum() < 24.3  # chi squared, 7 degrees of freedom
    senses = np.array([np.cross(centre, motion.velocity(0.0)[:2]) > 0 for centre, motion in zip(towards, motions)])  # noqa: B905
    assert 160 < senses.sum() < 240


def test_only_circles_that_fit_are_drawn_near_an_edge(region: Region):
    edge = np.array([region.high_m[0] - 0.001, region.centre_m[1], 0.0])
    centres = np.array([fitted_centre(plan(seed, edge, region)) for seed in range(50)])
    assert (centres[:, 0] <= region.high_m[0] - 0.05 + 1e-7).all()
    assert np.ptp(centres[:, 1]) > 0.01


@pytest.mark.usefixtures("as_user")
def test_where_no_circle_fits_it_says_so(region: Region):
    with pytest.raises(NoRoomError, match=r"no circle of radius 0.05 m.*\(0.685, 0.145\).*further from the corners"):
        plan(0, np.array([*region.high_m, 0.0]), region)
    with pytest.raises(SettingError, match=r"circle is wider than the region; found 0.05 m; expected 0.04 m at most"):
        plan(0, np.array([0.0, 0.0, 0.0]), Region((0.0, 0.0), (0.08, 0.3)))
    with pytest.raises(SettingError, match=r"Circle.radius_m.*found -1"):
        Circle(-1.0)


@given(x=st.floats(-0.1, 0.1), y=st.floats(-0.1, 0.1), seed=st.integers(0, 999), clearance=st.floats(0.02, 0.1))
def test_reversing_stays_on_the_circle_and_clear(x: float, y: float, seed: int, clearance: float):
    region, start = Region((0.0, 0.0)), np.array([0.05, 0.03, 0.0])
    gap = float(np.hypot(x - start[0], y - start[1]))
    if gap < 1e-3:
        return
    motion = plan(seed, start, region, 0.1, Obstacle((x, y), clearance, Reverse()))
    points = motion.position(TIMES)[:, :2]
    gaps = np.linalg.norm(points - [x, y], axis=1)
    assert gaps.min() >= min(clearance, gap) - 1e-9
    turns = motion.table[:, 5]
    np.testing.assert_allclose(np.abs(turns), 20.0)
    # Every turn happens at the clearance, and it only turns there.
    for time in motion.table[1:, 0]:
        assert np.linalg.norm(motion.position(time)[:2] - [x, y]) == pytest.approx(min(clearance, gap), abs=1e-9)
    np.testing.assert_allclose(np.abs(np.linalg.norm(motion.velocity(TIMES), axis=1)), 0.1, rtol=1e-9)


def test_passing_beside_leaves_the_circle_only_at_the_obstacle(region: Region):
    start = np.array([region.centre_m[0], region.centre_m[1], 0.0])
    place = (region.centre_m[0] + 0.06, region.centre_m[1] + 0.02)
    passed = 0
    for seed in range(20):
        motion = plan(seed, start, region, 0.05, Obstacle(place, 0.03, PassBeside()))
        points = motion.position(TIMES)[:, :2]
        gaps = np.linalg.norm(points - place, axis=1)
        assert gaps.min() >= 0.03 - 1e-9
        on_disc = np.abs(gaps - 0.03) < 1e-9
        senses = np.sign(motion.table[np.abs(np.abs(motion.table[:, 5]) - 20.0) < 1e-9, 5])
        assert len(set(senses)) == 1, "it goes on the same way round"
        passed += on_disc.any()
        radii = np.linalg.norm(points - centre_of(motion), axis=1)
        np.testing.assert_allclose(radii[~on_disc], 0.05, rtol=0, atol=1e-7)
    assert passed > 5


def centre_of(motion: Trajectory) -> np.ndarray:
    """From the first segment: to the left of the heading by 1 / curvature."""
    _, x, y, hx, hy, curvature, *_ = motion.table[0]
    return np.array([x - hy / curvature, y + hx / curvature])


def test_an_obstacle_elsewhere_changes_nothing(region: Region, start: np.ndarray):
    free = plan(3, start, region)
    far = plan(3, start, region, obstacle=Obstacle((9.0, 9.0)))
    assert np.array_equal(free.table, far.table)


@pytest.mark.usefixtures("as_user")
def test_boxed_in_on_every_circle():
    """The region just holds the circle, and all of it is nearer to the obstacle than the start is."""
    region = Region((0.0, 0.0), (0.1001, 0.1001))
    with pytest.raises(NoRoomError):
        plan(0, np.array([0.05, 0.0, 0.0]), region, 0.02, Obstacle((-0.03, 0.0), 0.085, Reverse()))


def test_circles_with_room_are_preferred(region: Region):
    """Near the obstacle some circles lie almost wholly in its clearance; yet no run between two turns is short."""
    start = np.array([region.centre_m[0], region.centre_m[1], 0.0])
    obstacle = Obstacle((region.centre_m[0] + 0.09, region.centre_m[1]), 0.085, Reverse())
    for seed in range(60):
        runs = np.diff(plan(seed, start, region, 0.1, obstacle).table[1:, 0]) * 0.1
        assert (runs >= 0.05 * np.pi / 2 - 1e-9).all()
