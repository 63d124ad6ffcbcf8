"""What is kept of an attempt, as arrays with one row for each control step.

| name | what |
|---|---|
| `actions` | in the world's action spec |
| `eef_position`, `eef_quat_wxyz`, `gripper`, `object_position` | as in `Demo`: base frame, before the action |
| `image/CAMERA` | before the action |
| `signal/SUBTASK` | before the action |
| `recorded/PATH` | as robomimic's file has it at that path, world frame; `events/*` are of the step that follows |
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import final

import numpy as np

from sido.arrays import Array
from sido.demos.absolute import to_absolute, with_rotation
from sido.demos.demo import Demo
from sido.geometry import Pose
from sido.sim.collect.observations import Observations
from sido.sim.events import Events
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["IMAGE", "RECORDED", "SIGNAL", "Recorder"]

IMAGE, RECORDED, SIGNAL = "image/", "recorded/", "signal/"
_EVENTS = tuple(field.name for field in dataclasses.fields(Events))


@final
class Recorder:
    """Looks on while all environments of a world are played once, from their reset to their end.

    Args:
        world: Just reset.
        cameras: Whose pictures are kept.
    """

    def __init__(self, world: VectorEnvironment, cameras: Sequence[str] = ()) -> None:
        self._world = world
        self._rows: list[dict[str, Array]] = []
        self._images: list[dict[str, list[Array]]] = [{camera: [] for camera in cameras} for _ in range(len(world))]

    def before(self, actions: Array) -> None:
        """The world as it is now, and what is to be done."""
        world = self._world
        state, signals = world.state, world.task.signals(world.state)
        self._rows.append(
            {
                "actions": actions.copy(),
                "qpos": state.qpos,
                "qvel": state.qvel,
                "states": world.mujoco_states,
                "eef_position": state.base_eef_position,
                "eef_quat_wxyz": state.base_eef_quat_wxyz,
                "object_position": world.object_position,
                **{f"{SIGNAL}{name}": signal for name, signal in signals.items()},
            }
        )
        for i in np.flatnonzero(world.live) if any(self._images) else ():
            for camera, image in world.render(int(i)).items():
                self._images[i][camera].append(image)

    def after(self, events: Events) -> None:
        """What the step did."""
        self._rows[-1] |= {f"{RECORDED}events/{name}": getattr(events, name) for name in _EVENTS}

    def arrays(self, i: int, observations: Observations) -> dict[str, Array]:
        """The attempt in environment `i`, which is over."""
        world, steps = self._world, int(self._world.steps[i])
        arrays = {name: np.stack([row[name][i] for row in self._rows[:steps]]) for name in self._rows[0]}
        qpos, qvel = arrays.pop("qpos"), arrays.pop("qvel")
        hand = Pose(arrays["eef_position"], arrays["eef_quat_wxyz"])
        base = world.scene.arm.base_pose
        seen, poses = observations.of(qpos, qvel, base @ hand)
        arrays["gripper"] = qpos[:, world.scene.arm.gripper.joint_qpos]
        arrays[f"{RECORDED}states"] = arrays.pop("states")
        arrays |= {f"{RECORDED}obs/{name}": values for name, values in seen.items()}
        arrays |= {f"{RECORDED}datagen_info/object_poses/{name}": matrices for name, matrices in poses.items()}
        arrays[f"{RECORDED}datagen_info/eef_pose"] = (base @ hand).matrix
        goal, closing = _goals(arrays, world)
        arrays[f"{RECORDED}datagen_info/target_pose"] = (base @ goal).matrix
        arrays[f"{RECORDED}datagen_info/gripper_action"] = closing
        return arrays | {f"{IMAGE}{name}": np.stack(images) for name, images in self._images[i].items()}


def _goals(arrays: dict[str, Array], world: VectorEnvironment) -> tuple[Pose, Array]:
    """Where each action sends the grip site, base frame; and the gripper, from -1 open to 1 closed."""
    spec = world.settings.action_spec
    demo = Demo(
        name="attempt",
        actions=arrays["actions"],
        action_spec=spec,
        eef_position=arrays["eef_position"],
        eef_quat_wxyz=arrays["eef_quat_wxyz"],
        gripper=arrays["gripper"],
    )
    goals = with_rotation(to_absolute(demo), "quat_wxyz").actions
    closing = (goals[:, -1:] - spec.gripper_open) / (spec.gripper_closed - spec.gripper_open)
    return Pose(goals[:, :3], goals[:, 3:7]), 2.0 * closing - 1.0
