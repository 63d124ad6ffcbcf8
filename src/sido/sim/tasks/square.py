"""Put a square nut on its peg: robosuite's NutAssemblySquare, as MimicGen's Square_D0 places it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import final

import mujoco
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

__all__ = ["Square"]

TABLE_HEIGHT_M = 0.82
NUT_HALF_M = 0.01
"""Half of its thickness."""
X_M, Y_M = (-0.115, -0.11), (0.11, 0.225)
"""Where the nut's middle is drawn from."""
REGION_CENTRE_M = (-0.10, 0.10)
"""The paper gives the region's size, not its place. Here it holds all of the nut's starts, and ends so far before the
pegs that the nut's handle, 8 cm long, misses them; world frame."""
PARKED_M = (10.0, 10.0, 0.01)
"""The round nut, which the scene has but not the task, lies on the floor, far off."""

ON_PEG_M, PEG_HEIGHT_M = 0.03, 0.05
AWAY_M = math.atanh(0.4) / 10
"""robosuite wants `1 - tanh(10 d) < 0.6`, 4.2 cm between the grip site and the nut's middle."""


@final
class Square:
    """The square nut, by its handle, onto the square peg.

    Args:
        scene: robosuite's NutAssemblySquare; built if not given, which takes some seconds.
    """

    name = "square"
    description = "put the square nut on the square peg"
    moving = "SquareNut"
    obstacle = None
    hangs = False
    carriers: tuple[Carrier, ...] = ()
    horizon_s = 20.0
    contacts: tuple[ContactPair, ...] = ()
    subtasks = ("grasp",)

    def __init__(self, scene: Scene | None = None) -> None:
        self.scene = scene or build_scene("NutAssemblySquare")
        self.region = region_in_base(self.scene.arm, Region(REGION_CENTRE_M))
        self.workspace = workspace_above(self.scene.arm, (0.0, 0.0, TABLE_HEIGHT_M))
        model = self.scene.model
        peg = mujoco.mj_name2id(model, mujoco.mjtObj.mjOBJ_BODY, "peg1")
        self._peg = model.body_pos[peg].copy()  # world frame: it stands on the world's own body

    def place(self, rng: np.random.Generator) -> Float[Array, "nq"]:
        """MimicGen's D0: on a strip of the table beside the pegs, turned anyhow."""
        qpos = self.scene.home_qpos.copy()
        nut, other = self.scene["SquareNut"].qpos_address, self.scene["RoundNut"].qpos_address
        qpos[nut : nut + 3] = rng.uniform(*X_M), rng.uniform(*Y_M), TABLE_HEIGHT_M + NUT_HALF_M
        qpos[nut + 3 : nut + 7] = quat_about_z(np.array(rng.uniform(0.0, 2 * math.pi)))
        qpos[other : other + 7] = (*PARKED_M, 1.0, 0.0, 0.0, 0.0)
        return qpos

    def success(self, state: TaskState) -> Bool[Array, "N"]:
        """robosuite's: the nut is around the peg, and the hand is away from it."""
        nut = state.position("SquareNut")
        around = (np.abs(nut - self._peg)[:, :2] < ON_PEG_M).all(axis=1)
        down = nut[:, 2] < TABLE_HEIGHT_M + PEG_HEIGHT_M
        return around & down & (np.linalg.norm(state.eef_position - nut, axis=1) > AWAY_M)

    def signals(self, state: TaskState) -> Mapping[str, Bool[Array, "N"]]:
        """MimicGen's: the grasp, by contact."""
        return {"grasp": state.held}

    def drivable(self, state: TaskState) -> Bool[Array, "N"]:
        """Back on the table, and at rest."""
        return at_rest_on_table(state, "SquareNut")

    def target(self, state: TaskState) -> Pose:
        """Flat on the table around the peg, its sides parallel to the peg's; of four such attitudes, one."""
        place = (*self._peg[:2].tolist(), TABLE_HEIGHT_M + NUT_HALF_M)
        return Pose(np.tile(place, (len(state.qpos), 1)), (1.0, 0.0, 0.0, 0.0))
