"""The mug, the drawer, and the whole task by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from sido.geometry import quat_from_axis_angle
from sido.sim.scene import Scene
from sido.sim.scenes import mug
from sido.sim.scenes.placing import object_upness, with_object

from .conftest import Hand, MakeHand, by, data_at

RELEASED = np.array(False)


def with_drawer(scene: Scene, qpos: Any, opened_m: float) -> Any:
    moved = qpos.copy()
    moved[scene.model.jnt_qposadr[scene.model.joint(mug.DRAWER_JOINT).id]] = -opened_m
    return moved


def in_drawer(scene: Scene, opened_m: float = 0.0) -> Any:
    """The mug stands on the drawer's bottom."""
    qpos = with_drawer(scene, scene.home_qpos, opened_m)
    return with_object(scene, qpos, "mug", mug.target(scene, qpos).tolist())


@pytest.mark.parametrize("yaw", [0.0, 1.0, math.pi / 2, 4.0])
def test_the_mug_stands_still_however_it_is_turned(mug_scene: Scene, make_hand: MakeHand, yaw: float):
    start = (0.1, -0.15, mug.REST_HEIGHT_M)
    hand = make_hand(mug_scene, with_object(mug_scene, mug_scene.home_qpos, "mug", start, yaw), "mug").stay(40)
    np.testing.assert_allclose(hand.object, start, atol=5e-4)
    assert object_upness(mug_scene, "mug", hand.qpos) > 1 - 1e-5


@pytest.mark.parametrize("opened_m", [0.0, 0.07, mug.STROKE_M])
def test_the_drawer_stays_where_it_is(mug_scene: Scene, make_hand: MakeHand, opened_m: float):
    qpos = with_drawer(mug_scene, mug.place(mug_scene, np.random.default_rng(0)), opened_m)
    hand = make_hand(mug_scene, qpos, "mug").stay(40)
    assert mug.drawer_position(mug_scene, hand.qpos) == pytest.approx(-opened_m, abs=1e-3)


def test_the_handle_is_where_it_says(mug_scene: Scene):
    for opened_m in (0.0, 0.1):
        qpos = with_drawer(mug_scene, mug_scene.home_qpos, opened_m)
        bar = data_at(mug_scene, qpos).geom("handle_bar").xpos
        np.testing.assert_allclose(mug.handle(mug_scene, qpos), bar, atol=1e-9)


def test_shut_it_hides_the_mug_without_touching_it(mug_scene: Scene, make_hand: MakeHand):
    """The cabinet is as high as the mug needs, and no part of the closed drawer is in another's way."""
    qpos = in_drawer(mug_scene)
    contacts = data_at(mug_scene, qpos).contact
    names = {mug_scene.model.geom(int(geom)).name for contact in contacts for geom in contact.geom}
    assert not names & {"cabinet_top", "cabinet_back", "drawer_back", "drawer_front"}
    hand = make_hand(mug_scene, qpos, "mug").stay(40)
    np.testing.assert_allclose(hand.object, mug.target(mug_scene, hand.qpos), atol=1e-3)
    assert mug.succeeded(mug_scene, hand.qpos, RELEASED)


def test_success_wants_all_of_it(mug_scene: Scene):
    done = in_drawer(mug_scene)
    assert mug.succeeded(mug_scene, done, RELEASED)
    assert not mug.succeeded(mug_scene, done, np.array(True))  # held
    assert mug.succeeded(mug_scene, in_drawer(mug_scene, 0.009), RELEASED)
    assert not mug.succeeded(mug_scene, in_drawer(mug_scene, 0.011), RELEASED)  # not closed
    address = mug_scene["mug"].qpos_address
    for change in ((0.2, 0, 0), (0, 0.12, 0), (0, -0.2, 0), (0, 0, 0.01), (0, 0, -0.01)):
        elsewhere = done.copy()
        elsewhere[address : address + 3] += change
        assert not mug.succeeded(mug_scene, elsewhere, RELEASED), change
    for degrees, upright in ((5.0, True), (12.0, False), (90.0, False)):
        leaning = done.copy()
        leaning[address + 3 : address + 7] = quat_from_axis_angle(np.array([np.radians(degrees), 0.0, 0.0]))
        assert bool(mug.succeeded(mug_scene, leaning, RELEASED)) is upright


