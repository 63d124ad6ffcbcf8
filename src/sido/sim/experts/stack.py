"""How Stack is played: over the cube, down, close, up, across, down, open, away."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.sim.experts.expert import ExpertSettings
from sido.sim.experts.picking import Picking, has_lost
from sido.sim.experts.sight import Goal, Sight, downward, planar, up, yaw_of
from sido.sim.experts.stages import Script, Stage, is_let_go, never
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["stack_expert"]

ACROSS_M, AWAY_M = 0.06, 0.08
"""Heights: over the place for the cube, and of the empty hand over the stacked cube."""
FINGER_M, ROOM_M = 0.048, 0.056
"""From the hand's middle to an open finger's, along the hand's x axis; from there to cubeB's middle, so that a finger
comes down beside it, with a centimetre to spare: who learns from this comes down less exactly."""


def stack_expert(world: VectorEnvironment, settings: ExpertSettings) -> Script:
    """Plays `sido.sim.tasks.Stack`."""
    return Script(world, STAGES, settings)


def _turned(sight: Sight) -> Float[Array, "N 4"]:
    """Straight down as the hand comes from home; turned by as much as lets the fingers miss a cubeB that is near.

    The yaw does not follow the cube's own: a hand grasps it any way, and a policy that sees no yaw can learn it.
    A finger at the angle `a` from the line between the cubes, which are `d` apart, misses cubeB if
    `d^2 + f^2 - 2 d f |cos a| >= r^2`.
    """
    beside = sight.position("cubeB") - sight.grasp
    apart = np.maximum(planar(beside), 1e-6)
    least = np.arccos(np.clip((apart**2 + FINGER_M**2 - ROOM_M**2) / (2 * apart * FINGER_M), 0.0, 1.0))
    line = np.arctan2(beside[:, 1], beside[:, 0])
    straight, now = _axis_angle(np.pi / 2 - line), _axis_angle(yaw_of(sight.hand.quat_wxyz) - line)
    side = np.where(now < 0.0, -1.0, 1.0)
    return downward(np.where(np.abs(straight) < least, side * least - straight, 0.0))


def _axis_angle(angle_rad: Float[Array, "N"]) -> Float[Array, "N"]:
    """Of an axis, which has no direction: in [-pi/2, pi/2)."""
    return (angle_rad + np.pi / 2) % np.pi - np.pi / 2


def _across(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position + up(ACROSS_M)), sight.entry.quat_wxyz)


def _lower(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position), sight.entry.quat_wxyz)


def _open(sight: Sight) -> Goal:
    return Goal(sight.entry.position, sight.entry.quat_wxyz)


def _away(sight: Sight) -> Goal:
    return Goal(sight.entry.position + up(AWAY_M), sight.entry.quat_wxyz)


def _is_across(sight: Sight) -> Bool[Array, "N"]:
    return planar(sight.target.position - sight.thing_position) < 0.005


def _is_lowered(sight: Sight) -> Bool[Array, "N"]:
    return (sight.thing_position - sight.target.position)[:, 2] < 0.003


STAGES = (
    *Picking(lambda sight: sight.grasp, _turned).stages,
    Stage("across", _across, _is_across, True, has_lost, most_steps=80, speed_mps=0.12),
    Stage("lower", _lower, _is_lowered, True, has_lost, most_steps=40, speed_mps=0.08),
    Stage("open", _open, is_let_go, least_steps=4, most_steps=10),
    Stage("away", _away, never, failed=lambda sight: sight.steps > 20),
)
