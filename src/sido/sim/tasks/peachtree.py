"""Pick a peach off a swaying tree and drop it into a basket: a twin of the paper's real task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.geometry import Pose
from sido.sim.scene import Scene
from sido.sim.scenes import peachtree
from sido.sim.stepper import ContactPair
from sido.sim.tasks.base_frame import region_in_base, workspace_above
from sido.sim.tasks.state import TaskState

__all__ = ["Peachtree"]

WORKSPACE_M, WORKSPACE_SIZE_M = (0.05, 0.0, peachtree.TABLE_M), (0.9, 0.9)
"""From the basket to the tree: a peach that falls to the floor between them is lost."""


@final
class Peachtree:
    """The peach, from where it hangs, into the basket of 25 x 35 cm.

    Args:
        scene: The one of `sido.sim.scenes.peachtree`; built if not given, which takes some seconds.
    """

    name = "peachtree"
    description = "pick the peach and drop it into the basket"
    moving = peachtree.MOVING
    hangs = True
    obstacle = None
    horizon_s = peachtree.HORIZON_STEPS / 20
    contacts: tuple[ContactPair, ...] = ()
    subtasks = ("grasp",)

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene or peachtree.build()
        self.region = region_in_base(self.scene.arm, peachtree.REGION)
        self.workspace = workspace_above(self.scene.arm, WORKSPACE_M, WORKSPACE_SIZE_M, height_m=0.9)
        self.carriers = peachtree.carriers(self.scene)

    def place(self, rng: np.random.Generator) -> Float[Array, "nq"]:
        """As the scene says."""
        return peachtree.place(self.scene, rng)

    def success(self, state: TaskState) -> Bool[Array, "N"]:
        """As the scene says."""
        return peachtree.succeeded(self.scene, state.qpos, state.held)

    def signals(self, state: TaskState) -> Mapping[str, Bool[Array, "N"]]:
        """The grasp, by contact."""
        return {"grasp": state.held}

    def drivable(self, state: TaskState) -> Bool[Array, "N"]:
        """Nowhere: a peach that has been picked cannot be hung up again."""
        return np.zeros(len(state.qpos), dtype=np.bool_)

    def target(self, state: TaskState) -> Pose:
        """As the scene says; its attitude does not matter."""
        return Pose(peachtree.target(self.scene, state.qpos), (1.0, 0.0, 0.0, 0.0))
