"""From goals to actions: limits, and that all specs command the same."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.demos.absolute import in_frame, quat_of_rotation
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.geometry import Pose, quat_angle, quat_from_axis_angle, quat_multiply
from sido.sim.experts.sight import DOWN, Goal
from sido.sim.experts.steering import REACH_M, REACH_RAD, Steering, in_action_spec

SPEC = ACTION_SPECS["osc-absolute"]
HANDS = Pose(((0.4, 0.0, 0.1), (0.5, 0.1, 0.0)), DOWN)
WORLD_FROM_BASE = Pose((-0.56, 0.1, 0.912), (np.cos(0.2), 0.0, 0.0, np.sin(0.2)))


def ways(seed: int, steps: int = 30, *, spec: ActionSpec = SPEC) -> list[tuple[np.ndarray, np.ndarray]]:
    """Of two hands that are sent to and fro."""
    rng = np.random.default_rng(seed)
    steering = Steering(2, spec=spec, speed=1.0)
    done = []
    for k in range(steps):
        if k % 7 == 0:
            turned = quat_from_axis_angle(rng.normal(size=(2, 3)))
            goal = Goal(rng.normal(size=(2, 3)), quat_multiply(turned, np.tile(DOWN, (2, 1))), rng.normal(size=(2, 3)))
        done.append(steering.steer(HANDS, goal, np.array([0.2, 5.0]), np.array([1.0, 50.0])))
    return done


@given(seed=st.integers(0, 999))
def test_no_way_is_longer_than_an_action_reaches(seed: int):
    for step, turn in ways(seed):
        assert np.linalg.norm(step, axis=1).max() < REACH_M + 1e-12
        assert np.linalg.norm(turn, axis=1).max() < REACH_RAD + 1e-12


@given(seed=st.integers(0, 999))
def test_what_is_commanded_changes_smoothly(seed: int):
    """2 m/s^2 for 0.05 s, times the lag of 0.188 s; a cut to the reach only brings ways nearer to each other."""
    steps = np.array([np.zeros((2, 3)), *(step for step, _ in ways(seed))])
    assert np.linalg.norm(np.diff(steps, axis=0), axis=2).max() < 2.0 * 0.05 * 0.1883 + 1e-9


def test_a_spec_of_small_increments_is_never_asked_for_more():
    small = ActionSpec("relative", position_scale_m=0.01, rotation_scale_rad=0.1)
    for step, turn in ways(1, spec=small):
        assert np.linalg.norm(step, axis=1).max() < 0.01 + 1e-12
        assert np.linalg.norm(turn, axis=1).max() < 0.1 + 1e-12


def test_a_hand_at_its_goal_stays():
    steering = Steering(2, spec=SPEC, speed=1.0)
    step, turn = steering.steer(HANDS, Goal(HANDS.position, HANDS.quat_wxyz), np.ones(2), np.ones(2))
    assert np.abs(step).max() == 0.0
    assert np.abs(turn).max() < 1e-12


@pytest.mark.parametrize("frame", ["base", "world"])
@pytest.mark.parametrize("name", ["osc-absolute", "osc-delta", "rot6d-absolute", "droid"])
def test_every_spec_says_the_same_goal(name: str, frame):
    """Read back by the definition of each."""
    spec = dataclasses.replace(ACTION_SPECS[name], frame=frame)
    way, turn = ways(2)[-1]
    actions = in_action_spec(HANDS, (way, turn), np.array([True, False]), spec, WORLD_FROM_BASE)
    assert actions.shape == (2, spec.dim)
    assert list(spec.closes(actions)) == [True, False]
    if frame == "world":
        actions = in_frame(actions, spec, WORLD_FROM_BASE.inverse())
    if spec.kind == "absolute":
        position, quat = actions[:, :3], quat_of_rotation(actions[:, spec.rotation_slice], spec.rotation)
    else:
        position = HANDS.position + 0.05 * actions[:, :3]
        quat = quat_multiply(quat_from_axis_angle(0.5 * actions[:, 3:6]), HANDS.quat_wxyz)
    np.testing.assert_allclose(position, HANDS.position + way, atol=1e-12)
    expected = quat_multiply(quat_from_axis_angle(turn), HANDS.quat_wxyz)
    assert quat_angle(quat, expected).max() < 1e-7
