"""The capsule, its stage and its box: sizes against the paper, and a pick and place by hand."""

from __future__ import annotations

from typing import Any

import mujoco
import numpy as np
import pytest

from sido.errors import SettingError
from sido.sim.scene import Scene
from sido.sim.scenes import carry, gantry
from sido.sim.scenes.carrier import carrier

from .conftest import MakeHand, by, data_at


def distance(scene: Scene, qpos: Any, start: Any, direction: Any) -> float:
    """To the nearest solid, by MuJoCo's own ray."""
    data = data_at(scene, qpos)
    geom = np.zeros(1, dtype=np.int32)
    groups = np.array([1, 0, 0, 0, 0, 0], dtype=np.uint8)
    return float(mujoco.mj_ray(scene.model, data, np.array(start), np.array(direction), groups, 1, -1, geom))


def test_the_box_is_9_by_9_cm_inside(gantry_scene: Scene):
    x, y, z = gantry.BOX_M
    qpos = gantry.place_at(gantry_scene, 0.0, -0.1)
    for axis in (0, 1):
        ray = np.eye(3)[axis]
        across = sum(distance(gantry_scene, qpos, (x, y, z + 0.02), sign * ray) for sign in (-1.0, 1.0))
        assert across == pytest.approx(0.09, abs=1e-9)


def test_the_capsule_is_as_the_paper_has_it(gantry_scene: Scene):
    """5 cm tall, 5 cm across at the top and 4 at the bottom."""
    qpos = gantry.place_at(gantry_scene, 0.0, 0.0)
    for height, diameter in ((0.005, 0.04), (0.045, 0.05)):
        z = gantry.STAGE_M + height
        from_left = distance(gantry_scene, qpos, (0.0, -0.1, z), (0.0, 1.0, 0.0))
        from_right = distance(gantry_scene, qpos, (0.0, 0.1, z), (0.0, -1.0, 0.0))
        assert 0.2 - from_left - from_right == pytest.approx(diameter, abs=1e-6)
    down = distance(gantry_scene, qpos, (0.0, 0.0, 0.95), (0.0, 0.0, -1.0))
    assert 0.95 - down == pytest.approx(gantry.STAGE_M + 0.05, abs=1e-6)


def test_the_workspace_is_23_by_43_cm_and_clear_of_the_box():
    assert gantry.REGION.size_m == (0.23, 0.43)
    hand_half_m = 0.075  # an open Robotiq 2F-85, across
    assert gantry.REGION.high_m[1] + hand_half_m <= gantry.BOX_M[1] - 0.045 + 1e-9


def test_the_grid_spans_the_workspace():
    places = gantry.grid(8)
    assert len(np.unique(places, axis=0)) == 64
    np.testing.assert_allclose(places.min(axis=0), gantry.REGION.low_m)
    np.testing.assert_allclose(places.max(axis=0), gantry.REGION.high_m)
    for axis, step in ((0, 0.23 / 7), (1, 0.43 / 7)):
        np.testing.assert_allclose(np.diff(np.unique(places[:, axis].round(12))), step)


@pytest.mark.parametrize(("axis", "count", "length"), [("x", 30, 0.23), ("y", 22, 0.43)])
def test_axis_placements_run_from_end_to_end(axis: Any, count: int, length: float):
    places = gantry.along_axis(axis, count)
    k = "xy".index(axis)
    assert places.shape == (count, 2)
    np.testing.assert_allclose(np.diff(places[:, k]), length / (count - 1))
    np.testing.assert_allclose(places[:, 1 - k], gantry.REGION.centre_m[1 - k])


@pytest.mark.parametrize(("x", "y"), [(-0.06, 0.0), (-0.16, -0.2), (0.05, 0.2)])
def test_the_capsule_stands_still(gantry_scene: Scene, make_hand: MakeHand, x: float, y: float):
    hand = make_hand(gantry_scene, gantry.place_at(gantry_scene, x, y), "capsule").stay(40)
    np.testing.assert_allclose(hand.object, (x, y, gantry.REST_HEIGHT_M), atol=5e-4)


