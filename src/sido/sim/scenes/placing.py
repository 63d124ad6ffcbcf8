"""Objects put by hand, as rows of MuJoCo's positions; world frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.geometry import quat_about_z
from sido.sim.scene import Scene

__all__ = ["object_position", "object_upness", "with_object"]


def with_object(
    scene: Scene,
    qpos: Float[Array, "nq"],
    name: str,
    position_m: Sequence[float] | Float[Array, "3"],
    yaw_rad: float = 0.0,
) -> Float[Array, "nq"]:
    """A copy of `qpos` in which the object stands upright at a place."""
    placed = qpos.copy()
    address = scene[name].qpos_address
    placed[address : address + 3] = position_m
    placed[address + 3 : address + 7] = quat_about_z(np.array(yaw_rad))
    return placed


def object_position(scene: Scene, name: str, qpos: Float[Array, "*batch nq"]) -> Float[Array, "*batch 3"]:
    """Where an object's origin is; metres."""
    address = scene[name].qpos_address
    return qpos[..., address : address + 3]


def object_upness(scene: Scene, name: str, qpos: Float[Array, "*batch nq"]) -> Float[Array, "*batch"]:
    """The cosine of the angle between the object's z axis and the vertical: 1 where it stands upright."""
    address = scene[name].qpos_address
    x, y = qpos[..., address + 4], qpos[..., address + 5]
    return np.asarray(1.0 - 2.0 * (x * x + y * y))
