"""When the object was grasped, from what touched what."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array

__all__ = ["MOVED_M", "grasp_step"]

MOVED_M = 0.01
"""What an object that is held moves at least, or it was only touched."""


def grasp_step(closing: Bool[Array, "T"], held: Bool[Array, "T"], object_position: Float[Array, "T 3"]) -> int | None:
    """`T_g`: the first step whose action closes the gripper for the first grasp that moves the object.

    Args:
        closing: Whether the step's action closes the gripper.
        held: Whether both pads touch the object as the step ends.
        object_position: Before the step.

    Returns:
        The step; None where nothing was grasped and moved.
    """
    seen = np.concatenate([[False], held[:-1]])  # in the hand, before the step
    edges = np.diff(np.concatenate([[False], closing, [False]]).astype(np.int8))
    for start, stop in zip(np.flatnonzero(edges == 1).tolist(), np.flatnonzero(edges == -1).tolist(), strict=True):
        way = object_position[start:stop][seen[start:stop]]
        if len(way) and np.linalg.norm(way - way[0], axis=1).max() > MOVED_M:
            return start
    return None
