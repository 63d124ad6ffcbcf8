"""What is seen to move the object: a stage, a tree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import mujoco
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError

__all__ = ["Carrier", "carrier", "carry"]


@final
@dataclass(frozen=True)
class Carrier:
    """A body without dynamics that nothing touches: a picture of what moves the driven object.

    The physics does not know of it, so it may be moved at any time; where it is never changes an episode's course.
    """

    mocap: int
    """Its row in `mocap_pos`."""
    rest_m: tuple[float, float, float]
    """Where the model has it: under an object at x = y = 0, world frame."""
    follows: tuple[float, float]
    """1 where it follows the object along x, along y; 0 where it stays."""


def carrier(model: mujoco.MjModel, body: str, *, follows: tuple[float, float]) -> Carrier:
    """The carrier that a body is.

    Raises:
        SettingError: there is no such body, or it is not one that is placed by hand (`mocap`).
    """
    number = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, body)
    if number < 0 or model.body_mocapid[number] < 0:
        raise SettingError("the model has no such mocap body", found=repr(body))
    x, y, z = model.body_pos[number].tolist()
    return Carrier(int(model.body_mocapid[number]), (x, y, z), follows)


def carry(carriers: Sequence[Carrier], model: mujoco.MjModel, data: mujoco.MjData, object_m: Float[Array, "3"]) -> None:
    """Put the carriers under the object that they carry, for a picture of `data`.

    Args:
        carriers: A scene's.
        model: Its model.
        data: Written to; of the rest, only what follows from the positions (`mj_kinematics`).
        object_m: Where the object is while it is driven, and where it was taken from afterwards; world frame.
    """
    for each in carriers:
        x, y, z = each.rest_m
        data.mocap_pos[each.mocap] = (x + each.follows[0] * object_m[0], y + each.follows[1] * object_m[1], z)
    mujoco.mj_kinematics(model, data)
