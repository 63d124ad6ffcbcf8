"""Where a driven object goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.geometry import Pose
from sido.sim.stepper.native import floats, member, native
from sido.sim.stepper.tables import Course, Fleet, Plant

__all__ = ["Drive", "driven_course", "place_object", "turn_object"]


@final
@dataclass(frozen=True, eq=False)
class Drive:
    """One control period of the driven object's path, in every environment; metres, base frame.

    Substep `k` of `S` begins where substep `k - 1` ended (the first: where the object is), and takes the object to
    `position[k]` at `velocity[k]`. It is carried, not pushed: no force changes its way or its attitude, while the
    velocity that contacts feel is the true one.
    """

    position: Float[Array, "N S 3"]
    velocity: Float[Array, "N S 3"]
    """m/s."""
    quat_wxyz: Float[Array, "N 4"]
    """The object's attitude, held through the period."""
    active: Bool[Array, "N"]
    """Where it is driven; elsewhere it is free, and the other rows do not matter."""

    def check(self, envs: int, substeps: int) -> None:
        """Refuse what cannot be driven.

        Raises:
            SettingError: a wrong shape, or numbers of an active environment that are no path.
        """
        for name, shape in (
            ("position", (envs, substeps, 3)),
            ("velocity", (envs, substeps, 3)),
            ("quat_wxyz", (envs, 4)),
            ("active", (envs,)),
        ):
            found = np.shape(getattr(self, name))
            if found != shape:
                raise SettingError("wrong shape", field=f"drive.{name}", found=list(found), expected=list(shape))
        for name in ("position", "velocity", "quat_wxyz"):
            values = getattr(self, name)
            broken = ~np.isfinite(values).reshape(envs, -1).all(axis=1) & self.active
            if broken.any():
                i = int(np.argmax(broken))
                raise SettingError(
                    f"environment {i} would be driven by numbers that are not finite", field=f"drive.{name}"
                )
        length = np.linalg.norm(self.quat_wxyz, axis=-1)
        off = (np.abs(length - 1) > 1e-6) & self.active
        if off.any():
            i = int(np.argmax(off))
            raise SettingError(
                f"environment {i} would be given an attitude that is no rotation",
                field="drive.quat_wxyz",
                found=self.quat_wxyz[i].tolist(),
                expected="unit quaternions",
            )


def driven_course(course: Course, drive: Drive, base: Pose) -> Course:
    """A course along a drive, which is given in the base frame."""
    turn = Pose((0.0, 0.0, 0.0), base.quat_wxyz)
    attitudes = np.where(drive.active[:, None], drive.quat_wxyz, (1.0, 0.0, 0.0, 0.0))
    return course._replace(
        position=np.array(base.apply(drive.position), order="C"),
        velocity=np.array(turn.apply(drive.velocity), order="C"),
        quat_wxyz=np.array((turn @ Pose(np.zeros(3), attitudes)).quat_wxyz, order="C"),
    )


@native
def turn_object(i: int, plant: Plant, course: Course, fleet: Fleet, k: int) -> None:
    """Give the driven object its attitude and the velocity of substep `k`: no force has turned or slowed it."""
    qpos = floats(member(fleet.data[i], plant.offsets.qpos), plant.nq)
    qvel = floats(member(fleet.data[i], plant.offsets.qvel), plant.nv)
    for axis in range(4):
        qpos[course.qpos_address + 3 + axis] = course.quat_wxyz[i, axis]
    for axis in range(3):
        qvel[course.dof_address + axis] = course.velocity[i, k, axis]
        qvel[course.dof_address + 3 + axis] = 0.0


@native
def place_object(i: int, plant: Plant, course: Course, fleet: Fleet, k: int) -> None:
    """Put the driven object where substep `k` ends."""
    qpos = floats(member(fleet.data[i], plant.offsets.qpos), plant.nq)
    for axis in range(3):
        qpos[course.qpos_address + axis] = course.position[i, k, axis]
    turn_object(i, plant, course, fleet, k)
