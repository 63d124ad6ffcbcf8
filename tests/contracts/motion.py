"""What every motion must satisfy, as one function; `test_motion.py` runs it on each."""

from __future__ import annotations

import numpy as np
import pytest

from sido.errors import SettingError
from sido.motion import Motion, Obstacle, Region, Trajectory

MINUTE_S = 60.0
FINE_S = 0.001


def check_motion(
    motion: Motion,
    start: np.ndarray,
    region: Region,
    obstacle: Obstacle | None = None,
    *,
    seed: int = 0,
    mean_tolerance: float = 0.01,
) -> None:
    """A motion planned for a minute is repeatable, extensible, continuous, inside, and as fast as commanded."""
    assert isinstance(motion, Motion)
    given = start.copy()
    plan = motion.trajectory(np.random.default_rng(seed), start, region, MINUTE_S, obstacle)
    assert np.array_equal(start, given), "the start is not written to"
    check_repeatable(motion, plan, start, region, obstacle, seed)
    check_kinematics(plan, start, region)
    mean = plan.distance(MINUTE_S) / MINUTE_S
    assert mean == pytest.approx(motion.speed_mps, rel=mean_tolerance, abs=1e-12), "the mean speed is the commanded one"
    with pytest.raises(SettingError, match="speed_mps"):
        motion.at_speed(-0.01)
    with pytest.raises(SettingError, match="outside of its region"):
        motion.trajectory(np.random.default_rng(seed), start + np.array([1.0, 0.0, 0.0]), region, 1.0, obstacle)
    limit = motion.speed_limit_mps(region)
    if np.isfinite(limit):
        with pytest.raises(SettingError, match="too fast for the region"):
            motion.at_speed(1.01 * limit).trajectory(np.random.default_rng(seed), start, region, 1.0, obstacle)


def check_repeatable(
    motion: Motion, plan: Trajectory, start: np.ndarray, region: Region, obstacle: Obstacle | None, seed: int
) -> None:
    """The seed alone decides; the duration and the times that are asked for do not."""
    rng, other = np.random.default_rng(seed), np.random.default_rng(seed)
    again = motion.trajectory(rng, start, region, MINUTE_S, obstacle)
    assert np.array_equal(again.table, plan.table), "the same seed gives the same motion"
    other.integers(2**63, size=2)
    assert rng.bit_generator.state == other.bit_generator.state, "every motion takes the same from its generator"
    shorter = motion.trajectory(np.random.default_rng(seed), start, region, MINUTE_S / 7, obstacle)
    times = np.linspace(0.0, MINUTE_S / 7, 300)
    assert np.array_equal(shorter.position(times), plan.position(times)), "a longer plan continues a shorter one"
    one_by_one = np.stack([plan.position(float(t)) for t in times[::30]])
    assert np.array_equal(one_by_one, plan.position(times)[::30]), "what is asked beside changes nothing"


def check_kinematics(plan: Trajectory, start: np.ndarray, region: Region) -> None:
    """Position, velocity and distance agree with each other and with the region: a slow integrator is the judge."""
    np.testing.assert_allclose(plan.position(0.0), start, rtol=0, atol=1e-9, err_msg="it begins at its start")
    edges = np.linspace(0.0, plan.duration_s, round(plan.duration_s / FINE_S) + 1)
    positions = plan.position(edges)
    assert region.contains(positions).all(), "it never leaves the region"
    assert np.ptp(positions[:, 2]) == 0.0, "its height stays"
    velocity = plan.velocity((edges[:-1] + edges[1:]) / 2)
    speed = np.linalg.norm(velocity, axis=1)
    moves = np.linalg.norm(np.diff(positions, axis=0), axis=1)
    lasts = np.diff(edges)
    # Within a step the speed changes by its acceleration at most; a jump would be far beyond that.
    steepest = np.abs(plan.table[:, 7]).max(initial=0.0)
    assert (moves <= (speed.max() + steepest * FINE_S) * lasts + 1e-12).all(), "it never jumps"
    integrated = start + np.concatenate([np.zeros((1, 3)), np.cumsum(velocity * lasts[:, None], axis=0)])
    turns = len(plan.table)  # in a step with a joint the midpoint is wrong by a step's way at most
    tolerance = 1e-6 + turns * (speed.max() + steepest * FINE_S) * FINE_S
    assert np.abs(integrated - positions).max() <= tolerance, "velocity is the derivative of position"
    travelled = np.concatenate([[0.0], np.cumsum(speed * lasts)])
    assert np.abs(plan.distance(edges) - travelled).max() <= 1e-6 + 0.1 * tolerance, "distance is the way travelled"
