"""Fitting: a law that is linear is found, and judged by an obvious loop."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch

from sido.augment.dynamics import FitSettings, RobotMotion, dynamics_errors, fit_dynamics
from sido.demos.action_spec import ActionSpec
from sido.errors import DataError, SettingError
from toy_robot import ABSOLUTE, RELATIVE, linear_demo, random_model

QUICK = FitSettings(one_step_updates=20, rollout_updates=5, width=8)


@pytest.fixture(scope="module", params=[ABSOLUTE, RELATIVE], ids=["absolute", "relative"])
def spec(request: pytest.FixtureRequest) -> ActionSpec:
    return request.param


def test_a_linear_robot_is_foretold_beyond_its_demonstrations(spec: ActionSpec):
    motions = [RobotMotion.of(linear_demo(seed, spec, noise=0.5)) for seed in range(12)]
    further = [RobotMotion.of(linear_demo(seed, spec, noise=3.0)) for seed in range(20, 24)]
    model = fit_dynamics(motions, spec, dataclasses.replace(QUICK, ridge=1e-6, one_step_updates=0, rollout_updates=0))
    errors = dynamics_errors(model, further)
    assert errors.open_loop_m < 5e-4
    assert errors.one_step_m < 1e-4


def test_errors_are_those_of_an_obvious_loop():
    motions = [RobotMotion.of(linear_demo(seed)) for seed in range(3)]
    model = random_model(0).float()
    one_step, open_loop = [], []
    for motion in motions:
        states, commands = (torch.tensor(rows).float() for rows in (motion.states, motion.commands))
        for t in range(motion.steps):
            after = model(states[t, :, None], commands[t, :, None])
            one_step += [(after[:3, 0] - states[t + 1, :3]).norm()]
        for t in range(motion.steps - 16 + 1):
            state = states[t, :, None]
            for k in range(16):
                state = model(state, commands[t + k, :, None])
            open_loop.append((state[:3, 0] - states[t + 16, :3]).norm())
    errors = dynamics_errors(model, motions)
    assert errors.one_step_m == pytest.approx(float(torch.stack(one_step).mean()), rel=1e-4)
    assert errors.open_loop_m == pytest.approx(float(torch.stack(open_loop).mean()), rel=1e-4)
    assert (errors.transitions, errors.rollouts, errors.demos) == (len(one_step), len(open_loop), 3)


def test_fitting_again_gives_the_same_model_and_training_helps():
    motions = [RobotMotion.of(linear_demo(seed)) for seed in range(4)]
    told: list[tuple[int, int]] = []
    model = fit_dynamics(motions, ABSOLUTE, QUICK, lambda done, total: told.append((done, total)))
    assert model.digest == fit_dynamics(motions, ABSOLUTE, QUICK).digest
    assert model.digest != fit_dynamics(motions, ABSOLUTE, dataclasses.replace(QUICK, seed=1)).digest
    assert told[-1] == (25, 25)


def test_transitions_are_those_before_the_grasp_unless_all_are_asked_for():
    motions = [RobotMotion.of(linear_demo(seed)) for seed in range(4)]
    wild = []
    for motion in motions:
        states = motion.states.copy()
        states[motion.steps + 1 :] += 1.0
        wild.append(dataclasses.replace(motion, states=states))
    assert fit_dynamics(motions, ABSOLUTE, QUICK).digest == fit_dynamics(wild, ABSOLUTE, QUICK).digest
    everything = dataclasses.replace(QUICK, transitions="all")
    assert fit_dynamics(motions, ABSOLUTE, everything).digest != fit_dynamics(wild, ABSOLUTE, everything).digest


def test_differences_are_per_step_and_the_hand_rested_before():
    demo = linear_demo(0)
    states = RobotMotion.of(demo).states
    np.testing.assert_allclose(states[1:, -6:-3], np.diff(demo.eef_position, axis=0))
    np.testing.assert_allclose(states[2:, -3:], np.diff(demo.eef_position, n=2, axis=0), atol=1e-15)
    assert (states[0, -6:] == 0).all()


def test_bad_input_is_refused():
    with pytest.raises(DataError, match="demo_0 > grasp: without a grasp"):
        RobotMotion.of(dataclasses.replace(linear_demo(0), grasp=None))
    with pytest.raises(DataError, match="cannot fit"):
        fit_dynamics([], ABSOLUTE, QUICK)
    tool = dataclasses.replace(RELATIVE, frame="tool")
    with pytest.raises(DataError, match="convert the dataset to absolute"):
        RobotMotion.of(dataclasses.replace(linear_demo(0, RELATIVE), action_spec=tool))
    for wrong in ({"width": 0}, {"learning_rate": 0.0}, {"weight_decay": -1.0}):
        with pytest.raises(SettingError, match="FitSettings"):
            FitSettings(**wrong)
    with pytest.raises(DataError, match="no rollout"):
        dynamics_errors(random_model(0).float(), [RobotMotion.of(linear_demo(0, grasp=15))])
