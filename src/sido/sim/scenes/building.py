"""From furniture to a scene."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from xml.etree.ElementTree import Element

import mujoco
import numpy as np

from sido.sim.robosuite_scene import scene_of
from sido.sim.scene import Scene, free_object
from sido.sim.silence import silence

__all__ = ["build_scene"]


def build_scene(
    name: str,
    furnish: Callable[[Element], None],
    *,
    objects: Sequence[str],
    supports: Sequence[str],
    gripper: str = "default",
    rest_joints: Sequence[float] | None = None,
    rest_fingers: Sequence[float] | None = None,
    table_size_m: tuple[float, float, float] = (0.8, 0.8, 0.05),
    table_top_m: tuple[float, float, float] = (0.0, 0.0, 0.8),
) -> Scene:
    """A Panda at a table with furniture of our own; controlled as robosuite's own scenes are. A few seconds.

    Args:
        name: The scene's.
        furnish: Adds bodies to the model's root element. A camera `agentview` in its worldbody replaces the arena's.
        objects: Bodies on free joints of the same name.
        supports: Geoms that objects lie on.
        gripper: robosuite's name of it; by default the arm's own.
        rest_joints: The arm's rest posture, radians; by default robosuite's.
        rest_fingers: The gripper's, radians or metres; by default robosuite's.
        table_size_m: Length, width, thickness.
        table_top_m: The middle of its upper side, world frame.
    """
    with silence():
        from sido.sim.scenes.workbench import Workbench

        bench = Workbench(furnish, gripper=gripper, table_size_m=table_size_m, table_top_m=table_top_m)
        bench.reset()
        scene = scene_of(bench)
        bench.close()
    home = np.array(scene.home_qpos)
    if rest_joints is not None:
        home[scene.arm.joint_qpos] = rest_joints
    if rest_fingers is not None:
        home[scene.arm.gripper.joint_qpos] = rest_fingers
    return dataclasses.replace(
        scene,
        name=name,
        home_qpos=home,
        objects={thing: free_object(scene.model, thing, thing) for thing in objects},
        table=tuple(_geom(scene.model, support) for support in supports),
    )


def _geom(model: mujoco.MjModel, name: str) -> int:
    return int(model.geom(name).id)
