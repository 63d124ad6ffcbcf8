"""Many environments together: each goes its own way, to the last bit."""

from __future__ import annotations

import dataclasses
from typing import Any

import mujoco
import numpy as np
import pytest

from sido.demos.action_spec import ActionSpec
from sido.errors import SettingError
from sido.geometry import Pose, matrix_from_quat, quat_angle
from sido.sim.osc import OscSettings
from sido.sim.physics import Physics
from sido.sim.scene import Scene
from sido.sim.stepper import Drive, Stepper, period

from .conftest import MakeStepper, hold, home_of

ENVS, STEPS = 5, 10
REPORTS = ("qpos", "qvel", "time_s", "eef_position", "eef_quat_wxyz", "gripper_goals", "torques_nm", "contacts")


def rough_actions(seed: int, envs: int = ENVS) -> Any:
    actions = np.random.default_rng(seed).uniform(-1, 1, (STEPS, envs, 7))
    actions[..., 2] = -np.abs(actions[..., 2])  # down: cubes and table are touched
    return actions


def drive_of(stepper: Stepper, scene: Scene, step: int) -> Drive:
    """cubeA of every other environment along y at 5 cm/s."""
    envs, at = len(stepper), scene["cubeA"].qpos_address
    base = stepper.arm.base_pose.inverse()
    start = base.apply(np.array([0.0, 0.1, 0.82]))
    times = (step * stepper.substeps + np.arange(1, stepper.substeps + 1)) * stepper.timestep_s
    path = start + 0.05 * times[:, None] * np.array([0.0, -1.0, 0.0])
    assert at > 0
    return Drive(
        position=np.tile(path, (envs, 1, 1)),
        velocity=np.tile([0.0, -0.05, 0.0], (envs, stepper.substeps, 1)),
        quat_wxyz=np.tile([1.0, 0.0, 0.0, 0.0], (envs, 1)),
        active=np.arange(envs) % 2 == 0,
    )


def history(stepper: Stepper, scene: Scene, actions: Any) -> list[dict[str, Any]]:
    reports: list[dict[str, Any]] = []
    for step, action in enumerate(actions):
        stepper.step(action, drive_of(stepper, scene, step))
        reports.append({name: np.array(getattr(stepper, name)) for name in REPORTS})
    return reports


RELATIVE = OscSettings(ActionSpec("relative", position_scale_m=0.05, rotation_scale_rad=0.5))


def assert_same(first: list[dict[str, Any]], second: list[dict[str, Any]]) -> None:
    for one, other in zip(first, second, strict=True):
        for name in REPORTS:
            np.testing.assert_array_equal(one[name], other[name], err_msg=name)


@pytest.mark.parametrize("threads", [2, 3])
def test_the_number_of_threads_changes_no_bit(make_stepper: MakeStepper, scene: Scene, threads: int):
    actions = rough_actions(0)
    alone = history(make_stepper(envs=ENVS, osc=RELATIVE), scene, actions)
    assert_same(alone, history(make_stepper(envs=ENVS, osc=RELATIVE, threads=threads), scene, actions))
    assert alone[-1]["contacts"].any()
    assert len({row.tobytes() for row in alone[-1]["qpos"]}) == ENVS  # they do differ from each other


def test_an_environment_does_not_know_its_neighbours(make_stepper: MakeStepper, scene: Scene):
    actions = rough_actions(1)
    together = history(make_stepper(envs=ENVS, osc=RELATIVE), scene, actions)
    alone = history(make_stepper(envs=1, osc=RELATIVE), scene, actions[:, 2:3])
    assert_same([{name: report[name][2:3] for name in REPORTS} for report in together], alone)


def test_a_reset_leaves_nothing_of_the_past(make_stepper: MakeStepper, scene: Scene):
    stepper = make_stepper(envs=ENVS, osc=RELATIVE)
    first = history(stepper, scene, rough_actions(2))
    history(stepper, scene, rough_actions(3))
    for i in range(ENVS):
        stepper.reset(i, home_of(scene))
    assert not stepper.time_s.any()
    assert_same(first, history(stepper, scene, rough_actions(2)))


