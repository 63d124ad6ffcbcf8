"""Places of the world, as the robot sees them: motions and workspaces are told in its base frame."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.motion import Region
from sido.sim.arm import ArmModel
from sido.sim.tasks.workspace import Workspace

__all__ = ["region_in_base", "workspace_above"]

_BELOW_M = 0.02
"""Nothing that lies on a surface has its centre so far below it."""


def region_in_base(arm: ArmModel, region: Region) -> Region:
    """A region of the world.

    Raises:
        SettingError: the robot is turned, so that the region would not be upright in its frame.
    """
    low, high = _corners(arm, np.array([*region.low_m, 0.0]), np.array([*region.high_m, 0.0]))
    (x, y, _), (width, depth, _) = ((low + high) / 2).tolist(), (high - low).tolist()
    return Region((x, y), (width, depth))


def workspace_above(
    arm: ArmModel,
    surface_m: tuple[float, float, float],
    size_m: tuple[float, float] = (0.8, 0.8),
    *,
    height_m: float = 0.8,
) -> Workspace:
    """All over a table.

    Args:
        arm: The robot.
        surface_m: The middle of the table's upper side; world frame.
        size_m: Of the table.
        height_m: How high above it the robot takes things.
    """
    half = np.array([*size_m, 0.0]) / 2
    low, high = _corners(arm, surface_m - half - (0.0, 0.0, _BELOW_M), surface_m + half + (0.0, 0.0, height_m))
    (x0, y0, z0), (x1, y1, z1) = low.tolist(), high.tolist()
    return Workspace((x0, y0, z0), (x1, y1, z1))


def _corners(
    arm: ArmModel, low_m: Float[Array, "3"], high_m: Float[Array, "3"]
) -> tuple[Float[Array, "3"], Float[Array, "3"]]:
    if np.abs(arm.base_pose.matrix[:3, :3] - np.eye(3)).max() > 1e-9:
        raise SettingError(
            "the robot's base is turned",
            field="arm.world_from_base",
            found=arm.base_pose.quat_wxyz.tolist(),
            expected="axes parallel to the world's, as motions run along them",
        )
    low, high = arm.base_pose.inverse().apply(np.stack([low_m, high_m]))
    return low, high
