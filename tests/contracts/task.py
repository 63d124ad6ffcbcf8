"""What every task must satisfy, as one function; `test_task.py` runs it on each."""

from __future__ import annotations

import numpy as np

from sido.arrays import read_only
from sido.geometry import axis_angle_from_quat
from sido.sim.osc import OscSettings
from sido.sim.stepper import Stepper
from sido.sim.tasks import Task, TaskState

SETTLE_STEPS = 30
SEEDS = range(6)


def check_task(task: Task) -> None:
    """It names things that exist, begins at rest where it says, is done at its target, and not before."""
    assert isinstance(task, Task)
    check_names(task)
    starts = check_placements(task)
    with world_of(task, len(starts)) as world:
        for i, qpos in enumerate(starts):
            world.reset(i, qpos)
        check_judgement(task, state_of(task, world), expected=False)
        hold(task, world)
        after = state_of(task, world)
        if not task.hangs:
            check_rest(task, starts, after)
            assert task.drivable(after).all(), "an object at its start, at rest, may be driven"
        for i, qpos in enumerate(starts):
            world.reset(i, at_target(task, qpos))
        hold(task, world)
        check_judgement(task, state_of(task, world), expected=True)
        done = state_of(task, world)
        in_region = task.region.contains(task.scene.arm.base_pose.inverse().apply(done.position(task.moving)))
        assert not (task.drivable(done) & in_region).any(), "what is done is not driven away"


def check_names(task: Task) -> None:
    scene = task.scene
    assert task.name == task.name.lower()
    assert task.description
    assert task.moving in scene.objects, "the moving object is in the scene"
    others = scene.objects.keys() - {task.moving}
    assert task.obstacle is None or task.obstacle in others, "the obstacle is in the scene"
    assert "grasp" in task.subtasks, "the grasp is annotated"
    assert task.horizon_s > 1.0


def check_placements(task: Task) -> list[np.ndarray]:
    """The generator alone decides; the object is in its region, the arm at home, nothing is written to."""
    scene, moving = task.scene, task.scene[task.moving]
    home = scene.home_qpos.copy()
    starts = [task.place(np.random.default_rng(seed)) for seed in SEEDS]
    again = [task.place(np.random.default_rng(seed)) for seed in SEEDS]
    assert np.array_equal(starts, again), "the same generator gives the same placement"
    assert len({start.tobytes() for start in starts}) == len(starts), "another generator gives another"
    assert np.array_equal(home, scene.home_qpos), "the scene is not written to"
    base_from_world = scene.arm.base_pose.inverse()
    for start in starts:
        assert start.shape == (scene.model.nq,)
        place = base_from_world.apply(start[moving.qpos_address : moving.qpos_address + 3])
        assert task.region.contains(place), "the object begins in its region"
        assert task.workspace.contains(place), "the object begins in the workspace"
        assert np.array_equal(start[scene.arm.joint_qpos], home[scene.arm.joint_qpos]), "the arm is at home"
        for thing in scene.objects.values():
            quat = start[thing.qpos_address + 3 : thing.qpos_address + 7]
            np.testing.assert_allclose(np.linalg.norm(quat), 1.0, atol=1e-9, err_msg="attitudes are rotations")
    for corner in (task.region.low_m, task.region.high_m):
        assert task.workspace.contains(np.array([*corner, place[2]])), "the region lies in the workspace"
    return starts


def check_judgement(task: Task, state: TaskState, *, expected: bool) -> None:
    """One answer for each environment, the same whoever else is judged; nothing achieved when nothing is held."""
    answers = {"success": task.success(state), **task.signals(state)}
    assert tuple(answers) == ("success", *task.subtasks), "signals are the subtasks, in order"
    for name, answer in answers.items():
        assert answer.dtype == np.bool_, name
        assert answer.shape == (len(state.qpos),), f"one answer for each, {name}"
    assert (answers["success"] == expected).all(), f"success is {expected} for all"
    assert not answers["grasp"].any(), "nothing is grasped"
    target = task.target(state)
    assert target.shape == (len(state.qpos),), "a target for each"
    for i in range(len(state.qpos)):
        one = row_of(state, i)
        assert task.success(one)[0] == answers["success"][i], "others do not matter"
        assert np.array_equal(task.target(one).position[0], target.position[i]), "others do not matter"


def check_rest(task: Task, starts: list[np.ndarray], after: TaskState) -> None:
    """The moving object lies where it was put: it neither falls nor is pushed away by what it overlaps."""
    moving = task.scene[task.moving]
    before = np.stack(starts)[:, moving.qpos_address : moving.qpos_address + 3]
    drift = np.linalg.norm(after.position(task.moving) - before, axis=1)
    assert drift.max() < 1.5e-3, f"the object begins at rest; it moved {drift.max():.4f} m"


def world_of(task: Task, envs: int) -> Stepper:
    scene = task.scene
    contacts = (*scene.grasp_contacts(task.moving), *task.contacts)
    return Stepper(scene.physics, scene.arm, OscSettings(), envs=envs, contacts=contacts)


def state_of(task: Task, world: Stepper) -> TaskState:
    """Read-only: a task that writes into what it judges raises."""
    arrays = (world.qpos, world.qvel, world.eef_position, world.eef_quat_wxyz)
    qpos, qvel, position, quat = (read_only(array.copy()) for array in arrays)
    contacts = read_only(world.contacts[:, -1].copy())
    return TaskState(task.scene, qpos, qvel, position, quat, world.contact_names, contacts)


def row_of(state: TaskState, i: int) -> TaskState:
    row = slice(i, i + 1)
    return TaskState(
        state.scene, state.qpos[row], state.qvel[row], state.base_eef_position[row], state.base_eef_quat_wxyz[row],
        state.contact_names, state.contacts[row],
    )  # fmt: skip


def hold(task: Task, world: Stepper) -> None:
    """Let the world settle, the arm where it is and the gripper as it is."""
    rotation = axis_angle_from_quat(world.eef_quat_wxyz.copy())
    action = np.concatenate([world.eef_position, rotation, np.zeros((len(world), 1))], axis=1)
    for _ in range(SETTLE_STEPS):
        world.step(action)
    assert (world.faults == 0).all(), f"{task.name} can be simulated"


def at_target(task: Task, qpos: np.ndarray) -> np.ndarray:
    """The placement, with the moving object put by hand where it is wanted."""
    address = task.scene[task.moving].qpos_address
    state = TaskState(
        task.scene, qpos[None], np.zeros((1, task.scene.model.nv)), np.zeros((1, 3)), np.array([[1.0, 0, 0, 0]]), (),
        np.zeros((1, 0), dtype=np.bool_),
    )  # fmt: skip
    target = task.target(state)
    placed = qpos.copy()
    placed[address : address + 3] = target.position[0]
    placed[address + 3 : address + 7] = target.quat_wxyz[0]
    return placed
