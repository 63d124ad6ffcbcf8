"""The observation window: the last few moments at which a session looked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import final

import numpy as np
import torch
from jaxtyping import Float, Int

from sido.arrays import Array
from sido.control.observation import Observation
from sido.geometry import matrix_from_quat, rot6d_from_matrix
from sido.policies import ObservationWindow

__all__ = ["Window"]


@final
class Window:
    """What `N` sessions saw at steps `t-O+1 .. t`; at the first step of an episode, that step `O` times.

    Args:
        sessions: `N`.
        steps: `O`.
        cameras: Whose pictures are kept.
    """

    def __init__(self, sessions: int, steps: int, cameras: tuple[str, ...]) -> None:
        self._sessions, self._steps, self._cameras = sessions, steps, cameras
        self._empty = np.ones(sessions, dtype=np.bool_)
        self._seen: dict[str, Array] = {}

    def forget(self, sessions: Sequence[int]) -> None:
        """Those begin anew."""
        self._empty[list(sessions)] = True

    def push(self, rows: Int[Array, "K"], observation: Observation, channel: Float[Array, "N 3"]) -> None:
        """Those sessions look; `channel` is what the policy is told of the object's position."""
        for name, values in _named(observation, channel, self._cameras).items():
            if name not in self._seen:
                self._seen[name] = np.zeros((self._sessions, self._steps, *values.shape[1:]), dtype=values.dtype)
            window = self._seen[name]
            first = rows[self._empty[rows]]
            window[rows, :-1] = window[rows, 1:]
            window[rows, -1] = values[rows]
            window[first] = values[first, None]
        self._empty[rows] = False

    def of(self, rows: Int[Array, "K"]) -> ObservationWindow:
        """What those sessions saw, as policies take it."""
        tensors = {name: torch.from_numpy(values[rows]) for name, values in self._seen.items()}
        return ObservationWindow(tensors, tensors.pop("object_position"))


def _named(observation: Observation, channel: Float[Array, "N 3"], cameras: tuple[str, ...]) -> Mapping[str, Array]:
    numbers = {
        "eef_position": observation.eef_position,
        "eef_rot6d": rot6d_from_matrix(matrix_from_quat(observation.eef_quat_wxyz)),
        "gripper": observation.gripper,
        "object_position": channel,
        **{f"landmark.{name}": position for name, position in observation.landmarks.items()},
    }
    # In single precision, as training batches have them.
    named = {name: values.astype(np.float32) for name, values in numbers.items()}
    return named | {f"image.{camera}": observation.images[camera] for camera in cameras}
