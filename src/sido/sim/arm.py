"""The robot in a MuJoCo model, by ids and addresses."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int

from sido.arrays import Array
from sido.geometry import Pose, Transform

__all__ = ["ArmModel", "GripperModel"]


@final
@dataclass(frozen=True, eq=False)
class GripperModel:
    """A gripper whose fingers follow position commands that move at a limited rate, as robosuite's do.

    Each finger actuator has a state `s` in [-1, 1], 0 after a reset. Once per control step, before its physics,
    `s <- clip(s + speed * direction * sign(command), -1, 1)`; the actuator is sent to the middle of its control range
    plus `s` times half of it. So the command's size does not matter, and 0 holds the fingers where they were sent.
    """

    joint_qpos: Int[Array, "G"]
    """Where the fingers' joints stand in `qpos`."""
    actuators: Int[Array, "F"]
    control_range: Float[Array, "F 2"]
    directions: Float[Array, "F"]
    """+1 or -1 for each actuator: where a closing command takes it."""
    speed: float
    """Share of half the range per control step."""
    left_pad: tuple[int, ...]
    """Geoms; the fingers include the pads."""
    right_pad: tuple[int, ...]
    left_finger: tuple[int, ...]
    right_finger: tuple[int, ...]


@final
@dataclass(frozen=True, eq=False)
class ArmModel:
    """A torque-controlled arm on a fixed base, and its gripper."""

    grip_site: int
    """The site that is sent to goals, between the fingertips."""
    world_from_base: Transform
    joint_qpos: Int[Array, "J"]
    joint_dofs: Int[Array, "J"]
    actuators: Int[Array, "J"]
    torque_limits_nm: Float[Array, "J 2"]
    gripper: GripperModel

    @property
    def base_pose(self) -> Pose:
        """Where the base stands in the world."""
        return self.world_from_base.pose

    @property
    def joints(self) -> int:
        return int(np.size(self.joint_qpos))
