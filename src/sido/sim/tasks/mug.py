"""Open the drawer, put the mug in, close it: MimicGen's MugCleanup, rebuilt."""

from __future__ import annotations

from collections.abc import Mapping
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.geometry import Pose
from sido.sim.scene import Scene
from sido.sim.scenes import Carrier, mug
from sido.sim.stepper import ContactPair
from sido.sim.tasks.base_frame import region_in_base, workspace_above
from sido.sim.tasks.state import TaskState, at_rest_on_table

__all__ = ["Mug"]

AWAY_M = 0.06
"""From the grip site to the handle's bar: the fingers no longer reach around it."""


@final
class Mug:
    """The mug, which moves on the table while the drawer is being opened.

    Args:
        scene: The one of `sido.sim.scenes.mug`; built if not given, which takes some seconds.
    """

    name = "mug"
    description = "open the drawer, put the mug in, close it"
    moving = mug.MOVING
    hangs = False
    carriers: tuple[Carrier, ...] = ()
    obstacle = None
    horizon_s = mug.HORIZON_STEPS / 20
    contacts: tuple[ContactPair, ...] = ()
    subtasks = ("open", "grasp")

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene or mug.build()
        self.region = region_in_base(self.scene.arm, mug.REGION)
        self.workspace = workspace_above(self.scene.arm, (0.0, 0.0, mug.TABLE_M))

    def place(self, rng: np.random.Generator) -> Float[Array, "nq"]:
        """As the scene says."""
        return mug.place(self.scene, rng)

    def success(self, state: TaskState) -> Bool[Array, "N"]:
        """As the scene says."""
        return mug.succeeded(self.scene, state.qpos, state.held)

    def signals(self, state: TaskState) -> Mapping[str, Bool[Array, "N"]]:
        """The drawer is open and the hand has left its handle; the grasp of the mug, by contact."""
        away = np.linalg.norm(state.eef_position - mug.handle(self.scene, state.qpos), axis=1) > AWAY_M
        drawer = mug.drawer_position(self.scene, state.qpos)
        return {"open": (drawer < mug.OPEN_M) & away, "grasp": state.held}

    def drivable(self, state: TaskState) -> Bool[Array, "N"]:
        """Back on the table, and at rest."""
        return at_rest_on_table(state, self.moving)

    def target(self, state: TaskState) -> Pose:
        """As the scene says; its attitude does not matter."""
        return Pose(mug.target(self.scene, state.qpos), (1.0, 0.0, 0.0, 0.0))
