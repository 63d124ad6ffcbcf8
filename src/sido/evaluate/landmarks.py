"""Where further things are that a policy may be told of."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import mujoco
import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.sim.collect.annotation import annotation_of
from sido.sim.tasks import Task, TaskState

__all__ = ["Landmarks"]


@final
class Landmarks:
    """By the names under which demonstrations have their poses ("cubeB"): what policies learn from is what they meet.

    Args:
        task: What is done.
        names: Which.

    Raises:
        SettingError: the task has nothing of that name.
    """

    def __init__(self, task: Task, names: Sequence[str]) -> None:
        known = annotation_of(task).bodies
        for name in names:
            if name not in known:
                raise SettingError(
                    f"{task.name} has no such landmark", found=repr(name), expected=f"one of {', '.join(known)}"
                )
        model = task.scene.model
        self._model, self._data = model, mujoco.MjData(model)
        self._base_inverse = task.scene.arm.base_pose.inverse()
        self._bodies = {name: int(model.body(known[name]).id) for name in names}

    def of(self, state: TaskState) -> dict[str, Float[Array, "N 3"]]:
        """Their positions, base frame."""
        if not self._bodies:
            return {}
        found = np.empty((len(self._bodies), len(state.qpos), 3))
        for row, qpos in enumerate(state.qpos):
            self._data.qpos[:] = qpos
            mujoco.mj_kinematics(self._model, self._data)
            found[:, row] = self._data.xpos[list(self._bodies.values())]
        return {name: self._base_inverse.apply(places) for name, places in zip(self._bodies, found, strict=True)}
