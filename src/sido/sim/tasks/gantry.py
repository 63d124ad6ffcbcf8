"""Take a capsule off a moving stage and put it into a box: a twin of the paper's real task."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.geometry import Pose
from sido.sim.scene import Scene
from sido.sim.scenes import gantry
from sido.sim.stepper import ContactPair
from sido.sim.tasks.base_frame import region_in_base, workspace_above
from sido.sim.tasks.state import TaskState, at_rest_on_table

__all__ = ["Gantry"]


@final
class Gantry:
    """The capsule, 5 cm tall, into the box of 9 x 9 cm.

    Args:
        scene: The one of `sido.sim.scenes.gantry`; built if not given, which takes some seconds.
    """

    name = "gantry"
    description = "put the capsule into the box"
    moving = gantry.MOVING
    hangs = False
    obstacle = None
    horizon_s = gantry.HORIZON_STEPS / 20
    contacts: tuple[ContactPair, ...] = ()
    subtasks = ("grasp",)

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene or gantry.build()
        self.region = region_in_base(self.scene.arm, gantry.REGION)
        self.workspace = workspace_above(self.scene.arm, (0.0, 0.0, gantry.TABLE_M))
        self.carriers = gantry.carriers(self.scene)

    def place(self, rng: np.random.Generator) -> Float[Array, "nq"]:
        """As the scene says."""
        return gantry.place(self.scene, rng)

    def success(self, state: TaskState) -> Bool[Array, "N"]:
        """As the scene says."""
        return gantry.succeeded(self.scene, state.qpos, state.held)

    def signals(self, state: TaskState) -> Mapping[str, Bool[Array, "N"]]:
        """The grasp, by contact."""
        return {"grasp": state.held}

    def drivable(self, state: TaskState) -> Bool[Array, "N"]:
        """Back on the stage, and at rest."""
        return at_rest_on_table(state, self.moving)

    def target(self, state: TaskState) -> Pose:
        """As the scene says; its attitude does not matter."""
        return Pose(gantry.target(self.scene, state.qpos), (1.0, 0.0, 0.0, 0.0))