def test_what_is_reported_is_what_mujoco_has(make_stepper: MakeStepper, scene: Scene):
    stepper = make_stepper(envs=2, osc=RELATIVE)
    history(stepper, scene, rough_actions(4, envs=2))
    for i in range(2):
        data = mujoco.MjData(scene.model)
        data.qpos[:] = stepper.qpos[i]
        mujoco.mj_forward(scene.model, data)
        base = scene.arm.base_pose
        position = base.inverse().apply(data.site_xpos[scene.arm.grip_site])
        np.testing.assert_allclose(stepper.eef_position[i], position, atol=1e-12)
        rotation = matrix_from_quat(base.quat_wxyz).T @ data.site_xmat[scene.arm.grip_site].reshape(3, 3)
        np.testing.assert_allclose(matrix_from_quat(stepper.eef_quat_wxyz[i]), rotation, atol=1e-12)
        np.testing.assert_array_equal(stepper.qvel[i], stepper.data[i].qvel)
        np.testing.assert_array_equal(stepper.gripper_qpos[i], stepper.qpos[i, scene.arm.gripper.joint_qpos])
    np.testing.assert_allclose(stepper.time_s, STEPS * 0.05)


def test_an_absolute_goal_is_reached(make_stepper: MakeStepper):
    stepper = make_stepper()
    actions, start, way = hold(stepper), stepper.eef_pose, np.array([0.05, -0.03, 0.04])
    actions[:, :3] += way
    for _ in range(40):
        stepper.step(actions)
    np.testing.assert_allclose(stepper.eef_position, start.position + way, atol=1e-3)
    assert quat_angle(stepper.eef_quat_wxyz, start.quat_wxyz).max() < 0.01


def test_the_base_frame_may_be_turned(make_stepper: MakeStepper, scene: Scene):
    """Seen from a turned frame, the same goals lead to the same states."""
    turned = Pose((0.3, -0.2, 0.5), (np.cos(0.4), 0.0, 0.0, np.sin(0.4)))
    frame = dataclasses.replace(scene.arm.world_from_base, pose=turned)
    plain, other = make_stepper(), make_stepper(arm=dataclasses.replace(scene.arm, world_from_base=frame))
    world = scene.arm.base_pose.apply(plain.eef_position)
    np.testing.assert_allclose(turned.apply(other.eef_position), world, atol=1e-12)
    for _ in range(5):
        ours, theirs = hold(plain), hold(other)
        ours[:, :3] += (0.01, 0.0, 0.0)
        shifted = scene.arm.base_pose.apply(ours[:, :3])
        theirs[:, :3] = turned.inverse().apply(shifted)
        plain.step(ours)
        other.step(theirs)
    np.testing.assert_allclose(plain.qpos, other.qpos, atol=1e-9)


def test_the_gripper_takes_steps_of_a_fifth(make_stepper: MakeStepper):
    stepper = make_stepper()
    seen: list[float] = []
    for command in (0.3, 1.0, 0.0, -0.2, *[1.0] * 6):
        stepper.step(hold(stepper, command))
        seen.append(float(stepper.gripper_goals[0, 1]))
    np.testing.assert_allclose(seen, [0.2, 0.4, 0.4, 0.2, 0.4, 0.6, 0.8, 1.0, 1.0, 1.0], atol=1e-12)
    np.testing.assert_allclose(stepper.gripper_goals[0], (-1.0, 1.0), atol=1e-12)


def test_a_reset_takes_a_snapshot_up_again(make_stepper: MakeStepper):
    stepper = make_stepper(envs=2)
    for _ in range(5):
        stepper.step(hold(stepper, 1.0))
    rest = stepper.qpos[1, :7] + 0.1
    stepper.reset(1, stepper.qpos[0], stepper.qvel[0], gripper=stepper.gripper_goals[0])
    np.testing.assert_array_equal(stepper.qpos[1], stepper.qpos[0])
    np.testing.assert_array_equal(stepper.gripper_goals[1], stepper.gripper_goals[0])
    stepper.reset(1, stepper.qpos[0], rest_joints=rest)
    assert not stepper.qvel[1].any()


def test_nothing_given_is_written_to_and_nothing_shown_can_be(make_stepper: MakeStepper):
    stepper = make_stepper()
    actions = hold(stepper)
    before = actions.copy()
    actions.flags.writeable = False
    stepper.step(actions)
    np.testing.assert_array_equal(actions, before)
    for name in (*REPORTS, "driven", "released_at", "faults"):
        assert not getattr(stepper, name).flags.writeable, name


def test_nothing_is_compiled_twice(make_stepper: MakeStepper, scene: Scene):
    """Compiled code tells read-only arrays and other memory orders apart; users must not have to wait for that."""
    stepper = make_stepper()
    actions = np.asfortranarray(np.tile(hold(stepper), (2, 1)))[:1]
    actions.flags.writeable = False
    stepper.step(actions)
    stepper.step(hold(stepper), drive_of(stepper, scene, 0))
    stepper.reset(0, np.asfortranarray(home_of(scene)))
    make_stepper(contacts=(), driven=None, osc=RELATIVE, rate_hz=50.0).step(actions * 0)
    entries: Any = (period.control_period, period.read_state)
    assert [len(entry.signatures) for entry in entries] == [1, 1]


