"""Motions by name, their speeds, and what is said to a person who asks for something else."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest

from sido.errors import DataError, SettingError
from sido.motion import GANTRY_SIZE_M, MOTIONS, Driven, Region, Steady, Still, motion_named


def test_the_paper_speeds():
    commanded = {name: motion.speed_mps for name, motion in MOTIONS.items()}
    assert [commanded[name] for name in ("x", "y", "circle", "random")] == [0.02] * 4
    assert commanded["gantry"] == commanded["peachtree"] == 0.015
    assert commanded["still"] == 0.0


@pytest.mark.parametrize("name", [name for name in MOTIONS if name != "still"])
def test_a_speed_can_be_commanded(name: str):
    motion = motion_named(name, 0.04)
    assert motion.speed_mps == pytest.approx(0.04)
    assert motion_named(name) == MOTIONS[name], "the named motion itself is unchanged"
    assert hash(motion) == hash(motion_named(name, 0.04))


@pytest.mark.parametrize("speed_mps", [None, 0.0])
def test_still_is_still(region: Region, start: np.ndarray, speed_mps: float | None):
    still = motion_named("still", speed_mps)
    assert still == Still() == Still().at_speed(0.04)
    plan = still.trajectory(np.random.default_rng(0), start, region, 10.0)
    assert np.array_equal(plan.position(np.linspace(0, 10, 11)), np.tile(start, (11, 1)))
    assert not plan.velocity(np.linspace(0, 10, 11)).any()


def test_a_speed_of_nothing_is_no_slip_of_the_pen():
    """`--speed 0.04` without a motion, which is still unless it is named."""
    with pytest.raises(SettingError) as caught:
        motion_named("still", 0.04)
    assert str(caught.value) == (
        "a still object has no speed; found motion 'still' at 0.04 m/s; expected with a speed, one of x, y, circle, "
        "random, variable-speed, gantry, peachtree, accelerating, stop-and-go; to mend it: name the motion that it is "
        "the speed of, or leave the speed out"
    )


@pytest.mark.parametrize(
    ("wrong", "meant"),
    [("circl", "circle"), ("X", "x"), ("stop_and_go", "stop-and-go"), ("static", "still"), ("qqq", None)],
)
def test_an_unknown_name_offers_the_closest(wrong: str, meant: str | None):
    with pytest.raises(SettingError) as caught:
        motion_named(wrong)
    text = str(caught.value)
    assert text.startswith(f"unknown motion; found {wrong!r}; expected one of still, x, y, circle, random, ")
    assert text.endswith(f"; to mend it: did you mean {meant!r}?" if meant else "stop-and-go")


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("name", MOTIONS)
def test_a_speed_that_cannot_be_is_refused(name: str, region: Region, start: np.ndarray):
    for speed in (-0.02, float("nan"), float("inf")):
        with pytest.raises(SettingError, match=r"speed_mps: not a usable number; found .*; expected a finite number"):
            motion_named(name, speed)
    if name != "still":
        wide = Region(region.centre_m, (0.4, 0.4))
        with pytest.raises(
            SettingError, match=r"speed_mps: too fast for the region; found 5 m/s; expected .* in 0.4 x 0.4 m"
        ):
            motion_named(name, 5.0).trajectory(np.random.default_rng(0), start, wide, 10.0)


def test_the_limit_is_the_shortest_run_within_one_chunk(region: Region):
    assert motion_named("x").speed_limit_mps(region) == pytest.approx(0.25 / 0.4)
    assert motion_named("y").speed_limit_mps(Region((0, 0), GANTRY_SIZE_M)) == pytest.approx(0.43 / 0.4)
    assert motion_named("random").speed_limit_mps(Region((0, 0), GANTRY_SIZE_M)) == pytest.approx(0.23 / 0.4)
    assert motion_named("circle").speed_limit_mps(region) == pytest.approx(np.pi * 0.05 / 0.4)
    assert motion_named("accelerating").speed_limit_mps(region) == pytest.approx(0.25 / 0.4 / 1.5)
    assert motion_named("x", 0.0).speed_limit_mps(region) == pytest.approx(0.25 / 0.4)
    for name, motion in MOTIONS.items():  # what is asked for in the field is allowed in the paper's regions
        if name != "peachtree":
            assert motion.speed_limit_mps(region) >= 0.2
            assert motion.speed_limit_mps(Region((0, 0), GANTRY_SIZE_M)) >= 0.2


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("name", ["still", "x"])
def test_bad_starts_and_durations_are_refused(name: str, region: Region, start: np.ndarray):
    motion, rng = motion_named(name), np.random.default_rng(0)
    with pytest.raises(SettingError, match=r"start: .* starts outside .*found \(0.700, -0.030\); expected x 0.43"):
        motion.trajectory(rng, np.array([0.7, -0.03, 0.0]), region, 10.0)
    for bad in (np.array([np.nan, 0.0, 0.0]), np.zeros(2)):
        with pytest.raises(DataError, match=r"start: not a position; found .*; expected three finite numbers"):
            motion.trajectory(rng, bad, region, 10.0)
    for duration in (0.0, -1.0, float("nan"), float("inf")):
        with pytest.raises(SettingError, match=r"duration_s: not a duration; found .*; expected seconds, above 0"):
            motion.trajectory(rng, start, region, duration)


@pytest.mark.parametrize("name", MOTIONS)
def test_a_speed_of_nothing_rests(name: str, start: np.ndarray):
    wide = Region((0.56, 0.02), (0.4, 0.4))
    plan = motion_named(name, 0.0).trajectory(np.random.default_rng(0), start, wide, 10.0)
    np.testing.assert_allclose(plan.position(np.linspace(0, 10, 11)), np.tile(start, (11, 1)), rtol=0, atol=1e-12)


def test_a_course_of_ones_own(region: Region, start: np.ndarray):
    """The room is open: anything with `shortest_run_m` and `path` is a course."""
    from sido.motion import Course
    from sido.motion.walk import Walk

    class Diagonal:
        def shortest_run_m(self, region: Region) -> float:
            return min(region.size_m)

        def path(self, _rng, start, region, obstacle, schedule):
            walk = Walk(start, region, obstacle)
            walk.heading = (1 + 1j) / abs(1 + 1j)
            walk.go_to(schedule.length_m)
            return walk.path()

    assert isinstance(Diagonal(), Course)
    plan = Driven(Diagonal(), Steady(0.02)).trajectory(np.random.default_rng(0), start, region, 1.0)
    np.testing.assert_allclose(plan.position(1.0) - start, [0.02 / 2**0.5, 0.02 / 2**0.5, 0.0], rtol=0, atol=1e-12)


def test_importing_the_room_loads_no_torch():
    code = (
        "import sys, sido.motion; print([name for name in ('torch', 'mujoco', 'numba', 'h5py') if name in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
