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
    step = 0
    while step < len(closing):
        if not closing[step]:
            step += 1
            continue
        opened = np.flatnonzero(~closing[step:])
        end = step + int(opened[0]) if opened.size else len(closing)
        # The object is seen in the hand before the step that follows.
        seen = np.flatnonzero(held[step : end - 1]) + step + 1
        if seen.size and np.linalg.norm(object_position[seen] - object_position[seen[0]], axis=1).max() > MOVED_M:
            return step
        step = end
    return None
