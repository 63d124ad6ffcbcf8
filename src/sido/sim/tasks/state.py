"""What a task judges, and an expert may know: all environments at one moment, as they truly are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.geometry import Pose
from sido.sim.scene import Scene

__all__ = ["TaskState", "at_rest_on_table"]

_RESTING_MPS, _RESTING_RADPS = 0.05, 0.5


@final
@dataclass(frozen=True, eq=False)
class TaskState:
    """`N` environments of a scene, world frame: positions and contacts are of the same moment but for one substep.

    MuJoCo finds contacts at the beginning of a substep, so they are those of 2 ms before (as robosuite's are). At a
    reset there are none yet.
    """

    scene: Scene
    qpos: Float[Array, "N nq"]
    qvel: Float[Array, "N nv"]
    base_eef_position: Float[Array, "N 3"]
    """Of the grip site; the robot's base frame."""
    base_eef_quat_wxyz: Float[Array, "N 4"]
    contact_names: tuple[str, ...]
    contacts: Bool[Array, "N K"]
    """Which of the watched contacts there are."""

    def touching(self, name: str) -> Bool[Array, "N"]:
        """Where there is that contact.

        Raises:
            SettingError: it is not watched.
        """
        if name not in self.contact_names:
            raise SettingError("no such contact", found=repr(name), expected=", ".join(self.contact_names))
        return self.contacts[:, self.contact_names.index(name)]

    @property
    def held(self) -> Bool[Array, "N"]:
        """Where both finger pads touch the moving object: robosuite's grasp."""
        return self.touching("left_pad") & self.touching("right_pad")

    @property
    def eef_position(self) -> Float[Array, "N 3"]:
        """Of the grip site; world frame."""
        return self.scene.arm.base_pose.apply(self.base_eef_position)

    def pose(self, name: str) -> Pose:
        """Of a free object."""
        address = self.scene[name].qpos_address
        return Pose(self.qpos[:, address : address + 3], self.qpos[:, address + 3 : address + 7])

    def position(self, name: str) -> Float[Array, "N 3"]:
        """Of a free object; metres."""
        address = self.scene[name].qpos_address
        return self.qpos[:, address : address + 3]

    def velocity(self, name: str) -> Float[Array, "N 3"]:
        """Of a free object's origin; m/s."""
        address = self.scene[name].dof_address
        return self.qvel[:, address : address + 3]

    def angular_velocity(self, name: str) -> Float[Array, "N 3"]:
        """Of a free object, in its own frame; rad/s."""
        address = self.scene[name].dof_address
        return self.qvel[:, address + 3 : address + 6]


def at_rest_on_table(state: TaskState, name: str) -> Bool[Array, "N"]:
    """Where the moving object, of that name, lies on the table and neither slides fast nor tumbles."""
    slow = np.linalg.norm(state.velocity(name), axis=1) < _RESTING_MPS
    steady = np.linalg.norm(state.angular_velocity(name), axis=1) < _RESTING_RADPS
    return state.touching("table") & slow & steady
