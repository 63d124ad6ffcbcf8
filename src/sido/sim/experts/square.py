"""How Square is played: by the handle, up over the peg, turned to it, down, open, away."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.geometry import Pose, quat_about_z
from sido.sim.experts.expert import ExpertSettings
from sido.sim.experts.picking import Picking, has_lost
from sido.sim.experts.sight import Goal, Sight, downward, hand_yaw, planar, up, yaw_of
from sido.sim.experts.stages import Script, Stage, is_let_go, never
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["square_expert"]

HANDLE_M, ABOVE_M = 0.058, 0.003
"""From the nut's middle to where it is grasped, along its x axis; and over it, for the fingertips clear the table."""
LIFT_M = 0.16
ACROSS_M = 0.155
"""Of the nut over its place: the peg is 13 cm high."""
AWAY_M = 0.08
QUARTERS = np.array((1.0, 2.0, 3.0)) * np.pi / 2
"""How the nut may lie around the peg. Not with its handle away from the robot, which hardly reaches that far."""
FURTHEST_RAD = np.deg2rad(100.0)
"""How far the hand turns from how it comes from home; the wrist's joint ends at 120 degrees."""


def square_expert(world: VectorEnvironment, settings: ExpertSettings) -> Script:
    """Plays `sido.sim.tasks.Square`."""
    return Script(world, STAGES, settings)


def _grip(sight: Sight) -> Float[Array, "N 3"]:
    yaw = yaw_of(sight.thing.quat_wxyz)
    handle = HANDLE_M * np.stack([np.cos(yaw), np.sin(yaw), np.zeros_like(yaw)], axis=1)
    return sight.grasp + handle + up(ABOVE_M)


def _attitude(sight: Sight) -> Float[Array, "N 4"]:
    """The fingers on both sides of the handle; of two ways, the one from which the nut is turned to the peg with ease.

    The hand is turned by `a` or by `a` less half a turn, and then on by what the nut lacks to one of its places.
    """
    nut = yaw_of(sight.thing.quat_wxyz)
    ways = _wrapped(nut[:, None] + (0.0, np.pi))
    turns = _wrapped(QUARTERS - nut[:, None])
    ends = ways[:, :, None] + turns[:, None, :]
    cost = np.abs(turns)[:, None, :] + np.abs(ways)[:, :, None] / 4 + 10.0 * (np.abs(ends) > FURTHEST_RAD)
    return downward(np.take_along_axis(ways, cost.min(axis=2).argmin(axis=1)[:, None], axis=1)[:, 0])


def _placed(sight: Sight) -> Pose:
    """Where the nut is to lie: of the ways around the peg, the one that the hand turns to with ease."""
    nut, hand = yaw_of(sight.thing.quat_wxyz), hand_yaw(sight.hand.quat_wxyz)
    turns = _wrapped(QUARTERS - nut[:, None])
    cost = np.abs(turns) + 10.0 * (np.abs(hand[:, None] + turns) > FURTHEST_RAD)
    yaw = QUARTERS[cost.argmin(axis=1)]
    return Pose(sight.target.position, quat_about_z(yaw))


def _over_peg(sight: Sight, height_m: float | Float[Array, "N"]) -> Goal:
    placed = _placed(sight)
    hand = sight.carrying(Pose(placed.position + up(height_m), placed.quat_wxyz))
    return Goal(hand.position, hand.quat_wxyz)


def _across(sight: Sight) -> Goal:
    return _over_peg(sight, ACROSS_M)


def _lower(sight: Sight) -> Goal:
    """The further beside, the higher: a nut that has met the peg's edge is lifted again."""
    return _over_peg(
        sight, np.clip(20.0 * (planar(sight.target.position - sight.thing_position) - 0.005), 0.0, ACROSS_M)
    )


def _open(sight: Sight) -> Goal:
    return Goal(sight.entry.position, sight.entry.quat_wxyz)


def _away(sight: Sight) -> Goal:
    return Goal(sight.entry.position + up(AWAY_M), sight.entry.quat_wxyz)


def _is_across(sight: Sight) -> Bool[Array, "N"]:
    turn = _wrapped(yaw_of(_placed(sight).quat_wxyz) - yaw_of(sight.thing.quat_wxyz))
    near = planar(sight.target.position - sight.thing_position) < 0.003
    return near & (np.abs(turn) < np.deg2rad(3.0)) & sight.rests(0.02)


def _is_lowered(sight: Sight) -> Bool[Array, "N"]:
    return (sight.thing_position - sight.target.position)[:, 2] < 0.03


def _wrapped(angle_rad: Float[Array, "*shape"]) -> Float[Array, "*shape"]:
    """In [-pi, pi)."""
    return (angle_rad + np.pi) % (2 * np.pi) - np.pi


STAGES = (
    *Picking(_grip, _attitude, lift_m=LIFT_M).stages,
    Stage("across", _across, _is_across, True, has_lost, most_steps=120, speed_mps=0.16),
    Stage("lower", _lower, _is_lowered, True, has_lost, most_steps=60, speed_mps=0.12),
    Stage("open", _open, is_let_go, least_steps=4, most_steps=10),
    Stage("away", _away, never, failed=lambda sight: sight.steps > 20),
)
