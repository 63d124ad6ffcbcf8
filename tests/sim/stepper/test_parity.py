"""The stepper against robosuite's own `env.step`."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from sido.demos.action_spec import ActionSpec
from sido.geometry import axis_angle_from_matrix, axis_angle_from_quat, matrix_from_axis_angle, matrix_from_quat
from sido.sim.osc import OscSettings
from sido.sim.robosuite_scene import make_environment, osc_of, scene_of
from sido.sim.silence import silence
from sido.sim.stepper import Stepper

JOINTS = slice(0, 7)
SPECS = {
    "absolute": ActionSpec("absolute"),
    "relative": ActionSpec("relative", position_scale_m=0.05, rotation_scale_rad=0.5),
}


class Pair:
    """One robosuite environment and one of ours, in the same state."""

    def __init__(self, task: str, osc: OscSettings, *, ours: OscSettings | None = None, **settings: Any) -> None:
        self.theirs = make_environment(task, osc=osc, **settings)
        scene = scene_of(self.theirs)
        self.stepper = Stepper(scene.physics, scene.arm, ours or osc_of(self.theirs), envs=1)
        self.robot = self.theirs.robots[0]
        self.logged: list[Any] = []
        step2 = self.theirs.sim.step2

        def logging_step2() -> None:
            self.logged.append(np.array(self.theirs.sim.data.ctrl))
            step2()

        self.theirs.sim.step2 = logging_step2
        self.start()

    def start(self, noise: Any = 0.0, rest_joints: Any = None) -> None:
        data, parts = self.theirs.sim.data, self.robot.composite_controller.part_controllers
        data.qpos[JOINTS] += noise
        self.theirs.sim.forward()
        if rest_joints is not None:
            parts["right"].update_initial_joints(rest_joints)
        for part in parts.values():
            # After a reset robosuite's first substep uses matrices from before the fingers were put in their place.
            part.new_update = True
        self.stepper.reset(0, np.array(data.qpos), np.array(data.qvel), rest_joints=rest_joints)

    def step(self, action: Any) -> None:
        self.logged.clear()
        self.theirs.step(action)
        self.stepper.step(action[None])

    @property
    def joint_error(self) -> float:
        return float(np.abs(self.stepper.qpos[0, JOINTS] - self.theirs.sim.data.qpos[JOINTS]).max())

    @property
    def torque_error(self) -> float:
        """The largest over the substeps of the last control step."""
        theirs = np.array(self.logged)[:, self.stepper.arm.actuators]
        return float(np.abs(self.stepper.torques_nm[0] - theirs).max())

    @property
    def gripper_error(self) -> float:
        """Of the commands to the fingers, in shares of half their range."""
        gripper = self.stepper.arm.gripper
        low, high = gripper.control_range.T
        ours = (low + high) / 2 + (high - low) / 2 * self.stepper.gripper_goals[0]
        return float(np.abs(ours - self.logged[-1][gripper.actuators]).max())


def smooth_actions(stepper: Stepper, kind: str, steps: int, seed: int = 0) -> Any:
    """Slow sines in all six directions; the gripper closes, opens, and closes."""
    rng = np.random.default_rng(seed)
    phase = rng.uniform(0, 2 * np.pi, 6) + 2 * np.pi * np.outer(np.arange(steps) * 0.05, rng.uniform(0.15, 0.6, 6))
    wave = np.sin(phase) - (np.sin(phase[:1]) if kind == "absolute" else 0.0)
    actions = np.empty((steps, 7))
    actions[:, 6] = np.sin(np.arange(steps) * 0.05)
    if kind == "relative":
        actions[:, :3], actions[:, 3:6] = 0.25 * wave[:, :3], 0.15 * wave[:, 3:]
        return actions
    actions[:, :3] = stepper.eef_position[0] + 0.06 * wave[:, :3]
    turned = matrix_from_axis_angle(0.15 * wave[:, 3:]) @ matrix_from_quat(stepper.eef_quat_wxyz[0])
    actions[:, 3:6] = axis_angle_from_matrix(turned)
    return actions


@pytest.mark.parametrize("task", ["Stack", "NutAssemblySquare"])
@pytest.mark.parametrize("kind", SPECS)
def test_200_smooth_actions(task: str, kind: str):
    pair = Pair(task, OscSettings(SPECS[kind]))
    assert pair.stepper.osc.action_spec == SPECS[kind]
    with silence():
        for step, action in enumerate(smooth_actions(pair.stepper, kind, 200)):
            pair.step(action)
            assert pair.joint_error < 1e-6
            assert pair.gripper_error == 0.0
            if step < 20:  # later, the solver's own tolerance may show in a contact
                assert pair.torque_error < 1e-6
    fingers = pair.stepper.arm.gripper.joint_qpos
    np.testing.assert_allclose(pair.stepper.gripper_qpos[0], pair.theirs.sim.data.qpos[fingers], atol=1e-6)


@pytest.mark.parametrize("kind", SPECS)
def test_in_the_world_frame_from_a_noisy_start_with_another_rest_posture(kind: str):
    pair = Pair("Stack", OscSettings(dataclasses.replace(SPECS[kind], frame="world")))
    rng = np.random.default_rng(1)
    home = np.array(pair.theirs.sim.data.qpos[JOINTS])
    pair.start(noise=0.02 * rng.standard_normal(7), rest_joints=home)
    actions = smooth_actions(pair.stepper, kind, 15)
    if kind == "absolute":
        actions[:, :3] += pair.stepper.arm.base_pose.position
    with silence():
        for action in actions:
            pair.step(action)
            assert pair.torque_error < 1e-6
    assert pair.joint_error < 1e-9


def test_the_rest_posture_matters():
    """Otherwise the test before this one shows nothing of it."""
    pair = Pair("Stack", OscSettings())
    home = np.array(pair.theirs.sim.data.qpos[JOINTS])
    action = smooth_actions(pair.stepper, "absolute", 1)[0]
    pair.start(noise=0.02, rest_joints=home)
    pair.stepper.reset(0, np.array(pair.theirs.sim.data.qpos))
    with silence():
        pair.step(action)
    assert pair.torque_error > 1e-3


@pytest.mark.parametrize(
    "change", [{"position_stiffness": 150.1}, {"rotation_stiffness": 150.1}, {"damping_ratio": 1.001}]
)
def test_a_small_change_of_the_law_is_noticed(change: dict[str, float]):
    pair = Pair("Stack", OscSettings(), ours=OscSettings(**change))
    with silence():
        for action in smooth_actions(pair.stepper, "absolute", 8):
            pair.step(action)
    assert pair.joint_error > 1e-6


def test_other_gains_and_scales_too():
    osc = OscSettings(
        ActionSpec("relative", position_scale_m=0.02, rotation_scale_rad=0.2),
        position_stiffness=90.0,
        rotation_stiffness=200.0,
        damping_ratio=0.8,
    )
    pair = Pair("Stack", osc)
    assert pair.stepper.osc.action_spec == osc.action_spec
    assert pair.stepper.osc.damping_ratio == pytest.approx(0.8)
    rng = np.random.default_rng(2)
    with silence():
        for _ in range(5):
            pair.step(rng.uniform(-2, 2, 7))  # beyond +-1: clipped
            assert pair.torque_error < 1e-6


def test_the_torques_saturate_alike():
    pair = Pair("Stack", OscSettings())
    action = np.concatenate(
        [pair.stepper.eef_position[0] + 2.0, axis_angle_from_quat(pair.stepper.eef_quat_wxyz)[0], [1.0]]
    )
    with silence():
        pair.step(action)
    limits = pair.stepper.arm.torque_limits_nm
    saturated = (pair.stepper.torques_nm[0] == limits[:, 0]) | (pair.stepper.torques_nm[0] == limits[:, 1])
    assert saturated.any(axis=0).sum() >= 2
    assert pair.torque_error < 1e-6


def test_the_robotiq_gripper():
    """Its links' meshes touch each other, and tell differences of the last bit apart: so the first substeps only."""
    pair = Pair("Stack", OscSettings(), gripper="Robotiq85Gripper")
    action = smooth_actions(pair.stepper, "absolute", 1)[0]
    with silence():
        for command in (1.0, 1.0, 0.1, -1.0, -0.3, 0.0, *[1.0] * 8):
            action[6] = command
            pair.step(action)
            if len(pair.logged) == 0:
                raise AssertionError("robosuite did not step")
            assert pair.gripper_error == 0.0
        pair.theirs.reset()
        pair.start()
        pair.step(action)
    theirs = np.array(pair.logged)[:8, pair.stepper.arm.actuators]
    np.testing.assert_allclose(pair.stepper.torques_nm[0, :8], theirs, atol=1e-6)