@pytest.mark.parametrize("rate_hz", [10.0, 50.0])
def test_other_rates(make_stepper: MakeStepper, rate_hz: float):
    stepper = make_stepper(rate_hz=rate_hz)
    stepper.step(hold(stepper))
    assert stepper.time_s[0] == pytest.approx(1 / rate_hz)
    assert stepper.torques_nm.shape == (1, round(500 / rate_hz), 7)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"envs": 0}, "envs: too few; found 0; expected 1 or more"),
        ({"threads": 0}, "threads: too few; found 0; expected 1 or more"),
        ({"rate_hz": 30.0}, "rate_hz: .* found 30.0; expected 500 Hz divided by a whole number"),
        ({"rate_hz": -20.0}, "a control step must be a whole number"),
        ({"driven": "cubeC"}, "no such free joint; found 'cubeC'; expected cubeA_joint0, cubeB_joint0"),
        ({"release": ("left_thumb",)}, "no such contact; found 'left_thumb'; expected left_pad, right_pad, table"),
    ],
)
def test_settings_that_cannot_be(make_stepper: MakeStepper, settings: dict[str, Any], message: str):
    with pytest.raises(SettingError, match=message):
        make_stepper(**settings)


def test_runge_kutta_is_refused(scene: Scene):
    model = mujoco.MjModel.from_xml_string("<mujoco><option integrator='RK4'/><worldbody/></mujoco>")
    with pytest.raises(SettingError, match="Runge-Kutta"):
        Stepper(Physics.of(model), scene.arm, OscSettings(), envs=1)


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize(
    ("actions", "message"),
    [
        (np.zeros((2, 7)), r"actions: wrong shape; found \[2, 7\]; expected \[3, 7\]"),
        (np.zeros((3, 8)), r"actions: wrong shape; found \[3, 8\]; expected \[3, 7\]"),
        (np.zeros(7), r"actions: wrong shape; found \[7\]; expected \[3, 7\]"),
    ],
)
def test_actions_of_the_wrong_shape(make_stepper: MakeStepper, actions: Any, message: str):
    with pytest.raises(SettingError, match=message):
        make_stepper(envs=3).step(actions)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_actions_that_are_not_finite(make_stepper: MakeStepper, bad: float):
    stepper = make_stepper(envs=3)
    before, actions = np.array(stepper.qpos), hold(stepper)
    actions[1, 4] = bad
    with pytest.raises(SettingError, match=r"actions\[1\]: environment 1 got an action that is not finite"):
        stepper.step(actions)
    np.testing.assert_array_equal(stepper.qpos, before)


@pytest.mark.usefixtures("as_user")
def test_resets_that_cannot_be(make_stepper: MakeStepper, scene: Scene):
    stepper, home = make_stepper(), home_of(scene)
    with pytest.raises(SettingError, match="no such environment; found 1; expected 0 to 0"):
        stepper.reset(1, home)
    with pytest.raises(SettingError, match=r"reset of environment 0, qpos: wrong shape; found \[5\]; expected \[23\]"):
        stepper.reset(0, home[:5])
    with pytest.raises(SettingError, match="reset of environment 0, qvel: not finite"):
        stepper.reset(0, home, np.full(21, np.nan))
    with pytest.raises(SettingError, match="reset of environment 0: beyond what mujoco simulates"):
        stepper.reset(0, np.full(23, 1e12))
    assert stepper.fault_reason(0) == "the state diverged"
    stepper.reset(0, home)
    assert stepper.fault_reason(0) is None


def test_those_that_rest_stay_as_they_are_and_do_not_matter(make_stepper: MakeStepper, scene: Scene):
    actions = rough_actions(3)
    whole, part = make_stepper(envs=ENVS), make_stepper(envs=ENVS)
    active = np.array([True, False, True, True, False])
    for step, action in enumerate(actions):
        before = {name: np.array(getattr(part, name)) for name in REPORTS}
        whole.step(action, drive_of(whole, scene, step))
        part.step(action, drive_of(part, scene, step), active if step > 3 else None)
        for name in REPORTS:
            np.testing.assert_array_equal(getattr(part, name)[active], getattr(whole, name)[active], err_msg=name)
            if step > 3:
                np.testing.assert_array_equal(getattr(part, name)[~active], before[name][~active], err_msg=name)
    assert part.time_s[~active] == pytest.approx(4 / 20), "their time stands still"
