"""A picture put together of what stands still and what moves is the picture of all of it."""

from __future__ import annotations

import dataclasses

import mujoco
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.sim.cameras import FAST, PRETTY, Cameras, Quality
from sido.sim.cameras.backdrop import Backdrop
from sido.sim.tasks import Stack
from sim.small_scene import XML, small_scene, state_of

NAMES = ("front", "above")
PLACES = ((0.0, 0.0, 0.4), (0.2, -0.15, 0.0), (-0.79, 0.1, 0.5), (-0.9, 0.1, 0.5), (0.0, 0.0, -0.2), (9.0, 0.0, 0.0))
"""Before all, sunk into the mat, in the wall, behind it, below the mat, out of sight."""
BALL = 'rgba="1 1 0 1" group="1"'
LAMP = '<light pos="0 0 1" dir="0 0 -1"/>'


def backdrops(cameras: Cameras) -> list[bool]:
    return [view._backdrop is not None for view in cameras._views.values()]


def pictures(xml: str, *, whole: bool) -> tuple[list[np.ndarray], list[bool]]:
    """Of the ball in all places, by each camera; and which of them has a backdrop."""
    scene = small_scene(xml)
    with pytest.MonkeyPatch.context() as patch:
        if whole:
            patch.setattr(Quality, "draws_all", property(lambda _: True))
        with Cameras(scene, NAMES, size=(60, 80)) as cameras:
            found = [cameras.render(state_of(scene, np.array([*place, 1.0, 0.0, 0.0, 0.0]))) for place in PLACES]
            return [picture[name] for picture in found for name in NAMES], backdrops(cameras)


@pytest.mark.parametrize(
    ("xml", "expected"),
    [
        (XML, True),
        (XML.replace("<worldbody>", f"<worldbody>{LAMP}"), True),
        (XML.replace(BALL, BALL.replace("1 1 0 1", "1 1 0 0.4")), True),  # drawn whole where it is seen
        (XML.replace('<freejoint name="ball_joint"/>', f'<freejoint name="ball_joint"/>{LAMP}'), False),
        (XML.replace("<worldbody>", '<worldbody><light mode="trackcom"/>'), False),
        (XML.replace('rgba="0.2 0.3 0.4 1"', 'rgba="0.2 0.3 0.4 0.5"'), False),
        (XML.replace("<worldbody>", '<worldbody><site size="0.1" pos="0 0.3 0.3"/>'), False),
    ],
    ids=["plain", "lamp", "glass ball", "lamp on the ball", "lamp that follows", "glass wall", "marker"],
)
def test_it_changes_no_pixel(xml: str, expected: bool):
    quick, uses = pictures(xml, whole=False)
    slow, none = pictures(xml, whole=True)
    assert (uses, none) == ([expected] * 2, [False] * 2)
    for ours, theirs in zip(quick, slow, strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert len({image.tobytes() for image in quick}) >= len(PLACES), "the ball is seen, here and there"


def test_what_hands_move_is_not_in_it():
    xml = XML.replace("<worldbody>", '<worldbody><body name="stage" mocap="true"><geom size="0.1" group="1"/></body>')
    scene = small_scene(xml)
    with Cameras(scene, ["front"], size=(60, 80)) as cameras:
        data = state_of(scene)
        before = cameras.render(data)["front"]
        data.mocap_pos[0] = (0.0, 0.3, 0.5)
        mujoco.mj_kinematics(scene.model, data)
        assert backdrops(cameras) == [True]
        assert (cameras.render(data)["front"] != before).any()


def test_a_caption_stands_before_it():
    scene = small_scene()
    with Cameras(scene, ["front"], size=(96, 96)) as cameras:
        plain, told = (cameras.render(state_of(scene), caption=caption)["front"] for caption in ("", "seed 3"))
    changed = (plain != told).any(axis=2)
    assert changed.sum() > 10
    assert not changed[:48].any()


def test_which_cameras_have_one(stack: Stack):
    names = ("agentview", "robot0_eye_in_hand", "spectator")
    with Cameras(stack.scene, names, size=(16, 16)) as cameras:
        assert backdrops(cameras) == [True, False, True], "the wrist's never stands still"
    for quality in (PRETTY, dataclasses.replace(FAST, samples=4)):
        with Cameras(stack.scene, ["agentview"], size=(16, 16), quality=quality) as cameras:
            assert backdrops(cameras) == [False], "shadows and smooth edges are of both"


@given(st.integers(0, 2**32 - 1))
def test_the_nearer_one_is_seen(seed: int):
    rng = np.random.default_rng(seed)
    colours = rng.integers(0, 256, (2, 5, 4, 3), dtype=np.uint8)
    nearness = rng.integers(0, 3, (2, 5, 4)).astype(np.float32)
    none = np.zeros(2, dtype=np.bool_)
    picture = Backdrop(none, none, colours[0], nearness[0]).behind(colours[1], nearness[1])
    np.testing.assert_array_equal(picture, np.where((nearness[1] > nearness[0])[..., None], colours[1], colours[0]))
