"""A motion under way: steps of any size, the grasp and the drop, and what can be foretold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import SettingError
from sido.motion import MOTIONS, Drive, Obstacle, Region, motion_named

WIDE = Region((0.56, 0.02), (0.31, 0.36))
START = np.array([0.60, -0.03, -0.08])
DROPPED = np.array([0.50, 0.07, -0.08])


def drive(name: str, seed: int = 0, obstacle: Obstacle | None = None) -> Drive:
    return Drive(motion_named(name), np.random.default_rng(seed), START, WIDE, obstacle)


def run(drive: Drive, seconds: float, dt_s: float = 0.05) -> None:
    for _ in range(round(seconds / dt_s)):
        drive.step(dt_s)


@pytest.mark.parametrize("name", MOTIONS)
def test_the_size_of_the_steps_does_not_matter(name: str):
    drives = [drive(name) for _ in range(3)]
    for each, dt_s in zip(drives, (0.002, 0.05, 0.25), strict=True):
        run(each, 6.0, dt_s)
        np.testing.assert_allclose(each.position, drives[0].position, rtol=0, atol=1e-12)
        np.testing.assert_allclose(each.velocity, drives[0].velocity, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", MOTIONS)
def test_it_follows_its_plan_beyond_the_first_length(name: str):
    moving = drive(name)
    before = moving.trajectory(10.0)
    run(moving, 50.0, 0.5)
    plan = moving.trajectory(50.0)
    assert plan.duration_s > before.duration_s
    np.testing.assert_array_equal(plan.position(50.0), moving.position)
    times = np.linspace(0, 10, 99)
    np.testing.assert_array_equal(before.position(times), plan.position(times))


@pytest.mark.parametrize("name", MOTIONS)
def test_held_time_stops_and_it_goes_on_from_where_it_is_dropped(name: str):
    moving = drive(name)
    run(moving, 3.0)
    taken = moving.position
    moving.hold()
    run(moving, 5.0)
    assert moving.time_s == pytest.approx(3.0)
    np.testing.assert_array_equal(moving.position, taken)
    assert not moving.velocity.any()
    assert moving.future(0.1) is None
    moving.resume(DROPPED)
    assert not moving.held
    np.testing.assert_allclose(moving.position, DROPPED, rtol=0, atol=1e-12)
    run(moving, 20.0)
    assert WIDE.contains(moving.trajectory(60.0).position(np.linspace(0, 60, 2000))).all()
    if name != "still":
        assert moving.trajectory(20.0).distance(20.0) > 0.1


def test_the_nth_plan_does_not_depend_on_how_long_the_others_lasted():
    early, late = drive("random"), drive("random")
    run(early, 0.5)
    run(late, 40.0)
    for each in (early, late):
        each.hold()
        each.resume(DROPPED)
    np.testing.assert_array_equal(early.trajectory(0.0).table, late.trajectory(0.0).table)
    first = drive("random").trajectory(0.0)
    assert not np.array_equal(first.velocity(0.0), early.velocity), "and it is not the first one again"


def test_seeds_differ_and_decide():
    assert np.array_equal(drive("random", 1).trajectory(9.0).table, drive("random", 1).trajectory(9.0).table)
    assert not np.array_equal(drive("random", 1).velocity, drive("random", 2).velocity)


def test_every_motion_takes_the_same_from_the_generator():
    states = set()
    for motion in MOTIONS.values():
        rng = np.random.default_rng(3)
        Drive(motion, rng, START, WIDE)
        states.add(str(rng.bit_generator.state))
    assert len(states) == 1


@given(name=st.sampled_from(list(MOTIONS)), seed=st.integers(0, 999), at=st.integers(0, 200), ahead=st.integers(1, 40))
def test_the_future_comes_true(name: str, seed: int, at: int, ahead: int):
    moving = drive(name, seed, Obstacle((0.5, 0.0), 0.06))
    run(moving, 0.05 * at)
    foretold = moving.future(0.05 * ahead)
    coming = moving.trajectory(moving.time_s + 0.05 * ahead).position(moving.time_s + 0.05 * ahead)
    run(moving, 0.05 * ahead)
    np.testing.assert_allclose(coming, moving.position, rtol=0, atol=1e-12)
    if foretold is not None:
        np.testing.assert_allclose(foretold, moving.position, rtol=0, atol=1e-12)
    if name not in ("random", "gantry", "variable-speed"):
        assert foretold is not None


def test_the_future_of_a_random_motion_is_open_beyond_its_next_draw():
    moving = drive("random")
    run(moving, 0.5)
    assert moving.future(0.29) is not None
    assert moving.future(0.31) is None


@pytest.mark.usefixtures("as_user")
def test_a_place_that_cannot_be_resumed_from_changes_nothing():
    moving = drive("circle")
    run(moving, 2.0)
    moving.hold()
    for place in (np.array([2.0, 0.0, 0.0]), np.array([*WIDE.high_m, 0.0])):
        with pytest.raises(SettingError):
            moving.resume(place)
        assert moving.held
        assert moving.time_s == pytest.approx(2.0)
    moving.resume(DROPPED)
    with pytest.raises(SettingError, match=r"dt_s: not a usable number; found 0"):
        moving.step(0.0)
    with pytest.raises(SettingError, match=r"ahead_s: not a usable number; found -1"):
        moving.future(-1.0)


def test_the_start_is_not_kept_by_reference():
    start = START.copy()
    moving = Drive(motion_named("x"), np.random.default_rng(0), start, WIDE)
    start += 1.0
    run(moving, 50.0)
    assert WIDE.contains(moving.position)
