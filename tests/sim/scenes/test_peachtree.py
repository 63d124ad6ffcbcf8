"""The peach, its tree and its basket: how it hangs, when it comes off, where it falls."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from sido.sim.scene import Scene
from sido.sim.scenes import carry, peachtree
from sido.sim.scenes.placing import with_object

from .conftest import Hand, MakeHand, by, data_at

RELEASED = np.array(False)


def along_the_hand(distance_m: float) -> Any:
    """Back from where the hand points, at its approach pitch."""
    pitch = peachtree.APPROACH_PITCH_RAD
    return distance_m * np.array([-np.sin(pitch), 0.0, np.cos(pitch)])


def hand_at(make_hand: MakeHand, scene: Scene, y: float, *, driven: bool = True) -> Hand:
    qpos = peachtree.place_at(scene, 0.14, y)
    return make_hand(scene, qpos, "peach", pitch_rad=peachtree.APPROACH_PITCH_RAD, driven=driven)


def test_the_peach_and_the_basket_have_the_papers_sizes(peach_scene: Scene):
    (geom,) = peach_scene["peach"].geoms
    np.testing.assert_allclose(2 * peach_scene.model.geom_size[geom], (0.07, 0.07, 0.09))
    data = data_at(peach_scene, peach_scene.home_qpos)
    x, y, z = peachtree.BASKET_M
    hit = np.zeros(1, dtype=np.int32)
    solid = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8)
    for axis, size in ((0, 0.25), (1, 0.35)):
        across = sum(
            mujoco.mj_ray(
                peach_scene.model, data, np.array([x, y, z + 0.05]), sign * np.eye(3)[axis], solid, 1, -1, hit
            )
            for sign in (-1.0, 1.0)
        )
        assert across == pytest.approx(size, abs=1e-9)


def test_it_sways_over_30_cm_across_the_arms_reach():
    assert peachtree.REGION.size_m[1] == 0.30
    assert peachtree.REGION.centre_m[1] == 0.0


def test_while_it_is_driven_it_hangs(peach_scene: Scene, make_hand: MakeHand):
    hand = hand_at(make_hand, peach_scene, 0.05)
    start = hand.object
    np.testing.assert_allclose(hand.stay(20).object, start, atol=1e-12)


@pytest.mark.parametrize("x", [peachtree.REGION.low_m[0], peachtree.REGION.high_m[0]])
@pytest.mark.parametrize("y", [-0.15, 0.0, 0.15])
def test_one_that_comes_off_by_itself_misses_the_basket(peach_scene: Scene, make_hand: MakeHand, x: float, y: float):
    """Else a grasp that slips would count."""
    hand = make_hand(peach_scene, peachtree.place_at(peach_scene, x, y), "peach", pitch_rad=0.5)
    hand.stay(60)
    assert hand.object[2] < peachtree.REST_HEIGHT_M - 0.3
    assert not peachtree.succeeded(peach_scene, hand.qpos, RELEASED)


@pytest.mark.parametrize("turn", range(6))
def test_dropped_at_the_target_it_stays_in_the_basket(peach_scene: Scene, make_hand: MakeHand, turn: int):
    """However it is turned, and 3 cm off the middle."""
    rng = np.random.default_rng(turn)
    qpos = peach_scene.home_qpos.copy()
    target = peachtree.target(peach_scene, qpos) + by(*rng.uniform(-0.03, 0.03, size=2), 0.0)
    qpos = with_object(peach_scene, qpos, "peach", target)
    attitude = rng.normal(size=4)
    qpos[peach_scene["peach"].qpos_address + 3 :][:4] = attitude / np.linalg.norm(attitude)
    qpos[peach_scene.arm.joint_qpos[0]] = 1.5  # the arm is elsewhere
    assert not peachtree.succeeded(peach_scene, qpos, RELEASED)  # in the air
    hand = make_hand(peach_scene, qpos, "peach", pitch_rad=0.5).stay(100)
    assert peachtree.succeeded(peach_scene, hand.qpos, RELEASED)
    assert not peachtree.succeeded(peach_scene, hand.qpos, np.array(True))
    dof = peach_scene["peach"].dof_address
    assert np.abs(hand.stepper.qvel[0, dof : dof + 3]).max() < 0.02  # it has come to rest


@pytest.mark.parametrize("y", [-0.15, 0.15])
def test_a_hand_picks_it_holds_it_and_drops_it(peach_scene: Scene, make_hand: MakeHand, y: float):
    hand = hand_at(make_hand, peach_scene, y)
    start = hand.object
    hand.go(start + along_the_hand(0.12)).go(start - along_the_hand(0.005))
    np.testing.assert_allclose(hand.object, start, atol=1e-12)  # still hanging
    assert hand.hung_at is not None
    hand.close()
    assert hand.hung_at is None
    assert hand.held
    np.testing.assert_allclose(hand.object, start, atol=5e-3)
    hand.go(start + by(-0.05, 0.0, 0.0))
    grip = hand.object - hand.position
    hand.stay(40)
    np.testing.assert_allclose(hand.object - hand.position, grip, atol=5e-4)  # 2 s without slipping
    target = peachtree.target(peach_scene, hand.qpos)
    hand.go(target)
    np.testing.assert_allclose(hand.object, target, atol=6e-3)
    assert not peachtree.succeeded(peach_scene, hand.qpos, np.array(hand.held))
    hand.open().stay(60)
    assert not hand.held
    assert peachtree.succeeded(peach_scene, hand.qpos, np.array(hand.held))


@pytest.mark.parametrize("side", [-1, 1])
def test_a_touch_with_one_finger_does_not_pull_it_off(peach_scene: Scene, make_hand: MakeHand, side: int):
    """The hand is 5 mm off to one side, so that one pad meets the peach while the other has a centimetre to go."""
    hand = hand_at(make_hand, peach_scene, 0.0)
    start = hand.object
    beside = start + by(0, side * 0.005, 0)
    hand.go(beside + along_the_hand(0.12)).go(beside - along_the_hand(0.005)).stay(20)
    hand.gripper = 1.0
    hand.stay(2)
    assert bool(hand.stepper.touched("right_pad")[0]) == (side > 0)
    assert bool(hand.stepper.touched("left_pad")[0]) == (side < 0)
    assert hand.hung_at is not None
    hand.open()
    np.testing.assert_allclose(hand.object, start, atol=1e-12)


def test_the_tree_follows_and_is_only_seen(peach_scene: Scene):
    model = peach_scene.model
    tree = model.body("tree").id
    geoms = np.flatnonzero(model.geom_bodyid == tree)
    assert len(geoms) > 10
    assert not model.geom_contype[geoms].any()
    assert not model.geom_conaffinity[geoms].any()
    for y in (-0.15, 0.1):
        data = data_at(peach_scene, peachtree.place_at(peach_scene, 0.14, y))
        carry(peachtree.carriers(peach_scene), model, data, np.array([0.14, y, 1.0]))
        np.testing.assert_allclose(data.body("tree").xpos, (0.14, y, peachtree.REST_HEIGHT_M))
        np.testing.assert_allclose(data.body("tree").xpos, data.body("peach").xpos)


def test_the_tree_stands_on_the_floor_and_is_180_cm_tall(peach_scene: Scene):
    model = peach_scene.model
    data = data_at(peach_scene, peach_scene.home_qpos)
    carry(peachtree.carriers(peach_scene), model, data, np.array([0.14, 0.0, 1.0]))
    wheel, trunk = model.geom("wheel_0_visual"), model.geom("trunk_visual")
    assert data.geom_xpos[wheel.id][2] - wheel.size[0] == pytest.approx(0.0, abs=1e-9)
    tops = [data.geom_xpos[g][2] + model.geom_aabb[g][5] for g in range(model.ngeom) if "leaf" in model.geom(g).name]
    assert max(tops) == pytest.approx(1.8, abs=0.05)
    assert data.geom_xpos[trunk.id][2] > 0.8
