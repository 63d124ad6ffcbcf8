"""The second object in the way: each rule against a slow integrator or by its geometry, and where there is no room."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from motion.slow_walk import slow_walk
from sido.errors import SettingError
from sido.motion import (
    AlongAxis,
    Driven,
    NoRoomError,
    Obstacle,
    PassBeside,
    PlaceOutside,
    RandomDirection,
    Region,
    Reverse,
    Rule,
    Steady,
    Waypoints,
)

REGION = Region((0.0, 0.0))
TIMES = np.linspace(0.0, 60.0, 6001)
COURSES = st.sampled_from([AlongAxis("x"), AlongAxis("y"), RandomDirection(0.8), Waypoints(0.31)])
WITHIN = st.floats(-0.12, 0.12)


def plan(course, obstacle: Obstacle | None, start, seed: int = 0, speed: float = 0.05, duration_s: float = 60.0):
    begin = np.array([start[0], start[1], 0.0])
    return Driven(course, Steady(speed)).trajectory(np.random.default_rng(seed), begin, REGION, duration_s, obstacle)


def gaps(motion, obstacle: Obstacle) -> np.ndarray:
    return np.linalg.norm(motion.position(TIMES)[:, :2] - obstacle.position_m, axis=1)


@pytest.mark.parametrize("seed", [0, 1, 2, 5])
@pytest.mark.parametrize("course", [AlongAxis("x"), RandomDirection(0.8)], ids=str)
def test_reversing_is_what_a_slow_integrator_does(course, seed: int):
    obstacle = Obstacle((0.04, 0.01), 0.06)
    start, speed, dt = (-0.03, -0.02), 0.05, 1e-4
    motion = plan(course, obstacle, start, seed, speed, 16.0)
    drawn = motion.velocity(0.8 * np.arange(20) + 1e-6)[:, :2] / speed

    def heading_at(step: int) -> tuple[float, float] | None:
        draws = step == 0 or (isinstance(course, RandomDirection) and step % 8000 == 0)
        return (drawn[step // 8000][0], drawn[step // 8000][1]) if draws else None

    slow = slow_walk(start, heading_at, REGION, speed, 160_000, dt, (*obstacle.position_m, obstacle.clearance_m))
    found = motion.position(np.linspace(0.0, 16.0, 160_001))[:, :2]
    # Each meeting is noticed up to one step late.
    assert np.abs(found - slow).max() < 40 * speed * dt
    assert (np.linalg.norm(found - obstacle.position_m, axis=1) < 0.0601).any(), "it did meet the obstacle"


@given(
    course=COURSES, x=WITHIN, y=WITHIN, ox=WITHIN, oy=WITHIN, clearance=st.floats(0.02, 0.1),
    rule=st.sampled_from([Reverse(), PassBeside()]), seed=st.integers(0, 9999),
)  # fmt: skip
def test_the_clearance_is_kept_inside_the_region_at_constant_speed(course, x, y, ox, oy, clearance, rule, seed):
    gap = float(np.hypot(x - ox, y - oy))
    assume(gap > 1e-3)
    obstacle = Obstacle((ox, oy), clearance, rule)
    try:
        motion = plan(course, obstacle, (x, y), seed)
    except NoRoomError:
        # Only an object that starts between wall and obstacle, on their common line, may have nowhere to go.
        assert isinstance(course, AlongAxis)
        assert gap < clearance + 0.01
        return
    assert gaps(motion, obstacle).min() >= min(clearance, gap) - 1e-9
    assert REGION.contains(motion.position(TIMES)).all()
    np.testing.assert_allclose(np.linalg.norm(motion.velocity(TIMES), axis=1), 0.05, rtol=1e-9)
    moves = np.linalg.norm(np.diff(motion.position(TIMES), axis=0), axis=1)
    assert moves.max() <= 0.05 * 0.01 + 1e-12
    assert motion.distance(60.0) == pytest.approx(3.0, rel=1e-9)


def test_reversing_goes_back_the_very_way():
    obstacle = Obstacle((0.10, 0.0), 0.08)
    motion = next(
        found
        for seed in range(9)
        if (found := plan(AlongAxis("x"), obstacle, (-0.02, 0.03), seed)).velocity(0.0)[0] > 0
    )
    meeting = motion.table[1, 0]
    ahead = np.linspace(0.0, meeting, 50)
    np.testing.assert_allclose(motion.position(meeting + ahead), motion.position(meeting - ahead), rtol=0, atol=1e-12)
    assert np.linalg.norm(motion.position(meeting)[:2] - obstacle.position_m) == pytest.approx(0.08, abs=1e-12)


def test_passing_beside_goes_round_the_shorter_way_and_on():
    obstacle = Obstacle((0.0, 0.0), 0.03, PassBeside())
    motion = plan(AlongAxis("x"), obstacle, (-0.1, 0.01))
    free = np.abs(gaps(motion, obstacle) - 0.03) > 1e-9
    points = motion.position(TIMES)[:, :2]
    np.testing.assert_allclose(points[free, 1], 0.01, rtol=0, atol=1e-12)
    assert (points[~free, 1] > 0.01 - 1e-9).all(), "on the side where it comes from"
    assert np.ptp(points[:, 0]) == pytest.approx(0.25, abs=1e-3), "it crosses the whole region"
    half = np.sqrt(0.03**2 - 0.01**2)
    arc = 2 * 0.03 * np.arctan2(half, 0.01)
    straight_way = 0.25 - 2 * half + arc
    wall_to_wall = np.diff(motion.table[np.isclose(np.abs(motion.table[:, 1]), 0.125), 0])
    np.testing.assert_allclose(wall_to_wall, straight_way / 0.05, rtol=1e-9)


def test_passing_beside_takes_the_other_side_near_an_edge_and_turns_back_where_there_is_none():
    near_edge = Obstacle((0.0, 0.10), 0.04, PassBeside())
    motion = plan(AlongAxis("x"), near_edge, (-0.1, 0.11))
    assert motion.position(TIMES)[:, 1].min() == pytest.approx(0.06, abs=1e-4)
    assert np.ptp(motion.position(TIMES)[:, 0]) == pytest.approx(0.25, abs=1e-3)
    across = Obstacle((0.0, 0.0), 0.126, PassBeside())
    motion = plan(AlongAxis("x"), across, (-0.12, 0.10))
    reversed_too = plan(AlongAxis("x"), Obstacle((0.0, 0.0), 0.126, Reverse()), (-0.12, 0.10))
    np.testing.assert_array_equal(motion.table, reversed_too.table)


@given(course=COURSES, x=WITHIN, y=WITHIN, ox=WITHIN, oy=WITHIN, seed=st.integers(0, 99))
def test_placed_outside_it_changes_nothing(course, x, y, ox, oy, seed):
    obstacle = Obstacle((ox, oy), 0.085, PlaceOutside())
    stands = obstacle.placed(REGION)
    assert stands.position_m[0] == ox
    assert abs(stands.position_m[1]) == pytest.approx(0.125 + 0.085)
    assert np.sign(stands.position_m[1]) == np.copysign(1.0, oy)
    assert stands.placed(REGION) == stands
    with_it, without = plan(course, obstacle, (x, y), seed), plan(course, None, (x, y), seed)
    assert np.array_equal(with_it.table, without.table)


def test_the_rules_are_rules():
    for rule in (Reverse(), PassBeside(), PlaceOutside("x")):
        assert isinstance(rule, Rule)
    for rule in (Reverse(), PassBeside()):
        assert Obstacle((0.01, 0.02), 0.05, rule).placed(REGION).position_m == (0.01, 0.02)
    assert Obstacle((-0.01, 0.02), 0.05, PlaceOutside("x")).placed(REGION).position_m == (-0.175, 0.02)


def test_starting_too_near_it_may_leave_but_comes_no_nearer():
    obstacle = Obstacle((0.05, 0.0), 0.085)
    motion = plan(AlongAxis("x"), obstacle, (0.0, 0.0))
    found = motion.position(TIMES)[:, 0]
    assert found.max() == pytest.approx(0.0, abs=1e-9)
    assert found.min() == pytest.approx(-0.125, abs=1e-3)


@pytest.mark.usefixtures("as_user")
def test_no_room_is_said():
    with pytest.raises(NoRoomError, match=r"no room along x; found the object at \(0.123, 0.000\).*another place"):
        plan(AlongAxis("x"), Obstacle((0.05, 0.0), 0.085), (0.123, 0.0))
    with pytest.raises(NoRoomError, match="stands where the obstacle stands"):
        plan(AlongAxis("x"), Obstacle((0.05, 0.0)), (0.05, 0.0))
    with pytest.raises(SettingError, match=r"Obstacle.clearance_m.*found 0"):
        Obstacle((0.0, 0.0), 0.0)
    with pytest.raises(SettingError, match=r"Obstacle.position_m: not a place; found \(nan, 0.0\)"):
        Obstacle((float("nan"), 0.0))


def test_a_wanderer_that_is_boxed_in_draws_again():
    """Between wall and obstacle, where it would only tremble on the line of both, a random motion finds its way out."""
    obstacle = Obstacle((0.05, 0.0), 0.085)
    for seed in range(50):
        motion = plan(RandomDirection(0.8), obstacle, (0.1249, 0.0), seed)
        lasts = np.diff(motion.table[:, 0])
        assert (lasts < 1e-3).sum() < 10
        assert np.ptp(motion.position(TIMES)[:, :2], axis=0).max() > 0.02
