"""The contract, on every motion, with and without something in the way; and on broken ones, which it rejects."""

from __future__ import annotations

import numpy as np
import pytest

from contracts.motion import check_motion
from sido.motion import (
    MOTIONS,
    Driven,
    Obstacle,
    PassBeside,
    PlaceOutside,
    Region,
    Resampled,
    Reverse,
    Trajectory,
    motion_named,
)

REGION = Region(centre_m=(0.56, 0.02), size_m=(0.31, 0.36))
START = np.array([0.60, -0.03, -0.08])
IN_THE_WAY = (0.50, 0.0)


def check_named(
    name: str, speed_mps: float, start: np.ndarray = START, obstacle: Obstacle | None = None, seed: int = 0
):
    motion = motion_named(name, None if name == "still" else speed_mps)
    drawn = isinstance(motion, Driven) and isinstance(motion.pace, Resampled)
    # A minute holds only a few of the drawn speeds; tests/motion/test_paces.py has their mean.
    check_motion(motion, start, REGION, obstacle, seed=seed, mean_tolerance=2.0 if drawn else 0.01)


@pytest.mark.parametrize("speed_mps", [0.005, 0.02, 0.2])
@pytest.mark.parametrize("name", MOTIONS)
def test_keeps_the_contract(name: str, speed_mps: float):
    check_named(name, speed_mps)


@pytest.mark.parametrize("rule", [Reverse(), PassBeside(), PlaceOutside()])
@pytest.mark.parametrize("name", MOTIONS)
def test_keeps_the_contract_with_an_obstacle(name: str, rule):
    obstacle = Obstacle(IN_THE_WAY, 0.085, rule)
    for seed, speed_mps in enumerate([0.01, 0.1]):
        check_named(name, speed_mps, obstacle=obstacle, seed=seed)


@pytest.mark.parametrize("corner", [(0.405, -0.16), (0.405, 0.20), (0.715, -0.16)])
@pytest.mark.parametrize("name", [name for name in MOTIONS if name != "circle"])  # which finds no room in a corner
def test_keeps_the_contract_from_a_corner(name: str, corner: tuple[float, float]):
    check_named(name, 0.05, np.array([*corner, 0.0]))


class Broken:
    """A motion with one fault."""

    def __init__(self, fault: str) -> None:
        self._motion, self._fault = (
            motion_named("x" if fault == "anywhere" else "random", 0.019 if fault == "lazy" else 0.02),
            fault,
        )
        self._calls = 0
        self.speed_mps = 0.02

    def at_speed(self, speed_mps: float):
        return self if self._fault == "negative" else self._motion.at_speed(speed_mps)

    def speed_limit_mps(self, region: Region) -> float:
        return 0.01 if self._fault == "limit" else self._motion.speed_limit_mps(region)

    def trajectory(self, rng, start, region, duration_s, obstacle=None) -> Trajectory:
        self._calls += 1
        if self._fault == "unseeded":
            rng = np.random.default_rng(self._calls)
        if self._fault == "greedy":
            rng.integers(10)
        if self._fault == "duration":
            rng = np.random.default_rng([rng.integers(2**63), rng.integers(2**63), int(duration_s)])
        if self._fault == "writes":
            start += 0.001
        if self._fault == "anywhere":
            region = Region(region.centre_m, (9.0, 9.0))
        plan = self._motion.trajectory(rng, start, region, duration_s, obstacle)
        table = plan.table.copy()
        if self._fault == "jumps":
            table[10:, 1] += 0.004 * np.sign(region.centre_m[0] - table[10:, 1])
        if self._fault == "slow":
            table[:, 6] *= 0.98
        if self._fault == "hurries":
            table[5, 6] += 0.2
        return BROKEN_PLANS.get(self._fault, Trajectory)(table, plan.height_m, plan.duration_s, plan.chances_s)


class Rising(Trajectory):
    def position(self, t):
        return super().position(t) + np.multiply.outer(np.asarray(t), [0.0, 0.0, 1e-4])


class Backwards(Trajectory):
    def velocity(self, t):
        return -super().velocity(t)


class Counting(Trajectory):
    def distance(self, t):
        return 0.97 * super().distance(t)


class Beside(Trajectory):
    def position(self, t):
        return super().position(t) + (1e-10 if np.ndim(t) else 0.0)


BROKEN_PLANS = {"rises": Rising, "velocity": Backwards, "distance": Counting, "beside": Beside}


FAULTS = {
    "unseeded": "the same seed gives the same motion",
    "greedy": "takes the same from its generator",
    "duration": "a longer plan continues a shorter one",
    "writes": "the start is not written to",
    "anywhere": "never leaves the region",
    "jumps": "never jumps",
    "hurries": "never jumps",
    "slow": "never jumps",
    "rises": "its height stays",
    "velocity": "velocity is the derivative",
    "distance": "distance is the way travelled",
    "lazy": "the mean speed is the commanded one",
    "beside": "what is asked beside",
    "negative": "DID NOT RAISE",
    "limit": "DID NOT RAISE",
}


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("fault", FAULTS)
def test_the_contract_rejects_a_broken_motion(fault: str):
    with pytest.raises((AssertionError, pytest.fail.Exception), match=FAULTS[fault]):
        check_motion(Broken(fault), START.copy(), REGION)


@pytest.mark.usefixtures("as_user")
def test_the_wrapper_itself_is_sound():
    check_motion(Broken("none"), START.copy(), REGION)
