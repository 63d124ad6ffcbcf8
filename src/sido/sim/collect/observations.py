"""Observations as robosuite names and measures them, of states that were recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import mujoco
import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.geometry import Pose, xyzw_from_wxyz
from sido.sim.collect.annotation import annotation_of
from sido.sim.tasks import Task

__all__ = ["Observations"]

_HAND = "robot0_right_hand"


@final
class Observations:
    """Of one task; world frame, quaternions xyzw, as robosuite has them.

    Poses of bodies are those that belong to the recorded positions. (robosuite's own, after a step, are 2 ms older.)
    """

    def __init__(self, task: Task) -> None:
        self._scene = scene = task.scene
        self._annotation = annotation = annotation_of(task)
        self._data = mujoco.MjData(scene.model)
        names = {**annotation.bodies, **annotation.observed, _HAND: _HAND}
        self._bodies = {name: _id(scene.model, mujoco.mjtObj.mjOBJ_BODY, body) for name, body in names.items()}
        joints = [_id(scene.model, mujoco.mjtObj.mjOBJ_JOINT, joint) for joint in annotation.joints.values()]
        addresses = scene.model.jnt_qposadr[joints].tolist()
        self._joints: dict[str, int] = dict(zip(annotation.joints, addresses, strict=True))
        fingers = scene.arm.gripper.joint_qpos
        of_address = {int(address): joint for joint, address in enumerate(scene.model.jnt_qposadr)}
        self._finger_dofs = scene.model.jnt_dofadr[[of_address[int(address)] for address in fingers]]

    def of(
        self, qpos: Float[Array, "T nq"], qvel: Float[Array, "T nv"], hand: Pose
    ) -> tuple[dict[str, Array], dict[str, Float[Array, "T 4 4"]]]:
        """What is seen in a row of states.

        Args:
            qpos: MuJoCo's positions.
            qvel: Its velocities.
            hand: Of the grip site; world frame.

        Returns:
            The observations by robosuite's names, and the objects' poses by MimicGen's.
        """
        arm, poses = self._scene.arm, self._poses(qpos)
        joints, fingers = qpos[:, arm.joint_qpos], arm.gripper.joint_qpos
        robot = {
            "joint_pos": joints,
            "joint_pos_cos": np.cos(joints),
            "joint_pos_sin": np.sin(joints),
            "joint_vel": qvel[:, arm.joint_dofs],
            "eef_pos": hand.position,
            "eef_quat": xyzw_from_wxyz(poses[_HAND].quat_wxyz),
            "eef_quat_site": xyzw_from_wxyz(hand.quat_wxyz),
            "gripper_qpos": qpos[:, fingers],
            "gripper_qvel": qvel[:, self._finger_dofs],
        }
        seen = {f"robot0_{name}": values for name, values in robot.items()}
        # robosuite's "eef": the grip site's place with the hand's attitude.
        eef = Pose(hand.position, poses[_HAND].quat_wxyz)
        parts = [self._field(name, poses, eef, qpos) for name, _size in self._annotation.fields]
        seen["object"] = np.concatenate(parts, axis=1)
        return seen, {name: poses[name].matrix for name in self._annotation.bodies}

    def _poses(self, qpos: Float[Array, "T nq"]) -> dict[str, Pose]:
        bodies = list(self._bodies.values())
        position, quat = np.empty((len(qpos), len(bodies), 3)), np.empty((len(qpos), len(bodies), 4))
        for t, row in enumerate(qpos):
            self._data.qpos[:] = row
            mujoco.mj_kinematics(self._scene.model, self._data)
            position[t], quat[t] = self._data.xpos[bodies], self._data.xquat[bodies]
        return {name: Pose(position[:, k], quat[:, k]) for k, name in enumerate(self._bodies)}

    def _field(
        self, name: str, poses: Mapping[str, Pose], eef: Pose, qpos: Float[Array, "T nq"]
    ) -> Float[Array, "T n"]:
        """One field of the `object` observation, by its name."""
        if name in self._joints:
            return qpos[:, [self._joints[name]]]
        if "_to_robot0_eef_" in name:
            thing, part = name.split("_to_robot0_eef_")
            pose = eef.inverse() @ poses[thing]
        elif "_to_" in name:
            start, end = name.split("_to_")
            return poses[end].position - (eef if start == "gripper" else poses[start]).position
        else:
            thing, part = name.rsplit("_", 1)
            pose = poses[thing]
        return pose.position if part == "pos" else xyzw_from_wxyz(pose.quat_wxyz)


def _id(model: mujoco.MjModel, kind: mujoco.mjtObj, name: str) -> int:
    number = mujoco.mj_name2id(model, kind, name)
    if number < 0:
        raise SettingError("the model has no such thing", found=repr(name))
    return number
