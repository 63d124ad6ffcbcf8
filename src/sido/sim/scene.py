"""A compiled MuJoCo model, and what is what in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import mujoco
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.sim.arm import ArmModel
from sido.sim.free_object import FreeObject, free_object
from sido.sim.physics import Physics
from sido.sim.stepper import ContactPair

__all__ = ["FreeObject", "Scene", "free_object"]


@final
@dataclass(frozen=True, eq=False)
class Scene:
    """What a task is played with. One scene serves any number of environments: nothing in it changes when stepped."""

    name: str
    model: mujoco.MjModel
    """All there is: what pictures are taken of. Ids of geoms are this model's, everywhere."""
    physics: Physics
    """What of it is stepped."""
    arm: ArmModel
    home_qpos: Float[Array, "Q"]
    """The whole model with the arm in its rest posture, without noise; the objects anywhere."""
    objects: dict[str, FreeObject]
    table: tuple[int, ...]
    """Geoms that objects lie on."""
    mjcf: str = ""
    """What the model was compiled from; meshes are named by this machine's paths."""

    def __getitem__(self, name: str) -> FreeObject:
        """The object of that name.

        Raises:
            SettingError: there is none.
        """
        if name not in self.objects:
            raise SettingError(f"{self.name} has no such object", found=repr(name), expected=", ".join(self.objects))
        return self.objects[name]

    def grasp_contacts(self, name: str) -> tuple[ContactPair, ContactPair, ContactPair]:
        """Contacts of an object with the `left_pad`, the `right_pad` and the `table`."""
        geoms, gripper = self[name].geoms, self.arm.gripper
        return (
            ContactPair("left_pad", gripper.left_pad, geoms),
            ContactPair("right_pad", gripper.right_pad, geoms),
            ContactPair("table", self.table, geoms),
        )
