"""The moving object: carried along its path, seen by the contacts, let go when grasped."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pytest

from sido.errors import SettingError
from sido.geometry import Pose, Transform, quat_about_z, rotate
from sido.sim.scene import Scene
from sido.sim.stepper import ContactPair, Drive, Stepper

from .conftest import MakeStepper, hold, home_of

FLAT = np.array([1.0, 0.0, 0.0, 0.0])


def drive_along(stepper: Stepper, start: Any, velocity: Any, *, step: int = 0, quat_wxyz: Any = FLAT) -> Drive:
    """From `start` (base frame) at a constant velocity, in every environment."""
    envs, substeps = len(stepper), stepper.substeps
    times = (step * substeps + np.arange(1, substeps + 1)) * stepper.timestep_s
    path = np.asarray(start) + times[:, None] * np.asarray(velocity)
    return Drive(
        position=np.tile(path, (envs, 1, 1)),
        velocity=np.tile(np.asarray(velocity, dtype=np.float64), (envs, substeps, 1)),
        quat_wxyz=np.tile(quat_wxyz, (envs, 1)),
        active=np.ones(envs, dtype=np.bool_),
    )


def cube(stepper: Stepper, scene: Scene) -> Any:
    """cubeA's position and quaternion, world."""
    at = scene["cubeA"].qpos_address
    return stepper.qpos[:, at : at + 3], stepper.qpos[:, at + 3 : at + 7]


def start_of(stepper: Stepper, scene: Scene) -> Any:
    position, _ = cube(stepper, scene)
    return stepper.arm.base_pose.inverse().apply(position[0])


def test_it_follows_its_path_exactly(make_stepper: MakeStepper, scene: Scene):
    stepper = make_stepper()
    start, velocity = start_of(stepper, scene), np.array([0.04, -0.03, 0.0])
    attitude = quat_about_z(0.3)
    for step in range(20):
        stepper.step(hold(stepper), drive_along(stepper, start, velocity, step=step, quat_wxyz=attitude))
        position, quat = cube(stepper, scene)
        reached = start + velocity * 0.05 * (step + 1)
        np.testing.assert_allclose(stepper.arm.base_pose.inverse().apply(position[0]), reached, atol=1e-12)
        np.testing.assert_allclose(quat[0], attitude, atol=1e-12)
        at = scene["cubeA"].dof_address
        np.testing.assert_allclose(stepper.qvel[0, at : at + 6], (*velocity, 0, 0, 0), atol=1e-12)
        assert stepper.contacts[0, :, 2].all()  # the table, in every substep
    assert stepper.driven.all()


def test_it_pushes_what_lies_in_its_way(make_stepper: MakeStepper, scene: Scene):
    """The velocity that contacts feel is the true one: cubeB is carried on, not stepped through."""
    stepper = make_stepper()
    qpos = home_of(scene)
    at = scene["cubeB"].qpos_address
    qpos[at : at + 3] = (0.0, 0.145, 0.825)  # the faces touch
    stepper.reset(0, qpos)
    start = start_of(stepper, scene)
    for step in range(20):
        stepper.step(hold(stepper), drive_along(stepper, start, (0.0, 0.05, 0.0), step=step))
    assert stepper.qpos[0, at + 1] == pytest.approx(0.195, abs=0.004)
    assert stepper.qpos[0, at + 2] == pytest.approx(0.825, abs=0.002)


def test_each_environment_has_its_own_drive(make_stepper: MakeStepper, scene: Scene):
    stepper = make_stepper(envs=3)
    start = start_of(stepper, scene)
    for step in range(4):
        drive = drive_along(stepper, start, (0.05, 0.0, 0.0), step=step)
        nowhere = drive.position.copy()
        nowhere[1] = np.nan  # not driven: its rows do not matter
        stepper.step(hold(stepper), dataclasses.replace(drive, position=nowhere, active=np.array([True, False, False])))
    position, _ = cube(stepper, scene)
    assert position[0, 0] == pytest.approx(0.01)
    np.testing.assert_allclose(position[1:, 0], 0.0, atol=1e-6)
    np.testing.assert_array_equal(stepper.driven, (True, False, False))


