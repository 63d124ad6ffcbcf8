"""Stack a small cube on a larger one: robosuite's Stack, as MimicGen's Stack_D0 places it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.geometry import Pose, quat_about_z
from sido.motion import Region
from sido.sim.robosuite_scene import build_scene
from sido.sim.scene import Scene
from sido.sim.scenes import Carrier
from sido.sim.stepper import ContactPair
from sido.sim.tasks.base_frame import region_in_base, workspace_above
from sido.sim.tasks.state import TaskState, at_rest_on_table

__all__ = ["Stack"]

TABLE_HEIGHT_M = 0.8
SMALL_HALF_M, LARGE_HALF_M = 0.02, 0.025
SPREAD_M = 0.08
"""Both cubes' centres are drawn from a square of twice this side, about the middle of the table."""
APART_M = math.sqrt(2) * (SMALL_HALF_M + LARGE_HALF_M)
"""Between their centres, so that they do not touch, whichever way they are turned."""
LIFTED_M = 0.04


@final
class Stack:
    """cubeA, 4 cm, onto cubeB, 5 cm, which stands in the same region and so may stand in cubeA's way.

    Args:
        scene: robosuite's Stack; built if not given, which takes some seconds.
    """

    name = "stack"
    description = "stack the small cube on the large one"
    moving = "cubeA"
    obstacle = "cubeB"
    hangs = False
    carriers: tuple[Carrier, ...] = ()
    horizon_s = 20.0
    subtasks = ("grasp",)

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene or build_scene("Stack")
        self.region = region_in_base(self.scene.arm, Region((0.0, 0.0)))
        self.workspace = workspace_above(self.scene.arm, (0.0, 0.0, TABLE_HEIGHT_M))
        self.contacts = (ContactPair("target", self.scene["cubeA"].geoms, self.scene["cubeB"].geoms),)

    def place(self, rng: np.random.Generator) -> Float[Array, "nq"]:
        """MimicGen's D0: both cubes anywhere within +-8 cm, turned anyhow, not touching."""
        qpos = self.scene.home_qpos.copy()
        small = rng.uniform(-SPREAD_M, SPREAD_M, size=2)
        large = rng.uniform(-SPREAD_M, SPREAD_M, size=2)
        while np.hypot(*(large - small)) < APART_M:
            large = rng.uniform(-SPREAD_M, SPREAD_M, size=2)
        for name, centre, half in (("cubeA", small, SMALL_HALF_M), ("cubeB", large, LARGE_HALF_M)):
            address = self.scene[name].qpos_address
            qpos[address : address + 3] = (*centre, TABLE_HEIGHT_M + half)
            qpos[address + 3 : address + 7] = quat_about_z(np.array(rng.uniform(0.0, 2 * math.pi)))
        return qpos

    def success(self, state: TaskState) -> Bool[Array, "N"]:
        """robosuite's: cubeA is off the table, touches cubeB, and is not held."""
        lifted = state.position("cubeA")[:, 2] > TABLE_HEIGHT_M + LIFTED_M
        return lifted & state.touching("target") & ~state.held

    def signals(self, state: TaskState) -> Mapping[str, Bool[Array, "N"]]:
        """MimicGen's: the grasp, by contact."""
        return {"grasp": state.held}

    def drivable(self, state: TaskState) -> Bool[Array, "N"]:
        """Back on the table, and at rest."""
        return at_rest_on_table(state, "cubeA")

    def target(self, state: TaskState) -> Pose:
        """In the middle of cubeB's top, with parallel sides."""
        below = state.pose("cubeB")
        return below @ Pose((0.0, 0.0, SMALL_HALF_M + LARGE_HALF_M), (1.0, 0.0, 0.0, 0.0))
