"""Straight courses against the triangle wave, against a slow integrator, and for what is drawn."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from motion.slow_walk import slow_walk
from sido.errors import SettingError
from sido.motion import (
    GANTRY_SIZE_M,
    AlongAxis,
    Driven,
    RandomDirection,
    Region,
    Resampled,
    Steady,
    StopAndGo,
    Sway,
    Trajectory,
    Waypoints,
)

TIMES = np.linspace(0.0, 60.0, 6001)


def triangle(offset: float, way: np.ndarray, low: float, high: float) -> np.ndarray:
    """Where a point is that went `way` from `low + offset` upwards, reflected at both ends."""
    span = high - low
    return high - np.abs((offset + way) % (2 * span) - span)


def plan(motion: Driven, seed: int, start: np.ndarray, region: Region, duration_s: float = 60.0) -> Trajectory:
    return motion.trajectory(np.random.default_rng(seed), start, region, duration_s)


@given(
    x=st.floats(-0.125, 0.125), y=st.floats(-0.125, 0.125), speed=st.floats(0.005, 0.2), seed=st.integers(0, 99),
    axis=st.sampled_from(["x", "y"]),
)  # fmt: skip
def test_along_an_axis_is_a_triangle_wave(x: float, y: float, speed: float, seed: int, axis: str):
    region = Region((0.5, -0.1))
    start = np.array([0.5 + x, -0.1 + y, 0.03])
    motion = plan(Driven(AlongAxis(axis), Steady(speed)), seed, start, region)
    along, across = ("xy".index(axis), 1 - "xy".index(axis))
    found = motion.position(TIMES)
    low, high = region.low_m[along], region.high_m[along]
    up = triangle(start[along] - low, speed * TIMES, low, high)
    down = low + high - triangle(high - start[along], speed * TIMES, low, high)
    assert min(np.abs(found[:, along] - up).max(), np.abs(found[:, along] - down).max()) < 1e-9
    np.testing.assert_allclose(found[:, across], start[across], rtol=0, atol=1e-12)


def test_both_ways_are_drawn(region: Region, start: np.ndarray):
    motion = Driven(AlongAxis("x"), Steady(0.02))
    ways = [plan(motion, seed, start, region, 1.0).velocity(0.0)[0] for seed in range(200)]
    assert set(ways) == {-0.02, 0.02}
    assert 70 < np.sum(np.array(ways) > 0) < 130


def test_a_mirrored_world_has_the_mirrored_wave(region: Region, start: np.ndarray):
    """Reflection is symmetric: a start mirrored about the centre goes the mirrored way."""
    motion = Driven(AlongAxis("x"), Steady(0.07))
    mirrored = np.array([2 * region.centre_m[0] - start[0], start[1], start[2]])
    here = [plan(motion, seed, start, region).position(TIMES)[:, 0] - region.centre_m[0] for seed in range(8)]
    there = [plan(motion, seed, mirrored, region).position(TIMES)[:, 0] - region.centre_m[0] for seed in range(8)]
    for seed in range(8):
        assert any(np.abs(here[seed] + other).max() < 1e-9 for other in there)


@given(y=st.floats(-0.2, 0.2), seed=st.integers(0, 99))
def test_sway_swings_over_its_length_through_the_start(y: float, seed: int):
    region = Region((0.5, 0.0), (0.3, 0.4))
    start = np.array([0.45, y, 0.4])
    swung = plan(Driven(Sway(0.30, "y"), Steady(0.015)), seed, start, region).position(np.linspace(0, 60, 60001))[:, 1]
    assert np.ptp(swung) == pytest.approx(0.30, abs=2e-5)
    middle = (swung.max() + swung.min()) / 2
    assert middle == pytest.approx(np.clip(0.0, y - 0.15, y + 0.15), abs=2e-5)


def headings_of(motion: Trajectory, every_s: float) -> list[np.ndarray]:
    """The headings that were drawn, read off just after each draw."""
    velocities = motion.velocity(np.arange(0.0, motion.duration_s - 1e-3, every_s) + 1e-6)
    return list(velocities[:, :2] / np.linalg.norm(velocities[:, :2], axis=1, keepdims=True))


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("speed", [0.02, 0.2])
def test_random_is_what_a_slow_integrator_does(seed: int, speed: float, region: Region, start: np.ndarray):
    motion = plan(Driven(RandomDirection(0.8), Steady(speed)), seed, start, region, 24.0)
    drawn = headings_of(motion, 0.8)
    slow = slow_walk(
        (start[0], start[1]),
        lambda step: (drawn[step // 800][0], drawn[step // 800][1]) if step % 800 == 0 else None,
        region, speed, 24000, 0.001,
    )  # fmt: skip
    found = motion.position(np.linspace(0.0, 24.0, 24001))[:, :2]
    np.testing.assert_allclose(found, slow, rtol=0, atol=1e-9)


def test_random_headings_are_uniform_and_change_every_16_steps(region: Region, start: np.ndarray):
    motion = plan(Driven(RandomDirection(0.8), Steady(0.005)), 4, start, Region((0.6, 0.0), (9.0, 9.0)), 3200.0)
    headings = np.array(headings_of(motion, 0.8))
    angles = np.arctan2(headings[:, 1], headings[:, 0])
    counts, _ = np.histogram(angles, 8, (-np.pi, np.pi))
    assert len(angles) == 4000
    assert ((counts - 500) ** 2 / 500).sum() < 24.3  # chi squared, 7 degrees of freedom: one seed in a thousand
    np.testing.assert_allclose(motion.chances_s, 0.8 * np.arange(1, 4000), rtol=0, atol=1e-6)


def test_random_keeps_its_clock_when_the_pace_changes(region: Region, start: np.ndarray):
    """Directions are drawn by the clock, targets by the way: 16 steps are 16 steps at any speed."""
    motion = plan(Driven(RandomDirection(0.8), Resampled((0.01, 0.05), 0.05)), 3, start, region)
    draws = set(np.round(motion.chances_s, 6))
    assert set(np.round(0.8 * np.arange(1, 75), 6)) <= draws


def test_waypoints_are_aimed_at_and_passed(start: np.ndarray):
    """Legs of 31 cm; each leads, straight or by reflections, and the targets cover the region evenly."""
    region = Region((0.56, 0.0), GANTRY_SIZE_M)
    motion = plan(Driven(Waypoints(0.31), Steady(0.015)), 1, start, region, 600.0)
    legs_s = 0.31 / 0.015
    assert legs_s == pytest.approx(20.7, abs=0.05)  # the paper's figure
    np.testing.assert_allclose(motion.chances_s, legs_s * np.arange(1, 30), rtol=0, atol=1e-6)
    for leg in range(5):
        begin = motion.position(leg * legs_s + 1e-6)
        heading = motion.velocity(leg * legs_s + 1e-6) / 0.015
        slow = slow_walk(
            (begin[0], begin[1]),
            lambda step, heading=heading: (heading[0], heading[1]) if step == 0 else None,
            region, 0.015, 2000, 0.01,
        )  # fmt: skip
        found = motion.position(leg * legs_s + 1e-6 + 0.01 * np.arange(2001))[:, :2]
        np.testing.assert_allclose(found, slow, rtol=0, atol=1e-7)


def test_waypoint_headings_point_at_uniform_targets():
    """From a corner every target lies in one quadrant, and from the middle of a long region most lie along it."""
    region = Region((0.0, 0.0), (0.1, 0.4))
    motion = Driven(Waypoints(0.31), Steady(0.015))
    corner = np.array([plan(motion, s, np.array([-0.05, -0.2, 0.0]), region, 1.0).velocity(0.0) for s in range(100)])
    assert (corner[:, :2] > 0).all()
    middle = np.array([plan(motion, s, np.zeros(3), region, 1.0).velocity(0.0) for s in range(400)])
    share = (np.abs(middle[:, 1]) > np.abs(middle[:, 0])).mean()
    assert share == pytest.approx(1 - 0.25 / 2, abs=0.05)  # by area: |y| > |x| in a box of 1 x 4


@given(
    x=st.floats(-0.04, 0.04), y=st.floats(-0.05, 0.05), width=st.floats(0.1, 0.5), height=st.floats(0.1, 0.5),
    course=st.sampled_from([RandomDirection(0.3), Waypoints(0.1), AlongAxis("y")]),
    pace=st.sampled_from([Steady(0.1), Resampled((0.02, 0.1), 0.07), StopAndGo(0.06)]), seed=st.integers(0, 2**32),
)  # fmt: skip
def test_never_leaves_any_region(x, y, width, height, course, pace, seed):
    region = Region((0.0, 0.0), (width, height))
    motion = plan(Driven(course, pace), seed, np.array([x, y, 0.0]), region)
    found = motion.position(TIMES)[:, :2]
    assert (np.abs(found) <= np.array([width, height]) / 2 + 1e-12).all()
    speeds = np.linalg.norm(motion.velocity(TIMES), axis=1)
    assert speeds.max() <= pace.peak_speed_mps * (1 + 1e-9)


@pytest.mark.usefixtures("as_user")
def test_a_sway_longer_than_the_region_is_refused(region: Region, start: np.ndarray):
    with pytest.raises(SettingError, match=r"sway is longer.*found 0.3 m; expected 0.25 m at most"):
        plan(Driven(Sway(0.30), Steady(0.015)), 0, start, region)
    for build in (lambda: Sway(-1.0), lambda: RandomDirection(0.0), lambda: Waypoints(float("nan"))):
        with pytest.raises(SettingError, match="finite number above 0"):
            build()
