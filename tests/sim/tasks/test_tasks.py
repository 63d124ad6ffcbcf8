"""The tasks by name, and the small values they are made of."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from sido.errors import SettingError
from sido.geometry import Pose, Transform, quat_about_z
from sido.motion import Region
from sido.sim.tasks import TASKS, Stack, TaskState, Workspace, task_named
from sido.sim.tasks.base_frame import region_in_base, workspace_above


def test_unknown_tasks_are_told_the_closest_name():
    with pytest.raises(SettingError) as caught:
        task_named("stak")
    assert str(caught.value) == (
        "unknown task; found 'stak'; expected one of stack, square, mug, gantry, peachtree; "
        "to mend it: did you mean 'stack'?"
    )
    with pytest.raises(SettingError, match="did you mean 'peachtree'"):
        task_named("peach")


def test_tasks_bear_their_names():
    assert list(TASKS) == ["stack", "square", "mug", "gantry", "peachtree"]
    for name, task in TASKS.items():
        assert task.name == name  # pyright: ignore[reportFunctionMemberAccess]


def test_a_workspace_holds_its_faces_and_no_more():
    box = Workspace((0.0, -1.0, 0.0), (1.0, 1.0, 0.5))
    inside = box.contains(
        np.array([[0.0, 1.0, 0.5], [0.5, 0.0, 0.2], [1.1, 0.0, 0.2], [0.5, -1.1, 0.2], [0.5, 0, -0.1]])
    )
    assert inside.tolist() == [True, True, False, False, False]
    for low, high in (((0.0, 0.0, 0.0), (1.0, 1.0, 0.0)), ((0.0, 0.0, np.nan), (1.0, 1.0, 1.0))):
        with pytest.raises(SettingError, match="not a box"):
            Workspace(low, high)


def test_places_of_the_world_are_told_from_the_base(stack: Stack):
    arm = stack.scene.arm
    region = region_in_base(arm, Region((0.1, -0.2), (0.3, 0.5)))
    np.testing.assert_allclose(region.centre_m, (0.66, -0.2), atol=1e-12)
    np.testing.assert_allclose(region.size_m, (0.3, 0.5), atol=1e-12)
    box = workspace_above(arm, (0.0, 0.0, 0.8), (0.8, 0.6), height_m=0.5)
    np.testing.assert_allclose(box.low_m, (0.16, -0.3, 0.8 - 0.912 - 0.02), atol=1e-12)
    np.testing.assert_allclose(box.high_m, (0.96, 0.3, 1.3 - 0.912), atol=1e-12)


def test_a_turned_base_is_refused(stack: Stack):
    turned = Transform("world", "base", Pose((0.0, 0.0, 0.0), quat_about_z(np.array(0.3))))
    arm = dataclasses.replace(stack.scene.arm, world_from_base=turned)
    with pytest.raises(SettingError, match="the robot's base is turned"):
        region_in_base(arm, Region((0.0, 0.0)))


def test_a_state_knows_its_objects_and_contacts(stack: Stack):
    rng = np.random.default_rng(0)
    starts = np.stack([stack.place(rng) for _ in range(3)])
    qvel = rng.normal(size=(3, stack.scene.model.nv))
    names = ("left_pad", "right_pad", "table")
    contacts = np.array([[True, True, False], [True, False, True], [False, False, False]])
    state = TaskState(
        stack.scene, starts, qvel, rng.normal(size=(3, 3)), np.tile([1.0, 0, 0, 0], (3, 1)), names, contacts
    )
    assert state.held.tolist() == [True, False, False]
    assert state.touching("table").tolist() == [False, True, False]
    cube = stack.scene["cubeB"]
    assert np.array_equal(state.position("cubeB"), starts[:, cube.qpos_address : cube.qpos_address + 3])
    assert np.array_equal(state.pose("cubeB").position, state.position("cubeB"))
    assert np.array_equal(state.velocity("cubeB"), qvel[:, cube.dof_address : cube.dof_address + 3])
    np.testing.assert_allclose(state.eef_position - state.base_eef_position, [[-0.56, 0.0, 0.912]] * 3, atol=1e-12)
    with pytest.raises(SettingError, match="no such contact; found 'target'; expected left_pad, right_pad, table"):
        state.touching("target")
    with pytest.raises(SettingError, match="Stack has no such object; found 'cubeC'"):
        state.position("cubeC")