def test_without_a_drive_it_is_free(make_stepper: MakeStepper, scene: Scene):
    stepper = make_stepper()
    start = start_of(stepper, scene)
    stepper.step(hold(stepper), drive_along(stepper, start + np.array([0.0, 0.0, 0.2]), (0.0, 0.0, 0.0)))
    assert cube(stepper, scene)[0][0, 2] == pytest.approx(1.02)
    for _ in range(10):
        stepper.step(hold(stepper))
    assert not stepper.driven.any()
    assert cube(stepper, scene)[0][0, 2] == pytest.approx(0.82, abs=0.005)


def test_drives_are_in_the_base_frame(make_stepper: MakeStepper, scene: Scene):
    base = Pose((0.2, -0.1, 0.3), quat_about_z(0.7))
    stepper = make_stepper(arm=dataclasses.replace(scene.arm, world_from_base=Transform("world", "base", base)))
    start, velocity = base.inverse().apply(np.array([0.0, 0.1, 0.82])), np.array([0.05, 0.02, 0.0])
    stepper.step(hold(stepper), drive_along(stepper, start, velocity, quat_wxyz=quat_about_z(0.1)))
    position, quat = cube(stepper, scene)
    np.testing.assert_allclose(position[0], base.apply(start + 0.05 * velocity), atol=1e-12)
    np.testing.assert_allclose(quat[0], quat_about_z(0.8), atol=1e-12)
    at = scene["cubeA"].dof_address
    np.testing.assert_allclose(stepper.qvel[0, at : at + 3], rotate(base.quat_wxyz, velocity), atol=1e-12)


def grasping(make_stepper: MakeStepper, scene: Scene, **settings: Any) -> Stepper:
    """The cube between the open fingers, in the air, where the hand is."""
    stepper = make_stepper(release=("left_pad", "right_pad"), **settings)
    qpos = home_of(scene)
    qpos[scene.arm.gripper.joint_qpos] = (0.04, -0.04)
    stepper.reset(0, qpos, gripper=np.array([1.0, -1.0]))
    at = scene["cubeA"].qpos_address
    # The tips are 3 mm below the grip site.
    qpos[at : at + 3] = scene.arm.base_pose.apply(stepper.eef_position[0])
    stepper.reset(0, qpos, gripper=np.array([1.0, -1.0]))
    return stepper


def close_on(stepper: Stepper, scene: Scene, command: float, steps: int = 15) -> list[int]:
    """The substep of release in each control step."""
    start, actions, driven = start_of(stepper, scene), hold(stepper, command), True
    released: list[int] = []
    for _ in range(steps):
        drive = drive_along(stepper, start, (0.0, 0.0, 0.0))
        stepper.step(actions, dataclasses.replace(drive, active=np.array([driven])))
        driven = bool(stepper.driven[0])
        released.append(int(stepper.released_at[0]))
    return released


def test_a_grasp_lets_it_go_in_the_very_substep(make_stepper: MakeStepper, scene: Scene):
    stepper = grasping(make_stepper, scene)
    start = start_of(stepper, scene)
    released = close_on(stepper, scene, 1.0)
    steps = [step for step, substep in enumerate(released) if substep >= 0]
    assert len(steps) == 1
    assert not stepper.driven[0]
    assert stepper.touching("left_pad")[0]
    assert stepper.touching("right_pad")[0]
    np.testing.assert_allclose(start_of(stepper, scene), start, atol=0.01)  # it is held, and does not fall

    again = grasping(make_stepper, scene)
    close_on(again, scene, 1.0, steps=steps[0] + 1)
    both = again.contacts[0, :, 0] & again.contacts[0, :, 1]
    assert int(np.argmax(both)) == released[steps[0]]
    assert again.released_at[0] == released[steps[0]]


