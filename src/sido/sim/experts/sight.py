"""What an expert knows at one moment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array, FloatArray
from sido.geometry import Pose, quat_about_z, quat_multiply
from sido.sim.tasks import TaskState

__all__ = ["Goal", "Sight", "downward", "hand_yaw", "planar", "up", "yaw_of"]


class Goal(NamedTuple):
    """Where the hand is sent: `N` rows, or one for all; base frame."""

    position: Float[Array, "*N 3"]
    """Of the grip site."""
    quat_wxyz: Float[Array, "*M 4"]
    velocity_mps: Float[Array, "*K 3"] = np.zeros(3)
    """By which the goal itself moves: the hand moves along with it."""


@final
@dataclass(frozen=True, eq=False)
class Sight:
    """All environments, base frame unless said otherwise."""

    state: TaskState
    """Everything, in the world frame."""
    base_from_world: Pose
    hand: Pose
    """The grip site."""
    thing: Pose
    """The moving object, where the expert thinks that it is."""
    velocity_mps: Float[Array, "N 3"]
    """Of the object, as far as the expert knows."""
    target: Pose
    """Where the task wants the object."""
    held: Bool[Array, "N"]
    """Both pads touch the object."""
    unheld_steps: Int[Array, "N"]
    """Since it was last held; very many where it never was in this attempt."""
    steps: Int[Array, "N"]
    """In this stage, this one not counted."""
    entry: Pose
    """The hand as the stage began."""
    home: Pose
    """The hand as the episode began."""
    grasp_offset: Float[Array, "N 3"]
    """By how much the grasp is to miss the object's middle; horizontal, drawn for each attempt."""

    @property
    def carried(self) -> Pose:
        """The hand with the object in it where the object would be at its target."""
        return self.carrying(self.target)

    def carrying(self, thing: Pose) -> Pose:
        """The hand when the object, held as it is now, is at `thing`."""
        return thing @ (self.thing.inverse() @ self.hand)

    def shift(self, to: Float[Array, "N 3"]) -> Float[Array, "N 3"]:
        """Where the hand must be for the object, held as it is now and not turned, to be at `to`."""
        return self.hand.position + (to - self.thing.position)

    def off(self, position: Float[Array, "*N 3"]) -> Float[Array, "N"]:
        """Horizontal distance from the hand to there."""
        return planar(self.hand.position - position)

    def above(self, position: Float[Array, "*N 3"]) -> Float[Array, "N"]:
        """How much higher than that the hand is."""
        return (self.hand.position - position)[:, 2]


def planar(vectors: Float[Array, "N 3"]) -> Float[Array, "N"]:
    """Their horizontal lengths."""
    return np.sqrt(vectors[:, 0] ** 2 + vectors[:, 1] ** 2)


def up(height_m: float | Float[Array, "N"]) -> Float[Array, "*N 3"]:
    """So far upwards."""
    height = np.asarray(height_m)
    return np.stack([np.zeros_like(height), np.zeros_like(height), height], axis=-1)


def downward(yaw_rad: float | FloatArray = 0.0) -> FloatArray:
    """The hand pointing straight down, its x axis at `yaw_rad` from the base's y axis; 0 is how it comes from home."""
    return quat_multiply(quat_about_z(yaw_rad), np.array((0.0, math.sqrt(0.5), math.sqrt(0.5), 0.0)))


def yaw_of(quat_wxyz: Float[Array, "*batch 4"]) -> FloatArray:
    """The angle about z, in (-pi, pi], of the turned x axis; of a thing that stands upright, its yaw."""
    w, x, y, z = (quat_wxyz[..., k] for k in range(4))
    return np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))


def hand_yaw(quat_wxyz: Float[Array, "*batch 4"]) -> FloatArray:
    """What `downward` was given, in (-pi, pi]; of a tilted hand, about that."""
    return (yaw_of(quat_wxyz) + math.pi / 2) % (2 * math.pi) - math.pi
