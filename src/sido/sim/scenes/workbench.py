"""A robosuite environment of our own making. Imports robosuite: import it only where a scene is built."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from xml.etree.ElementTree import Element

from robosuite.controllers import load_composite_controller_config
from robosuite.environments.manipulation.manipulation_env import ManipulationEnv
from robosuite.models.arenas import TableArena
from robosuite.models.tasks import ManipulationTask

from sido.sim.scenes.robotiq import mend_robotiq, mount_wrist_camera

__all__ = ["Workbench"]

BASE_POSITION_M = (-0.56, 0.0, 0.0)
"""Of the pedestal's foot, as in robosuite's scenes with a table; the arm's base is 0.912 m above it."""


class Workbench(ManipulationEnv):
    """A Panda beside a table, and what `furnish` adds; it only serves to be taken apart by `scene_of`.

    Args:
        furnish: Given the model's root element, to add to.
        gripper: robosuite's name of it.
        table_size_m: Length, width, thickness.
        table_top_m: The middle of its upper side.
    """

    def __init__(
        self,
        furnish: Callable[[Element], None],
        *,
        gripper: str,
        table_size_m: tuple[float, float, float],
        table_top_m: tuple[float, float, float],
    ) -> None:
        self._furnish = furnish
        self._table_size_m = table_size_m
        self._table_top_m = table_top_m
        super().__init__(
            robots="Panda",
            gripper_types=gripper,
            controller_configs=load_composite_controller_config(controller="BASIC", robot="Panda"),
            initialization_noise=None,
            has_renderer=False,
            has_offscreen_renderer=False,
            use_camera_obs=False,
            ignore_done=True,
            control_freq=20,
            hard_reset=False,
            seed=0,
        )

    def reward(self, action: Any = None) -> float:
        """None: nothing is played here."""
        del action
        return 0.0

    def _load_model(self) -> None:
        super()._load_model()
        robot = self.robots[0].robot_model
        robot.set_base_xpos(BASE_POSITION_M)
        arena = TableArena(table_full_size=self._table_size_m, table_offset=self._table_top_m)
        arena.set_origin([0, 0, 0])
        self.model = ManipulationTask(mujoco_arena=arena, mujoco_robots=[robot], mujoco_objects=[])
        if type(self.robots[0].gripper["right"]).__name__ == "Robotiq85Gripper":
            mend_robotiq(self.model.root)
            mount_wrist_camera(self.model.root)
        self._furnish(self.model.root)