def test_on_the_cabinet_is_no_success(mug_scene: Scene):
    done = in_drawer(mug_scene)
    done[mug_scene["mug"].qpos_address + 2] += 0.09
    assert not mug.succeeded(mug_scene, done, RELEASED)


def test_the_open_drawer_ends_short_of_the_region(mug_scene: Scene):
    """Its front, and the mug's handle that points to it; the drawer's handle passes above the mug."""
    data = data_at(mug_scene, with_drawer(mug_scene, mug_scene.home_qpos, mug.STROKE_M))
    front, bar = (data.geom(name).xpos for name in ("drawer_front", "handle_bar"))
    half = mug_scene.model.geom("drawer_front").size[1]
    assert front[1] - half > mug.REGION.high_m[1] + 0.06
    assert bar[2] - mug_scene.model.geom("handle_bar").size[2] > mug.REST_HEIGHT_M + mug.MUG_HEIGHT_M / 2


def test_a_mug_in_the_opened_drawer_lets_the_fingers_open(mug_scene: Scene):
    """15 cm of the drawer show: the open hand's fingers, 12 cm across, fit between its front and the cabinet."""
    qpos = with_drawer(mug_scene, mug_scene.home_qpos, mug.STROKE_M)
    y = float(mug.target(mug_scene, qpos)[1])
    data = data_at(mug_scene, qpos)
    front = data.geom("drawer_front").xpos[1] + mug_scene.model.geom("drawer_front").size[1]
    cabinet = data.geom("cabinet_top").xpos[1] - mug_scene.model.geom("cabinet_top").size[1]
    assert min(y - front, cabinet - y) > 0.06


def open_drawer(hand: Hand, scene: Scene) -> None:
    bar = mug.handle(scene, hand.qpos)
    hand.go(bar + by(0, 0, 0.12)).go(bar - by(0, 0, 0.002))
    hand.close().go(hand.goal - by(0, mug.STROKE_M, 0))
    hand.open().go(hand.goal + by(0, 0, 0.15))


def take_mug(hand: Hand) -> None:
    grip = hand.object + by(0, 0, mug.MUG_HEIGHT_M / 2 - mug.GRIP_DEPTH_M)
    hand.go(grip + by(0, 0, 0.12)).go(grip)
    hand.close().go(grip + by(0, 0, 0.16))


def put_mug_down(hand: Hand, scene: Scene) -> None:
    place = mug.target(scene, hand.qpos) + (hand.position - hand.object)
    hand.go(place + by(0, 0, 0.14)).go(place + by(0, 0, 0.003))
    hand.open().go(hand.goal + by(0, 0, 0.15))


def shut_drawer(hand: Hand, scene: Scene) -> None:
    bar = mug.handle(scene, hand.qpos)
    hand.go(bar + by(0, -0.05, 0.12)).close()  # the open hand is 12 cm across: it would come down on the bar
    hand.go(bar + by(0, -0.05, 0))
    hand.go(hand.goal + by(0, 0.19, 0)).go(hand.goal - by(0, 0.05, 0))


@pytest.mark.parametrize(("x", "y", "yaw"), [(0.05, -0.2, 0.3), (-0.14, -0.11, math.pi / 2), (0.14, -0.24, 4.0)])
def test_a_hand_plays_the_whole_task(mug_scene: Scene, make_hand: MakeHand, x: float, y: float, yaw: float):
    """Also where the mug's handle points along the fingers: it hangs below them."""
    start = np.array([x, y, mug.REST_HEIGHT_M])
    hand = make_hand(mug_scene, with_object(mug_scene, mug_scene.home_qpos, "mug", start.tolist(), yaw), "mug")
    open_drawer(hand, mug_scene)
    assert mug.drawer_position(mug_scene, hand.qpos) < mug.OPEN_M
    np.testing.assert_allclose(hand.object, start, atol=5e-4)  # nothing has touched the mug
    take_mug(hand)
    assert hand.held
    assert hand.object[2] > start[2] + 0.14
    grip = hand.object - hand.position
    hand.stay(40)
    np.testing.assert_allclose(hand.object - hand.position, grip, atol=5e-4)  # 2 s without slipping
    put_mug_down(hand, mug_scene)
    assert not hand.held
    assert mug.drawer_position(mug_scene, hand.qpos) < mug.OPEN_M
    assert not mug.succeeded(mug_scene, hand.qpos, np.array(hand.held))
    shut_drawer(hand, mug_scene)
    assert mug.succeeded(mug_scene, hand.qpos, np.array(hand.held))
