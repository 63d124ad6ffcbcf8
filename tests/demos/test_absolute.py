"""Increments and goals: inverse to each other, and what the simulator's own controller makes of them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.spatial.transform import Rotation

from robosuite_simulator import make_environment
from sido.demos.absolute import in_frame, to_absolute, to_relative, with_rotation
from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.demo import Demo
from sido.errors import DataError, SettingError
from sido.geometry import Pose, quat_angle, quat_from_axis_angle, wxyz_from_xyzw

OSC = ACTION_SPECS["osc-delta"]
SPECS = {
    "OSC_POSE": OSC,
    "tool frame": dataclasses.replace(OSC, frame="tool"),
    "OSC_POSITION": dataclasses.replace(OSC, rotation="none"),
    "other scales": ActionSpec("relative", position_scale_m=0.02, rotation_scale_rad=1.5),
    "other gripper": dataclasses.replace(OSC, gripper_open=1.0, gripper_closed=0.0),
}
seeds = st.integers(0, 2**32 - 1)


def demo_of(spec: ActionSpec, seed: int, *, steps: int = 12, largest: float = 1.0) -> Demo:
    """A hand that is anywhere, turned anyhow, and told anything within `largest`."""
    rng = np.random.default_rng(seed)
    actions = rng.uniform(-largest, largest, (steps, spec.dim))
    actions[rng.random(steps) < 0.2, :-1] = 0.0
    actions[:, -1] = rng.uniform(*spec.gripper_range, steps)
    quat = rng.normal(size=(steps, 4))
    quat[0] = (0.0, 1.0, 0.0, 0.0)  # the half turn, where axis angles are hardest: a gripper that points down
    return Demo(
        name="demo_0",
        actions=actions,
        action_spec=spec,
        eef_position=rng.uniform(-1, 1, (steps, 3)),
        eef_quat_wxyz=quat / np.linalg.norm(quat, axis=1, keepdims=True),
        gripper=np.zeros((steps, 2)),
        recorded={"states": rng.normal(size=(steps, 5))},
        metadata={"model_file": "<mujoco/>"},
    )


def looped_goals(demo: Demo) -> tuple[list[np.ndarray], list[Rotation]]:
    """The definition, one step after the other, with scipy's rotations."""
    positions, rotations = [], []
    for action, p, q in zip(demo.actions, demo.eef_position, demo.eef_quat_wxyz, strict=True):
        hand = Rotation.from_quat([*q[1:], q[0]])
        cut = [min(max(number, -1.0), 1.0) for number in action[:-1]]
        step = np.array(cut[:3]) * demo.action_spec.position_scale_m
        turn = Rotation.from_rotvec(np.array(cut[3:] or [0.0] * 3) * demo.action_spec.rotation_scale_rad)
        tool = demo.action_spec.frame == "tool"
        positions.append(p + (hand.apply(step) if tool else step))
        rotations.append(hand * turn if tool else turn * hand)
    return positions, rotations


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@given(seed=seeds)
def test_goals_are_those_of_the_definition(spec: ActionSpec, seed: int) -> None:
    demo = demo_of(spec, seed)
    positions, rotations = looped_goals(demo)

    goals = to_absolute(demo)

    assert goals.action_spec.kind == "absolute"
    assert goals.action_spec.frame == "base"
    np.testing.assert_allclose(goals.actions[:, :3], positions, rtol=0, atol=1e-14)
    np.testing.assert_array_equal(goals.actions[:, -1], demo.actions[:, -1])
    if spec.rotation != "none":
        expected = wxyz_from_xyzw(np.stack([rotation.as_quat() for rotation in rotations]))
        assert quat_angle(quat_from_axis_angle(goals.actions[:, 3:6]), expected).max() < 1e-14


