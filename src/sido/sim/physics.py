"""The part of a model that moves things, apart from what is only seen."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import mujoco
import numpy as np
from jaxtyping import Int

from sido.arrays import Array
from sido.errors import SettingError

__all__ = ["Physics", "physics_of"]

_MASS = ("body_mass", "body_inertia", "body_ipos", "body_iquat")


@final
@dataclass(frozen=True, eq=False)
class Physics:
    """A scene's model without what is only seen: what a stepper steps.

    In every substep MuJoCo places each shape, and clears a byte for each node of each mesh's tree of boxes: for the
    363,000 of robosuite's Stack, that took a fifth of a step. Bodies, joints, sites and actuators have the numbers that
    they have in the whole model, and move alike to the last bit; shapes have other ones, see `geoms`.
    """

    model: mujoco.MjModel
    geoms: Int[Array, "P"]
    """Which geom of the whole model each of its geoms is."""
    whole_geoms: int
    """How many the whole model has."""

    @classmethod
    def of(cls, model: mujoco.MjModel) -> Physics:
        """All of a model, what is only seen included."""
        return cls(model, np.arange(model.ngeom), model.ngeom)


def physics_of(mjcf: str, whole: mujoco.MjModel) -> Physics:
    """What of a model collides or moves.

    Args:
        mjcf: What the model was compiled from.
        whole: The model; what it has switched off stays so.

    Raises:
        SettingError: a shape that is only seen gives a body its mass.
    """
    spec = mujoco.MjSpec.from_string(mjcf)
    for geom in list(spec.geoms):
        if geom.contype == 0 and geom.conaffinity == 0:
            spec.delete(geom)
    needed = {geom.meshname for geom in spec.geoms}
    for mesh in list(spec.meshes):
        if mesh.name not in needed:
            spec.delete(mesh)
    model = spec.compile()
    model.opt.disableflags = whole.opt.disableflags
    if not all(np.array_equal(getattr(model, name), getattr(whole, name)) for name in _MASS):
        raise SettingError("a shape that does not collide has a mass", fix="give it mass='0', or its body an inertial")
    collides = (whole.geom_contype != 0) | (whole.geom_conaffinity != 0)
    return Physics(model, np.flatnonzero(collides), whole.ngeom)
