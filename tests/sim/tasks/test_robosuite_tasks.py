"""Stack and Square against robosuite's own environments."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import mujoco
import numpy as np
import pytest

from sido.geometry import quat_about_z, quat_from_axis_angle
from sido.sim.robosuite_scene import make_environment
from sido.sim.stepper import ContactPair
from sido.sim.tasks import Square, Stack, Task, TaskState


@pytest.fixture(scope="module")
def robosuite_stack() -> Iterator[Any]:
    environment = make_environment("Stack")
    yield environment
    environment.close()


@pytest.fixture(scope="module")
def robosuite_square() -> Iterator[Any]:
    environment = make_environment("NutAssemblySquare")
    yield environment
    environment.close()


def state_at(task: Task, qpos: np.ndarray) -> TaskState:
    """What our task sees of a state, found by a slow way of its own: MuJoCo's `mj_forward` and a loop over contacts."""
    scene, data = task.scene, mujoco.MjData(task.scene.model)
    data.qpos[:] = qpos
    mujoco.mj_forward(scene.model, data)
    pairs: tuple[ContactPair, ...] = (*scene.grasp_contacts(task.moving), *task.contacts)
    touching = [{int(a), int(b)} for a, b in data.contact.geom]
    found = [any({a, b} in touching for a in pair.first for b in pair.second) for pair in pairs]
    base_from_world = scene.arm.base_pose.inverse()
    return TaskState(
        scene=scene,
        qpos=qpos[None].copy(),
        qvel=np.zeros((1, scene.model.nv)),
        base_eef_position=base_from_world.apply(data.site_xpos[scene.arm.grip_site][None]),
        base_eef_quat_wxyz=np.array([[1.0, 0.0, 0.0, 0.0]]),
        contact_names=tuple(pair.name for pair in pairs),
        contacts=np.array([found]),
    )


def robosuite_judges(environment: Any, qpos: np.ndarray) -> bool:
    environment.sim.data.qpos[:] = qpos
    environment.sim.forward()
    return bool(environment._check_success())


def grip_position(task: Task) -> np.ndarray:
    """Where the grip site is when the arm is at home; world frame."""
    data = mujoco.MjData(task.scene.model)
    data.qpos[:] = task.scene.home_qpos
    mujoco.mj_forward(task.scene.model, data)
    return data.site_xpos[task.scene.arm.grip_site].copy()


def stack_states(stack: Stack, rng: np.random.Generator) -> Iterator[np.ndarray]:
    """cubeA on, in, above, beside cubeB; in the hand; on cubeB and in the hand."""
    a, b = stack.scene["cubeA"].qpos_address, stack.scene["cubeB"].qpos_address
    hand = grip_position(stack)
    for _ in range(60):
        qpos = stack.place(rng)
        under = qpos[b : b + 3]
        qpos[a : a + 3] = under + rng.uniform((-0.05, -0.05, 0.035), (0.05, 0.05, 0.05))
        yield qpos
    for _ in range(30):
        qpos = stack.place(rng)
        qpos[stack.scene.arm.gripper.joint_qpos] = (0.0195, -0.0195)
        qpos[a : a + 3] = hand + rng.uniform(-1, 1, 3) * (0.005, 0.0003, 0.005)
        qpos[a + 3 : a + 7] = quat_about_z(np.array(0.0))
        if rng.integers(2):
            qpos[b : b + 3] = qpos[a : a + 3] - np.array((0.0, 0.0, 0.0449))
            qpos[b + 3 : b + 7] = quat_from_axis_angle(np.array([0.0, 0.0, rng.uniform(0.0, 1.0)]))
        yield qpos


def test_stack_succeeds_when_robosuites_does(stack: Stack, robosuite_stack: Any):
    judged = []
    held = 0
    for qpos in stack_states(stack, np.random.default_rng(0)):
        state = state_at(stack, qpos)
        held += int(state.held[0] and state.touching("target")[0])
        theirs = robosuite_judges(robosuite_stack, qpos)
        assert stack.success(state)[0] == theirs
        judged.append(theirs)
    assert 0.2 < np.mean(judged) < 0.8, "both answers are tried"
    assert held > 3, "a cube that stands and is still held is tried"