@pytest.mark.parametrize("spec", SPECS.values(), ids=SPECS)
@given(seed=seeds)
def test_to_relative_undoes_to_absolute(spec: ActionSpec, seed: int) -> None:
    # 1.5 rad on three axes is more than a half turn, which has two axis angles: stay within it.
    demo = demo_of(spec, seed, largest=1.0 if spec.rotation_scale_rad < 1.0 else 0.9)

    back = to_relative(to_absolute(demo), spec)

    assert back.action_spec == spec
    np.testing.assert_allclose(back.actions, demo.actions, rtol=0, atol=1e-12)


@given(seed=seeds)
def test_commands_beyond_the_reach_are_cut(seed: int) -> None:
    demo = demo_of(OSC, seed)
    goals = to_absolute(demo)
    moved = goals.actions.copy()
    moved[:, 0] += 10.0

    back = to_relative(dataclasses.replace(goals, actions=moved), OSC)

    np.testing.assert_array_equal(back.actions[:, 0], 1.0)
    np.testing.assert_allclose(back.actions[:, 1:], demo.actions[:, 1:], rtol=0, atol=1e-12)


@given(seed=seeds)
def test_the_gripper_is_told_in_the_other_specs_terms(seed: int) -> None:
    demo = demo_of(OSC, seed)
    other = SPECS["other gripper"]

    back = to_relative(to_absolute(demo), other)

    np.testing.assert_allclose(back.actions[:, -1], (1 - demo.actions[:, -1]) / 2, atol=1e-15)
    np.testing.assert_array_equal(other.closes(back.actions), OSC.closes(demo.actions))


@pytest.mark.parametrize("rotation", ["rot6d", "quat_wxyz", "euler_xyz", "axis_angle"])
@given(seed=seeds)
def test_every_form_of_rotation_is_the_same_goal(rotation: str, seed: int) -> None:
    goals = to_absolute(demo_of(OSC, seed))

    other = with_rotation(goals, rotation)  # type: ignore[arg-type]
    back = with_rotation(other, "axis_angle")

    assert other.actions.shape[1] == other.action_spec.dim
    first, second = (quat_from_axis_angle(demo.actions[:, 3:6]) for demo in (goals, back))
    assert quat_angle(first, second).max() < (1e-7 if rotation == "euler_xyz" else 1e-12)
    np.testing.assert_array_equal(back.actions[:, [0, 1, 2, 6]], goals.actions[:, [0, 1, 2, 6]])


def test_rot6d_is_the_first_two_rows() -> None:
    goals = to_absolute(demo_of(OSC, 0))
    rows = Rotation.from_rotvec(goals.actions[:, 3:6].copy()).as_matrix()[:, :2].reshape(len(goals), 6)
    np.testing.assert_allclose(with_rotation(goals, "rot6d").actions[:, 3:9], rows, atol=1e-14)


@pytest.mark.parametrize("spec", [OSC, SPECS["OSC_POSITION"], *(SPECS["tool frame"],)])
@given(seed=seeds)
def test_what_is_recorded_stays(spec: ActionSpec, seed: int) -> None:
    demo = demo_of(spec, seed)
    goals = to_absolute(demo)
    np.testing.assert_array_equal(goals.recorded["states"], demo.recorded["states"])
    assert goals.metadata == demo.metadata


@given(seed=seeds)
def test_goals_do_not_care_in_which_frame_they_are_made(seed: int) -> None:
    """Increments of a turned frame, made into goals there and then told in the base, are the goals."""
    demo = demo_of(OSC, seed, largest=0.5)
    rng = np.random.default_rng(seed)
    quat = rng.normal(size=4)
    world_from_base = Pose(rng.uniform(-1, 1, 3), quat / np.linalg.norm(quat))
    in_world = dataclasses.replace(
        demo,
        actions=in_frame(demo.actions, OSC, world_from_base),
        eef_position=world_from_base.apply(demo.eef_position),
        eef_quat_wxyz=(world_from_base @ Pose(demo.eef_position, demo.eef_quat_wxyz)).quat_wxyz,
    )

    goals, goals_in_world = to_absolute(demo), to_absolute(in_world)

    back = in_frame(goals_in_world.actions, goals.action_spec, world_from_base.inverse())
    np.testing.assert_allclose(back[:, :3], goals.actions[:, :3], atol=1e-14)
    assert quat_angle(*(quat_from_axis_angle(actions[:, 3:6]) for actions in (back, goals.actions))).max() < 1e-13


