"""A scene of a few shapes, for cameras: compiled in milliseconds."""

from __future__ import annotations

import mujoco
import numpy as np

from sido.geometry import Pose, Transform
from sido.sim.arm import ArmModel, GripperModel
from sido.sim.physics import Physics
from sido.sim.scene import Scene

XML = """
<mujoco>
  <visual><headlight ambient="1 1 1" diffuse="0 0 0" specular="0 0 0"/></visual>
  <worldbody>
    <camera name="front" pos="1.2 0.1 0.6" xyaxes="-0.08 1 0 -0.4 0 1" fovy="50"/>
    <camera name="above" pos="0.05 -0.02 1.5" xyaxes="0 1 0 -1 0.1 0" fovy="40"/>
    <geom name="wall" type="box" size="0.02 1 1" pos="-0.8 0 0.5" rgba="0.2 0.3 0.4 1" group="1"/>
    <geom name="mat" type="plane" size="0.5 0.5 0.1" rgba="0.3 0.3 0.3 1" group="1"/>
    <geom name="unseen" type="sphere" size="0.3" pos="0 0 0.3" rgba="1 0 1 1" group="0"/>
    <body name="ball" pos="0 0 0.4">
      <freejoint name="ball_joint"/>
      <geom name="ball" type="sphere" size="0.03" rgba="1 1 0 1" group="1" contype="0" conaffinity="0"/>
    </body>
  </worldbody>
</mujoco>
"""


def small_scene(xml: str = XML) -> Scene:
    """Two fixed cameras; a yellow ball to move about; the base turned and off the origin; no robot to speak of."""
    model = mujoco.MjModel.from_xml_string(xml)
    none, nothing = np.zeros(0, dtype=np.int64), np.zeros((0, 2))
    gripper = GripperModel(none, none, nothing, np.zeros(0), 0.2, (), (), (), ())
    base = Transform("world", "base", Pose((-0.5, 0.2, 0.1), (np.cos(0.3), 0.0, 0.0, np.sin(0.3))))
    arm = ArmModel(0, base, none, none, none, nothing, gripper)
    return Scene("small", model, Physics.of(model), arm, model.qpos0.copy(), {}, ())


def state_of(scene: Scene, qpos: np.ndarray | None = None) -> mujoco.MjData:
    data = mujoco.MjData(scene.model)
    data.qpos[:] = scene.home_qpos if qpos is None else qpos
    mujoco.mj_forward(scene.model, data)
    return data
