"""How Peachtree is played: before the peach, around it, close, pull it off, over the basket, let it fall."""

from __future__ import annotations

import math

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.geometry import quat_from_axis_angle, quat_multiply
from sido.sim.experts.expert import ExpertSettings
from sido.sim.experts.sight import Goal, Sight, downward
from sido.sim.experts.stages import Script, Stage, is_held, is_let_go, never
from sido.sim.scenes.peachtree import APPROACH_PITCH_RAD
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["peachtree_expert"]

BEFORE_M = 0.10
"""From the peach, back along the hand, where the hand begins to reach around it."""
BEYOND_M = 0.005
"""How far past the peach's middle it closes: the pads then hold it where it is widest."""
PULL_M = np.array((-0.06, 0.0, -0.015))
"""Out of the tree: to the arm, and a little down."""
SIDE_M = 0.004
"""The jaw leaves 7.5 mm on either side of the peach, so that a grasp may miss its middle by no more than this."""

ATTITUDE = quat_multiply(quat_from_axis_angle(np.array((0.0, -APPROACH_PITCH_RAD, 0.0))), downward())
"""The hand's own at rest, pointing down and forward, its fingers left and right of the peach."""
POINTING = np.array((math.sin(APPROACH_PITCH_RAD), 0.0, -math.cos(APPROACH_PITCH_RAD)))


def peachtree_expert(world: VectorEnvironment, settings: ExpertSettings) -> Script:
    """Plays `sido.sim.tasks.Peachtree`."""
    return Script(world, STAGES, settings)


def _grasp(sight: Sight) -> Float[Array, "N 3"]:
    offset = np.clip(sight.grasp_offset, (-np.inf, -SIDE_M, 0.0), (np.inf, SIDE_M, 0.0))
    return sight.thing.position + offset + BEYOND_M * POINTING


def _missing(sight: Sight) -> tuple[Float[Array, "N"], Float[Array, "N"]]:
    """How far the hand is from the grasp: along itself, and across."""
    away = _grasp(sight) - sight.hand.position
    along = away @ POINTING
    return along, np.linalg.norm(away - along[:, None] * POINTING, axis=1)


def _before(sight: Sight) -> Goal:
    return Goal(_grasp(sight) - BEFORE_M * POINTING, ATTITUDE, sight.velocity_mps)


def _around(sight: Sight) -> Goal:
    """In line with it first: the further beside, the further back."""
    _, across = _missing(sight)
    back = np.clip(4.0 * (across - 0.006), 0.0, BEFORE_M)
    return Goal(_grasp(sight) - back[:, None] * POINTING, ATTITUDE, sight.velocity_mps)


def _close(sight: Sight) -> Goal:
    return Goal(_grasp(sight), ATTITUDE, np.where(sight.held[:, None], 0.0, sight.velocity_mps))


def _pull(sight: Sight) -> Goal:
    return Goal(sight.entry.position + PULL_M, ATTITUDE)


def _carry(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position), ATTITUDE)


def _stay(sight: Sight) -> Goal:
    return Goal(sight.entry.position, ATTITUDE)


def _is_before(sight: Sight) -> Bool[Array, "N"]:
    along, across = _missing(sight)
    return (np.abs(along - BEFORE_M) < 0.02) & (across < 0.015)


def _is_around(sight: Sight) -> Bool[Array, "N"]:
    along, across = _missing(sight)
    return (np.abs(along) < 0.006) & (across < 0.005)


def _has_missed(sight: Sight) -> Bool[Array, "N"]:
    return (sight.steps >= 16) & ~sight.held


def _is_pulled(sight: Sight) -> Bool[Array, "N"]:
    return (sight.hand.position - sight.entry.position)[:, 0] < PULL_M[0] + 0.015


def _is_over(sight: Sight) -> Bool[Array, "N"]:
    return np.linalg.norm(sight.target.position - sight.thing.position, axis=1) < 0.02


STAGES = (
    Stage("before", _before, _is_before, speed_mps=0.16),
    Stage("around", _around, _is_around, speed_mps=0.08, most_steps=80),
    Stage("close", _close, is_held, closed=True, failed=_has_missed, least_steps=9),
    Stage("pull", _pull, _is_pulled, closed=True, speed_mps=0.10),
    Stage("carry", _carry, _is_over, closed=True, speed_mps=0.16, most_steps=120),
    Stage("open", _stay, is_let_go, least_steps=6),
    Stage("watch", _stay, never),
)
"""A peach that slips from the fingers is lost, so that nothing but the grasp can be tried again."""