def test_the_capsule_stands_in_the_box_where_the_target_says(gantry_scene: Scene, make_hand: MakeHand):
    qpos = gantry.place_at(gantry_scene, 0.0, 0.0)
    target = gantry.target(gantry_scene, qpos)
    address = gantry_scene["capsule"].qpos_address
    qpos[address : address + 3] = target
    hand = make_hand(gantry_scene, qpos, "capsule").stay(40)
    np.testing.assert_allclose(hand.object, target, atol=5e-4)
    assert gantry.succeeded(gantry_scene, hand.qpos, np.array(False))
    assert not gantry.succeeded(gantry_scene, hand.qpos, np.array(True))


@pytest.mark.parametrize("away", [(0.05, 0.0, 0.0), (0.0, -0.05, 0.0), (0.0, 0.0, 0.05)])
def test_beside_or_above_the_box_is_no_success(gantry_scene: Scene, away: Any):
    qpos = gantry.place_at(gantry_scene, 0.0, 0.0)
    address = gantry_scene["capsule"].qpos_address
    qpos[address : address + 3] = gantry.target(gantry_scene, qpos) + away
    assert not gantry.succeeded(gantry_scene, qpos, np.array(False))


@pytest.mark.parametrize(("x", "y"), [(-0.06, 0.1), (0.05, -0.2)])
def test_a_hand_picks_it_holds_it_and_places_it(gantry_scene: Scene, make_hand: MakeHand, x: float, y: float):
    hand = make_hand(gantry_scene, gantry.place_at(gantry_scene, x, y), "capsule")
    start = hand.object
    hand.go(start + by(0, 0, 0.12)).go(start + by(0, 0, 0.012))
    np.testing.assert_allclose(hand.object, start, atol=5e-4)  # the open hand has not touched it
    hand.close()
    assert hand.held
    hand.go(start + by(0, 0, 0.14))
    assert hand.object[2] > start[2] + 0.11
    grip = hand.object - hand.position
    hand.stay(40)
    np.testing.assert_allclose(hand.object - hand.position, grip, atol=5e-4)  # 2 s without slipping
    target = gantry.target(gantry_scene, hand.qpos)
    hand.go(target + by(0, 0, 0.13)).go(target + by(0, 0, 0.02))
    assert not gantry.succeeded(gantry_scene, hand.qpos, np.array(hand.held))
    hand.open().go(target + by(0, 0, 0.15)).stay(10)
    assert not hand.held
    assert gantry.succeeded(gantry_scene, hand.qpos, np.array(hand.held))


def test_beam_and_plate_follow_the_capsule(gantry_scene: Scene):
    model = gantry_scene.model
    for x, y in gantry.grid(3):
        data = data_at(gantry_scene, gantry.place_at(gantry_scene, x, y))
        carry(gantry.carriers(gantry_scene), model, data, np.array([x, y, gantry.REST_HEIGHT_M]))
        np.testing.assert_allclose(data.body("plate").xpos, (x, y, gantry.STAGE_M))
        np.testing.assert_allclose(data.body("beam").xpos, (gantry.REGION.centre_m[0], y, gantry.STAGE_M))


def test_carrying_leaves_the_state_alone(gantry_scene: Scene):
    data = data_at(gantry_scene, gantry.place_at(gantry_scene, 0.0, 0.1))
    before = data.qpos.copy()
    carry(gantry.carriers(gantry_scene), gantry_scene.model, data, np.array([0.0, 0.1, 0.9]))
    np.testing.assert_array_equal(data.qpos, before)


@pytest.mark.parametrize("body", ["trolley", "box"])
def test_a_carrier_that_is_none_is_named(gantry_scene: Scene, body: str):
    with pytest.raises(SettingError, match=body):
        carrier(gantry_scene.model, body, follows=(1.0, 1.0))