def test_square_succeeds_when_robosuites_does(square: Square, robosuite_square: Any):
    rng, judged = np.random.default_rng(1), []
    nut = square.scene["SquareNut"].qpos_address
    peg = np.array([0.23, 0.1, 0.83])
    for _ in range(80):
        qpos = square.place(rng)
        qpos[nut : nut + 3] = peg + rng.uniform((-0.04, -0.04, 0.0), (0.04, 0.04, 0.06))
        theirs = robosuite_judges(robosuite_square, qpos)
        assert square.success(state_at(square, qpos))[0] == theirs
        judged.append(theirs)
    assert 0.1 < np.mean(judged) < 0.9, "both answers are tried"


def reach(task: Task, qpos: np.ndarray, goal: np.ndarray) -> np.ndarray:
    """The state with the grip site at `goal` (world frame), by Newton's method; whatever that runs through."""
    model, data, joints = task.scene.model, mujoco.MjData(task.scene.model), task.scene.arm.joint_qpos
    data.qpos[:] = qpos
    for _ in range(60):
        mujoco.mj_forward(model, data)
        jacobian = np.zeros((3, model.nv))
        mujoco.mj_jacSite(model, data, jacobian, None, task.scene.arm.grip_site)
        away = goal - data.site_xpos[task.scene.arm.grip_site]
        data.qpos[joints] += np.linalg.pinv(jacobian[:, task.scene.arm.joint_dofs]) @ np.clip(away, -0.05, 0.05)
    assert np.abs(away).max() < 1e-6
    return data.qpos.copy()


def test_a_nut_on_the_peg_within_the_hand_does_not_count(square: Square, robosuite_square: Any):
    """The grip site comes down on a nut that is around the peg: robosuite wants 4.2 cm between them."""
    nut = square.scene["SquareNut"].qpos_address
    qpos = square.place(np.random.default_rng(2))
    qpos[nut : nut + 7] = (0.23, 0.1, 0.84, 1.0, 0.0, 0.0, 0.0)
    answers = []
    for height in np.linspace(0.10, 0.0, 30):
        qpos = reach(square, qpos, qpos[nut : nut + 3] + np.array([0.0, 0.0, height]))
        theirs = robosuite_judges(robosuite_square, qpos)
        assert square.success(state_at(square, qpos))[0] == theirs == (height > math.atanh(0.4) / 10)
        answers.append(theirs)
    assert set(answers) == {True, False}, "near and far are tried"


def test_cubes_are_placed_as_robosuite_places_them(stack: Stack, robosuite_stack: Any):
    sampler = robosuite_stack.placement_initializer
    a, b = stack.scene["cubeA"].qpos_address, stack.scene["cubeB"].qpos_address
    ours = np.stack([stack.place(np.random.default_rng(seed)) for seed in range(2000)])
    theirs = [list(sampler.sample().values()) for _ in range(2000)]
    for k, address in enumerate((a, b)):
        mine = ours[:, address : address + 2]
        other = np.array([placed[k][0][:2] for placed in theirs])
        assert np.abs(mine).max() <= sampler.x_range[1]
        # Quantiles of as many samples of one distribution differ by 0.16 * 4 / sqrt(2000) at most, nearly always.
        for share in (0.1, 0.5, 0.9):
            np.testing.assert_allclose(np.quantile(mine, share, 0), np.quantile(other, share, 0), atol=0.012)
    mine = np.hypot(*(ours[:, a : a + 2] - ours[:, b : b + 2]).T)
    apart = np.array([np.hypot(*(np.array(one[0][0]) - np.array(one[1][0]))[:2]) for one in theirs])
    assert abs(mine.min() - apart.min()) < 2e-3, "as near to each other as robosuite lets them be"
    np.testing.assert_allclose(np.median(mine), np.median(apart), atol=0.01)


def test_the_nut_is_placed_as_robosuite_places_it(square: Square, robosuite_square: Any):
    sampler = robosuite_square.placement_initializer.samplers["SquareNutSampler"]
    nut = square.scene["SquareNut"].qpos_address
    places = np.stack([square.place(np.random.default_rng(seed))[nut : nut + 3] for seed in range(300)])
    for axis, bounds in enumerate((sampler.x_range, sampler.y_range)):
        low, high = bounds
        assert low <= places[:, axis].min() < low + 0.02 * (high - low)
        assert high - 0.02 * (high - low) < places[:, axis].max() <= high
    assert sampler.reference_pos[2] == pytest.approx(0.82)