def test_what_cannot_be_made_says_why() -> None:
    relative, goals = demo_of(OSC, 0), to_absolute(demo_of(OSC, 0))
    assert to_absolute(goals) is goals
    with pytest.raises(DataError, match="only absolute actions can be made relative; found relative"):
        to_relative(relative, OSC)
    with pytest.raises(DataError, match="only absolute actions can be made absolute ones with rot6d"):
        with_rotation(relative, "rot6d")
    with pytest.raises(DataError, match="world frame need to know where the robot stands"):
        to_absolute(demo_of(dataclasses.replace(OSC, frame="world"), 0))
    in_world = dataclasses.replace(goals, action_spec=dataclasses.replace(goals.action_spec, frame="world"))
    with pytest.raises(DataError, match="goals in the world frame need to know where the robot stands; found 'world'"):
        to_relative(in_world, OSC)
    with pytest.raises(SettingError, match="found absolute, base frame, rotation 'axis_angle'"):
        to_relative(goals, goals.action_spec)
    with pytest.raises(SettingError, match="rotation 'none', as the goals have none"):
        to_relative(to_absolute(demo_of(SPECS["OSC_POSITION"], 0)), OSC)
    with pytest.raises(DataError, match=r"rates differ.*found 20.0; expected 10.0"):
        to_relative(goals, dataclasses.replace(OSC, rate_hz=10.0))
    with pytest.raises(SettingError, match="without a rotation"):
        with_rotation(to_absolute(demo_of(SPECS["OSC_POSITION"], 0)), "rot6d")


def test_goals_are_the_simulators_goals() -> None:
    """The controller of robosuite 1.5, asked after every step, in its base frame."""
    environment = make_environment("Stack")
    environment.reset()
    controller = environment.robots[0].composite_controller.part_controllers["right"]
    rng = np.random.default_rng(3)
    phase, speed = rng.uniform(0, 2 * np.pi, 7), rng.uniform(0.1, 0.5, 7)
    actions = 0.8 * np.sin(phase + speed * np.arange(40)[:, None])
    actions[10:14, 3:6] = 0.0
    actions[20:24] *= 3.0  # beyond the range: the controller cuts, and so must we

    hands, site_quats, position_goals, rotation_goals = [], [], [], []
    for action in actions:
        # What `env.step` returns is a physics substep old (up to 1 mm); what robomimic extracts from states is not.
        environment.sim.forward()
        observation = environment._get_observations(force_update=True)
        hands.append(observation["robot0_eef_pos"] - controller.origin_pos)
        site_quats.append(observation["robot0_eef_quat_site"])
        environment.step(action)
        position_goals.append(controller.goal_pos.copy())
        rotation_goals.append(controller.goal_ori.copy())
    environment.close()

    np.testing.assert_array_equal(controller.origin_ori, np.eye(3))
    # `Demo` holds actions to their range; the controller itself would cut them.
    demo = Demo(
        name="simulated",
        actions=np.clip(actions, -1, 1),
        action_spec=OSC,
        eef_position=np.array(hands),
        eef_quat_wxyz=wxyz_from_xyzw(np.array(site_quats, dtype=np.float64)),
        gripper=np.zeros((len(actions), 2)),
    )
    goals = to_absolute(demo).actions

    assert np.abs(goals[:, :3] - position_goals).max() < 1e-6
    wrong = (
        Rotation.from_rotvec(goals[:, 3:6].copy()).inv() * Rotation.from_matrix(np.array(rotation_goals))
    ).magnitude()
    assert wrong.max() < 1e-6
    # That this can fail: the wrist's orientation in the site's place, or increments that add up.
    assert np.abs(np.cumsum(0.05 * demo.actions[:, :3], axis=0) + demo.eef_position[0] - position_goals).max() > 0.01
