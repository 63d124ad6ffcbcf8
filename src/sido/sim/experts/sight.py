"""What an expert knows at one moment."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array, FloatArray
from sido.geometry import Pose, quat_about_z, quat_multiply
from sido.sim.tasks import TaskState
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["DOWN", "Goal", "Sight", "downward", "hand_yaw", "planar", "up", "yaw_of"]


DOWN = np.array((0.0, math.sqrt(0.5), math.sqrt(0.5), 0.0))
"""The hand pointing straight down as it comes from home: its x axis, along which the fingers open, is the base's y."""


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

    world: VectorEnvironment
    base_from_world: Pose
    hand: Pose
    """The grip site."""
    hand_mps: Float[Array, "N 3"]
    """Its mean velocity in the last control step; 0 as the episode begins."""
    thing_position: Float[Array, "N 3"]
    """Of the moving object, as far as the expert knows."""
    velocity_mps: Float[Array, "N 3"]
    """Of the object, as far as the expert knows."""
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
    def state(self) -> TaskState:
        """Everything, in the world frame."""
        return self.world.state

    @cached_property
    def thing(self) -> Pose:
        """The moving object, as far as the expert knows; how it is turned, it always knows."""
        return Pose(self.thing_position, self.world.object_pose.quat_wxyz)

    @cached_property
    def target(self) -> Pose:
        """Where the task wants the object."""
        return self.world.target_pose

    @property
    def grasp(self) -> Float[Array, "N 3"]:
        """The object's middle, and the offset of this attempt."""
        return self.thing_position + self.grasp_offset

    def carrying(self, thing: Pose) -> Pose:
        """The hand when the object, held as it is now, is at `thing`."""
        return thing @ (self.thing.inverse() @ self.hand)

    def shift(self, to: Float[Array, "N 3"]) -> Float[Array, "N 3"]:
        """Where the hand must be for the object, held as it is now and not turned, to be at `to`."""
        return self.hand.position + (to - self.thing_position)

    def position(self, name: str) -> Float[Array, "N 3"]:
        """Of any free object of the scene, as it truly is."""
        return self.base_from_world.apply(self.state.position(name))

    def rests(self, speed_mps: float) -> Bool[Array, "N"]:
        """The hand is no faster than that."""
        return (self.hand_mps**2).sum(axis=1) < speed_mps**2

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
    """`DOWN`, turned about the vertical."""
    return quat_multiply(quat_about_z(yaw_rad), DOWN)


def yaw_of(quat_wxyz: Float[Array, "*batch 4"]) -> FloatArray:
    """The angle about z, in (-pi, pi], of the turned x axis; of a thing that stands upright, its yaw."""
    w, x, y, z = (quat_wxyz[..., k] for k in range(4))
    return np.arctan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z))


def hand_yaw(quat_wxyz: Float[Array, "*batch 4"]) -> FloatArray:
    """What `downward` was given, in (-pi, pi]; of a tilted hand, about that."""
    return (yaw_of(quat_wxyz) + math.pi / 2) % (2 * math.pi) - math.pi
