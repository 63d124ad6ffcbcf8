"""The mended gripper against the real one's data sheet, and against robosuite's own."""

from __future__ import annotations

from typing import Any
from xml.etree.ElementTree import fromstring

import mujoco
import numpy as np
import pytest

from sido.errors import SettingError
from sido.sim.robosuite_scene import build_scene
from sido.sim.scene import Scene
from sido.sim.scenes.robotiq import HALF_OPEN_RAD, JAW_M, PREFIX, mend_robotiq, mount_wrist_camera

from .conftest import data_at

PAD_THICKNESS_M = 0.002


def send_fingers(scene: Scene, state: float, seconds: float = 1.6) -> mujoco.MjData:
    """With the arm held in place; `state` -1 open to 1 closed, reached at the rate of robosuite's controller."""
    model, gripper = scene.model, scene.arm.gripper
    data = data_at(scene, scene.home_qpos)
    middle, half = gripper.control_range.mean(axis=1), np.ptp(gripper.control_range, axis=1) / 2
    for step in range(round(seconds / model.opt.timestep)):
        rate_limited = np.clip(step / 25 * 0.2 * np.sign(state), -abs(state), abs(state))
        data.ctrl[gripper.actuators] = middle + half * rate_limited * gripper.directions
        data.qpos[scene.arm.joint_qpos] = scene.home_qpos[scene.arm.joint_qpos]
        data.qvel[scene.arm.joint_dofs] = 0.0
        mujoco.mj_step(model, data)
    mujoco.mj_forward(model, data)
    return data


def pads(scene: Scene, data: mujoco.MjData) -> tuple[Any, Any, Any]:
    """From the one pad to the other, and both pads' directions; in the frame of the grip site."""
    (left,), (right,) = scene.arm.gripper.left_pad, scene.arm.gripper.right_pad
    site = data.site_xmat[scene.arm.grip_site].reshape(3, 3)
    apart = site.T @ (data.geom_xpos[right] - data.geom_xpos[left])
    normals = [site.T @ data.geom_xmat[pad].reshape(3, 3)[:, 1] for pad in (left, right)]
    return apart, *normals


def opening(scene: Scene, data: mujoco.MjData) -> float:
    return float(np.linalg.norm(pads(scene, data)[0])) - PAD_THICKNESS_M


def test_it_opens_to_85_mm_and_closes(gantry_scene: Scene):
    assert opening(gantry_scene, send_fingers(gantry_scene, -1.0)) == pytest.approx(JAW_M, abs=1e-3)
    assert opening(gantry_scene, send_fingers(gantry_scene, 1.0)) == pytest.approx(0.0, abs=2e-3)


@pytest.mark.parametrize("state", [-1.0, -0.3, 0.4, 0.9])
def test_its_pads_stay_parallel_and_meet_in_the_middle(gantry_scene: Scene, state: float):
    data = send_fingers(gantry_scene, state)
    apart, left, right = pads(gantry_scene, data)
    assert abs(apart[0]) == pytest.approx(np.linalg.norm(apart), abs=1e-4)  # along the site's x, nothing else
    for normal in (left, right):
        assert abs(normal[0]) == pytest.approx(1.0, abs=1e-4)
    (pad, *_), (other, *_) = gantry_scene.arm.gripper.left_pad, gantry_scene.arm.gripper.right_pad
    middle = (data.geom_xpos[pad] + data.geom_xpos[other]) / 2 - data.site_xpos[gantry_scene.arm.grip_site]
    site = data.site_xmat[gantry_scene.arm.grip_site].reshape(3, 3)
    assert np.linalg.norm((site.T @ middle)[:2]) < 5e-4
    assert abs((site.T @ middle)[2]) < 0.016  # the pads, 33 mm long, reach past the grip site


def test_it_does_not_tremble(gantry_scene: Scene):
    for state in (-1.0, 0.0, 1.0):
        data = send_fingers(gantry_scene, state)
        fingers = gantry_scene.model.jnt_dofadr[
            [gantry_scene.model.joint(f"{PREFIX}{side}").id for side in ("finger_joint", "right_outer_knuckle_joint")]
        ]
        assert np.abs(data.qvel[fingers]).max() < 1e-2


def test_half_open_is_where_a_reset_sends_it(gantry_scene: Scene):
    fingers = gantry_scene.arm.gripper.joint_qpos
    np.testing.assert_array_equal(gantry_scene.home_qpos[fingers], HALF_OPEN_RAD)
    data = send_fingers(gantry_scene, 0.0, seconds=0.5)
    np.testing.assert_allclose(data.qpos[fingers], HALF_OPEN_RAD, atol=5e-3)


def test_robosuites_own_needs_mending():
    """Closing stops far short, and opening goes too far. Once this fails, `mend_robotiq` can go."""
    scene = build_scene("Stack", gripper="Robotiq85Gripper")
    assert opening(scene, send_fingers(scene, -1.0)) > 0.11
    assert opening(scene, send_fingers(scene, 1.0, seconds=1.0)) > 0.05


def test_another_gripper_is_refused():
    with pytest.raises(SettingError, match="gripper0_right_finger_joint: this is not robosuite's Robotiq"):
        mend_robotiq(fromstring("<mujoco><worldbody/></mujoco>"))
    with pytest.raises(SettingError, match="robot0_eye_in_hand"):
        mount_wrist_camera(fromstring("<mujoco><worldbody/></mujoco>"))


def test_the_wrist_camera_sees_between_the_fingertips(gantry_scene: Scene):
    """The grip site is in its picture, and the palm is not before it."""
    data = data_at(gantry_scene, gantry_scene.home_qpos)
    camera = gantry_scene.model.camera("robot0_eye_in_hand").id
    eye, axes = data.cam_xpos[camera], data.cam_xmat[camera].reshape(3, 3)
    ray = data.site_xpos[gantry_scene.arm.grip_site] - eye
    right, up, back = axes.T @ ray
    half = np.tan(np.radians(gantry_scene.model.cam_fovy[camera]) / 2)
    assert back < 0
    assert abs(right / back) < 0.05
    assert abs(up / back) < 0.9 * half
    hit = np.zeros(1, dtype=np.int32)
    seen = np.array([0, 1, 0, 0, 0, 0], dtype=np.uint8)
    length = float(np.linalg.norm(ray))
    nearest = mujoco.mj_ray(gantry_scene.model, data, eye, ray / length, seen, 1, -1, hit)
    assert nearest < 0 or nearest > length
