"""robosuite's model of the Robotiq 2F-85, mended."""

from __future__ import annotations

import math
from xml.etree.ElementTree import Element, SubElement

import numpy as np

from sido.errors import SettingError
from sido.geometry import quat_from_axis_angle, quat_multiply
from sido.sim.mjcf import leave_apart, numbers

__all__ = ["HALF_OPEN_RAD", "JAW_M", "PREFIX", "mend_robotiq", "mount_wrist_camera"]

PREFIX = "gripper0_right_"
JAW_M = 0.085
"""Between the pads of the open gripper."""
HALF_OPEN_RAD = (0.4, -0.4, 0.4, 0.4, -0.4, 0.4)
"""The joints in the model's order, finger by finger, where robosuite's controller sends them at a reset."""
GRIP_TORQUE_NM = 3.0
"""Of each finger's motor: some 30 N at the pads, the lower end of what the real gripper can do (20 to 235 N)."""
JOINT_DAMPING = 0.1
"""N m s/rad; lets the fingers travel their 0.8 rad in about half a second, as the rate-limited command asks."""
JOINT_ARMATURE = 2e-3
"""kg m^2; the links weigh so little that the couplings would chatter without."""
PAD_FRICTION = (1.5, 0.02, 1e-4)
"""Rubber."""

WRIST_CAMERA = "robot0_eye_in_hand"
WRIST_M, WRIST_TILT_RAD = (0.085, 0.0, 0.0), math.radians(12)
"""In the frame of the flange."""

_SIDES = {"left": "finger_joint", "right": "right_outer_knuckle_joint"}
"""The driven joint of each finger."""


def mend_robotiq(root: Element) -> None:
    """Make its fingers move as those of the real one: together, with pads that stay parallel.

    robosuite couples each finger's three joints by a soft tendon, and lets the links of one finger collide. In
    MuJoCo 3.9 they jam: closing stops at 6 cm, and opening goes to 12 cm instead of 8.5. The linkage is a
    parallelogram, so with `q` the angle of the driven joint, the inner knuckle turns by `q` and the fingertip by `-q`;
    one motor moves both fingers. These are joint equalities here, and links pass through each other.

    Args:
        root: A MuJoCo model with the gripper in robosuite's names; changed in place.
    """
    tendons = root.find("tendon")
    if tendons is not None:
        for tendon in [tendon for tendon in tendons if tendon.get("name", "").startswith(PREFIX)]:
            tendons.remove(tendon)
    joints = _named(root, "joint")
    equalities = root.find("equality")
    if equalities is None:
        equalities = SubElement(root, "equality")
    for side, driven in _SIDES.items():
        _couple(equalities, f"{side}_inner_knuckle_joint", driven, 1.0)
        _couple(equalities, f"{side}_inner_finger_joint", driven, -1.0)
        for joint in (driven, f"{side}_inner_knuckle_joint", f"{side}_inner_finger_joint"):
            _part(joints, joint).set("damping", f"{JOINT_DAMPING:g}")
            _part(joints, joint).set("armature", f"{JOINT_ARMATURE:g}")
        _pass_through(root, side)
    _couple(equalities, _SIDES["right"], _SIDES["left"], 1.0)
    for actuator in root.iterfind("actuator/position"):
        if actuator.get("name") in (f"{PREFIX}finger_1", f"{PREFIX}finger_2"):
            actuator.set("forcerange", numbers((-GRIP_TORQUE_NM, GRIP_TORQUE_NM)))
            actuator.set("forcelimited", "true")
    geoms = _named(root, "geom")
    for side in _SIDES:
        for part in ("fingerpad", "fingertip"):
            pad = _part(geoms, f"{side}_{part}_collision")
            pad.set("friction", numbers(PAD_FRICTION))
            pad.set("condim", "4")


def mount_wrist_camera(root: Element) -> None:
    """Move the wrist's camera out to where it sees between the fingertips.

    robosuite's stands 5 cm beside the flange and looks along the hand; the Robotiq's palm, thicker than the Panda's,
    would hide whatever is grasped. Here it stands 8.5 cm beside it, and tilts by 12 degrees towards the fingertips.

    Args:
        root: A MuJoCo model with one Panda; changed in place.
    """
    cameras = {camera.get("name"): camera for camera in root.iter("camera")}
    if WRIST_CAMERA not in cameras:
        raise SettingError("the model has no such camera", found=WRIST_CAMERA)
    camera = cameras[WRIST_CAMERA]
    along = np.array([float(number) for number in camera.get("quat", "1 0 0 0").split()])
    tilt = quat_from_axis_angle(np.array([-WRIST_TILT_RAD, 0.0, 0.0]))
    camera.set("pos", numbers(WRIST_M))
    camera.set("quat", numbers(quat_multiply(along, tilt).tolist()))


def _couple(equalities: Element, follower: str, leader: str, ratio: float) -> None:
    """`follower = ratio * leader`."""
    SubElement(
        equalities,
        "joint",
        joint1=f"{PREFIX}{follower}",
        joint2=f"{PREFIX}{leader}",
        polycoef=numbers((0.0, ratio, 0.0, 0.0, 0.0)),
        solref="0.005 1",
    )


def _pass_through(root: Element, side: str) -> None:
    links = [f"{PREFIX}{side}_{link}" for link in ("outer_knuckle", "inner_finger", "inner_knuckle")]
    for i, link in enumerate(links):
        leave_apart(root, f"{PREFIX}robotiq_85_adapter_link", link)
        for other in links[i + 1 :]:
            leave_apart(root, link, other)


def _named(root: Element, tag: str) -> dict[str, Element]:
    return {element.get("name", ""): element for element in root.iter(tag)}


def _part(parts: dict[str, Element], name: str) -> Element:
    if PREFIX + name not in parts:
        raise SettingError("this is not robosuite's Robotiq 2F-85", field=PREFIX + name, expected="a part of that name")
    return parts[PREFIX + name]
