"""Objects that can move freely in a MuJoCo model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import mujoco
import numpy as np

from sido.errors import SettingError

__all__ = ["FreeObject", "free_joint", "free_object"]


@final
@dataclass(frozen=True)
class FreeObject:
    """A body on a free joint."""

    name: str
    body: int
    joint: int
    qpos_address: int
    """Of its position, metres, world; its quaternion wxyz follows."""
    dof_address: int
    geoms: tuple[int, ...]
    """Those that collide."""


def free_joint(model: mujoco.MjModel, name: str) -> int:
    """The id of a free joint.

    Raises:
        SettingError: there is no joint of that name, or it is not free.
    """
    free = np.flatnonzero(model.jnt_type == mujoco.mjtJoint.mjJNT_FREE)
    names = {model.joint(int(joint)).name: int(joint) for joint in free}
    if name not in names:
        raise SettingError("the model has no such free joint", found=repr(name), expected=", ".join(names) or "none")
    return names[name]


def free_object(model: mujoco.MjModel, name: str, joint_name: str) -> FreeObject:
    """The object that hangs on a free joint.

    Raises:
        SettingError: there is no such joint, or it is not free.
    """
    joint = free_joint(model, joint_name)
    body = int(model.jnt_bodyid[joint])
    bodies = np.flatnonzero(model.body_rootid == body)
    collides = (model.geom_contype != 0) | (model.geom_conaffinity != 0)
    geoms = np.flatnonzero(np.isin(model.geom_bodyid, bodies) & collides)
    return FreeObject(
        name=name,
        body=body,
        joint=joint,
        qpos_address=int(model.jnt_qposadr[joint]),
        dof_address=int(model.jnt_dofadr[joint]),
        geoms=tuple(int(geom) for geom in geoms),
    )