def test_held_and_lifted(make_stepper: MakeStepper, scene: Scene):
    stepper = grasping(make_stepper, scene)
    close_on(stepper, scene, 1.0)
    before, actions = cube(stepper, scene)[0][0, 2], hold(stepper, 1.0)
    actions[:, 2] += 0.05
    for _ in range(20):
        stepper.step(actions)
    assert cube(stepper, scene)[0][0, 2] == pytest.approx(before + 0.05, abs=0.01)


def test_no_release_while_the_gripper_opens_or_waits(make_stepper: MakeStepper, scene: Scene):
    stepper = grasping(make_stepper, scene)
    assert max(close_on(stepper, scene, -1.0)) == -1
    assert stepper.driven[0]


def test_no_release_unless_asked_for(make_stepper: MakeStepper, scene: Scene):
    stepper = make_stepper()
    qpos = home_of(scene)
    at = scene["cubeA"].qpos_address
    qpos[at : at + 3] = scene.arm.base_pose.apply(stepper.eef_position[0])
    stepper.reset(0, qpos)
    assert max(close_on(stepper, scene, 1.0)) == -1
    assert stepper.driven[0]
    assert stepper.touched("left_pad")[0]


def test_contacts_are_those_of_mujoco(make_stepper: MakeStepper, scene: Scene):
    everything = tuple(range(scene.model.ngeom))
    pairs = (
        *scene.grasp_contacts("cubeA"),
        ContactPair("any", everything, everything),
        ContactPair("b", scene["cubeB"].geoms, scene.table),
        ContactPair("cubes", scene["cubeA"].geoms, scene["cubeB"].geoms),
    )
    stepper = make_stepper(contacts=pairs)
    qpos = home_of(scene)
    at = scene["cubeA"].qpos_address
    qpos[at : at + 3] = (0.1, -0.2, 0.9)  # over cubeB: it falls onto it
    stepper.reset(0, qpos)
    seen = np.zeros(len(pairs), dtype=bool)
    for _ in range(12):
        stepper.step(hold(stepper, 1.0))
        geoms = [tuple(pair) for pair in scene.physics.geoms[stepper.data[0].contact.geom]]
        for k, pair in enumerate(pairs):
            expected = any(
                (g in pair.first and h in pair.second) or (h in pair.first and g in pair.second) for g, h in geoms
            )
            assert stepper.contacts[0, -1, k] == expected, pair.name
            assert stepper.touching(pair.name)[0] == expected
            assert stepper.touched(pair.name)[0] == stepper.contacts[0, :, k].any()
        seen |= stepper.contacts[0].any(axis=0)
    assert dict(zip(stepper.contact_names, seen.tolist(), strict=True)) == {
        "left_pad": False, "right_pad": False, "table": False, "any": True, "b": True, "cubes": True,
    }  # fmt: skip
    with pytest.raises(SettingError, match="no such contact; found 'cube'; expected left_pad, "):
        stepper.touched("cube")


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize(
    ("field", "value", "message"),
    [
        ("position", np.zeros((2, 24, 3)), r"drive.position: wrong shape; found \[2, 24, 3\]; expected \[2, 25, 3\]"),
        ("active", np.ones(3, dtype=bool), r"drive.active: wrong shape; found \[3\]; expected \[2\]"),
        ("velocity", np.full((2, 25, 3), np.nan), "drive.velocity: environment 0 would be driven by numbers"),
        ("quat_wxyz", np.ones((2, 4)), "drive.quat_wxyz: environment 0 would be given an attitude that is no rotation"),
    ],
)
def test_drives_that_cannot_be(make_stepper: MakeStepper, scene: Scene, field: str, value: Any, message: str):
    stepper = make_stepper(envs=2)
    drive = drive_along(stepper, start_of(stepper, scene), (0.0, 0.0, 0.0))
    with pytest.raises(SettingError, match=message):
        stepper.step(hold(stepper), dataclasses.replace(drive, **{field: value}))


def test_nothing_to_drive(make_stepper: MakeStepper, scene: Scene):
    stepper = make_stepper(driven=None)
    with pytest.raises(SettingError, match="there is nothing to drive"):
        stepper.step(hold(stepper), drive_along(stepper, (0.5, 0.0, 0.0), (0.0, 0.0, 0.0)))
