"""What holds in each of the three scenes."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import mujoco
import numpy as np
import pytest

from sido.sim.scene import Scene
from sido.sim.scenes import carry, peachtree
from sido.sim.tasks import shared_task

from .conftest import MODULES, MakeHand, data_at

NAMES = list(MODULES)


@pytest.fixture(params=NAMES)
def played(request: pytest.FixtureRequest, scenes: dict[str, Scene]) -> tuple[ModuleType, Scene]:
    return MODULES[request.param], scenes[request.param]


def starts(module: Any, scene: Scene, count: int) -> Any:
    rng = np.random.default_rng(5)
    return np.array([module.place(scene, rng) for _ in range(count)])


def start_positions(module: Any, scene: Scene, count: int) -> Any:
    address = scene[module.MOVING].qpos_address
    return starts(module, scene, count)[:, address : address + 3]


def test_it_has_both_cameras(played: tuple[ModuleType, Scene]):
    _, scene = played
    cameras = {scene.model.camera(i).name for i in range(scene.model.ncam)}
    assert {"agentview", "robot0_eye_in_hand"} <= cameras


def test_the_arm_is_that_of_stack(played: tuple[ModuleType, Scene]):
    """The same base, limits and joints, so that one controller and one policy serve all tasks."""
    _, scene = played
    stack = shared_task("stack").scene
    np.testing.assert_array_equal(scene.arm.torque_limits_nm, stack.arm.torque_limits_nm)
    np.testing.assert_array_equal(scene.arm.base_pose.position, stack.arm.base_pose.position)
    np.testing.assert_array_equal(scene.arm.base_pose.quat_wxyz, stack.arm.base_pose.quat_wxyz)
    for mine, theirs in zip(scene.arm.joint_dofs, stack.arm.joint_dofs, strict=True):
        assert (
            scene.model.joint(scene.model.dof_jntid[mine]).name == stack.model.joint(stack.model.dof_jntid[theirs]).name
        )
    for option in ("timestep", "impratio", "cone", "integrator"):
        assert getattr(scene.model.opt, option) == getattr(stack.model.opt, option)


def test_starts_lie_in_the_region_at_rest_height_and_fill_it(played: tuple[ModuleType, Scene]):
    module, scene = played
    places = start_positions(module, scene, 300)
    assert module.REGION.contains(places).all()
    np.testing.assert_array_equal(places[:, 2], module.REST_HEIGHT_M)
    spread = np.ptp(places[:, :2], axis=0)
    wanted = np.ptp([module.X_M, module.Y_M], axis=1) if hasattr(module, "X_M") else module.REGION.size_m
    np.testing.assert_allclose(spread, wanted, rtol=0.05)


def test_a_start_is_drawn_from_the_generator_alone(played: tuple[ModuleType, Scene]):
    module, scene = played
    home = scene.home_qpos.copy()
    first, again = (starts(module, scene, 3) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first[0], first[1])
    np.testing.assert_array_equal(scene.home_qpos, home)


def test_nothing_penetrates_anything_at_the_start(played: tuple[ModuleType, Scene]):
    module, scene = played
    for qpos in starts(module, scene, 20):
        data = data_at(scene, qpos)
        assert all(contact.dist > -1e-6 for contact in data.contact)
        moving = set(scene[module.MOVING].geoms)
        assert all(moving & {int(contact.geom1), int(contact.geom2)} for contact in data.contact)


@pytest.mark.parametrize("played", ["mug", "gantry"], indirect=True)  # the peach stands on nothing
def test_a_body_in_the_way_would_be_noticed(played: tuple[ModuleType, Scene]):
    """The test above can fail: an object that is 5 mm too low penetrates what it stands on."""
    module, scene = played
    qpos = starts(module, scene, 1)[0]
    qpos[scene[module.MOVING].qpos_address + 2] -= 0.005
    assert min(contact.dist for contact in data_at(scene, qpos).contact) < -1e-3


def test_the_hand_holds_its_rest_posture(played: tuple[ModuleType, Scene], make_hand: MakeHand):
    """The posture in `home_qpos` is one that the arm keeps, with its fingers where a reset sends them."""
    module, scene = played
    qpos = starts(module, scene, 1)[0]
    pitch = getattr(module, "APPROACH_PITCH_RAD", 0.127 if module.MOVING == "mug" else 0.0)
    hand = make_hand(scene, qpos, module.MOVING, pitch_rad=pitch, driven=module is peachtree)
    hand.gripper = 0.0
    hand.stay(20)
    np.testing.assert_allclose(hand.position, hand.goal, atol=2e-3)
    np.testing.assert_allclose(hand.qpos[scene.arm.joint_qpos], qpos[scene.arm.joint_qpos], atol=0.02)
    fingers = scene.arm.gripper.joint_qpos
    np.testing.assert_allclose(hand.qpos[fingers], qpos[fingers], atol=0.02)


def test_the_hand_reaches_every_corner_of_the_region(played: tuple[ModuleType, Scene], make_hand: MakeHand):
    """And comes to rest there. It takes its time: robosuite's controller decouples position from rotation, so that a
    motion of both at once rings, the longer the more the arm is stretched out. With `e` the least eigenvalue of
    `J M^-1 J^T diag(L_pos, L_rot)`, its frequency is `sqrt(kp e)` and its damping ratio `sqrt(e)`: 2 s and 0.25 in the
    corners, so that 4 s leave under 5 % of it. At `e = 0.002` (11 s, 0.05), which is out of reach, this fails.
    """
    module, scene = played
    qpos = starts(module, scene, 1)[0]
    qpos[scene[module.MOVING].qpos_address :][:3] = (5.0, 5.0, 0.1)  # out of the way
    hand = make_hand(scene, qpos, module.MOVING, pitch_rad=getattr(module, "APPROACH_PITCH_RAD", 0.0))
    (x_low, y_low), (x_high, y_high) = module.REGION.low_m, module.REGION.high_m
    for x, y in ((x_low, y_low), (x_low, y_high), (x_high, y_high), (x_high, y_low)):
        hand.go((x, y, module.REST_HEIGHT_M)).stay(72)
        np.testing.assert_allclose(hand.position, (x, y, module.REST_HEIGHT_M), atol=4e-3)


def test_success_of_a_batch_is_that_of_each(played: tuple[ModuleType, Scene]):
    module, scene = played
    qpos = starts(module, scene, 4)
    address = scene[module.MOVING].qpos_address
    qpos[1, address : address + 3] = module.target(scene, qpos[1])
    qpos[2, address : address + 3] = module.target(scene, qpos[2])
    held = np.array([False, False, True, False])
    together = module.succeeded(scene, qpos, held)
    one_by_one = [bool(module.succeeded(scene, row, np.array(hold))) for row, hold in zip(qpos, held, strict=True)]
    assert together.tolist() == one_by_one
    assert not together[[0, 2, 3]].any()
    assert module.target(scene, qpos).shape == (4, 3)


def test_what_is_seen_neither_weighs_nor_collides(played: tuple[ModuleType, Scene]):
    """Every geom of ours is either solid, in group 0, or a picture, in group 1: none is both or neither."""
    module, scene = played
    model = scene.model
    body = scene[module.MOVING].body
    groups = model.geom_group[model.geom_bodyid == body]
    assert set(groups) == {0, 1}
    solid = [g for g in range(model.ngeom) if model.geom_bodyid[g] == body and model.geom_group[g] == 0]
    assert tuple(solid) == scene[module.MOVING].geoms
    assert 0.03 < model.body_mass[body] < 0.2


@pytest.mark.parametrize("played", ["gantry", "peachtree"], indirect=True)
def test_carriers_change_no_trajectory(played: tuple[ModuleType, Scene], make_hand: MakeHand):
    """The physics is the same to the last bit, wherever the pictures of stage and tree are."""
    module, scene = played
    qpos = starts(module, scene, 1)[0]
    hands = [make_hand(scene, qpos, module.MOVING) for _ in range(2)]
    for step in range(20):
        carry(module.carriers(scene), scene.physics.model, hands[1].stepper.data[0], np.array([0.3, 0.01 * step, 1.0]))
        for hand in hands:
            hand.stay(1)
    np.testing.assert_array_equal(hands[0].qpos, hands[1].qpos)


def test_supports_are_solid(played: tuple[ModuleType, Scene]):
    _, scene = played
    for geom in scene.table:
        assert scene.model.geom_contype[geom] or scene.model.geom_conaffinity[geom]
        assert scene.model.geom_group[geom] == 0 or scene.model.geom(geom).name == "floor"


def test_the_model_is_small(played: tuple[ModuleType, Scene]):
    """Free objects and one drawer on top of arm and gripper; an environment's memory is megabytes."""
    _, scene = played
    assert scene.model.nv <= 20
    assert mujoco.MjData(scene.model).narena <= 64 * 2**20
