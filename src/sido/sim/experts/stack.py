"""How Stack is played: over the cube, down, close, up, across, down, open, away."""

from __future__ import annotations

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.sim.experts.expert import ExpertSettings
from sido.sim.experts.sight import Goal, Sight, downward
from sido.sim.experts.stages import Script, Stage
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["stack_expert"]

OVER_M, LIFT_M, ACROSS_M, AWAY_M = 0.07, 0.10, 0.06, 0.08
"""Heights: over the cube before the grasp, after it, over the place for the cube, and over the stacked cube."""


def stack_expert(world: VectorEnvironment, settings: ExpertSettings) -> Script:
    """Plays `sido.sim.tasks.Stack`."""
    return Script(world, STAGES, settings)


def _up(height_m: float | Float[Array, "N"]) -> Float[Array, "*N 3"]:
    height = np.asarray(height_m)
    return np.stack([np.zeros_like(height), np.zeros_like(height), height], axis=-1)


def _grasp(sight: Sight) -> Float[Array, "N 3"]:
    return sight.thing.position + sight.grasp_offset


def _over(sight: Sight) -> Goal:
    return Goal(_grasp(sight) + _up(OVER_M), downward(), sight.velocity_mps)


def _down(sight: Sight) -> Goal:
    """Straight over it first: the further beside, the higher."""
    height = np.clip(3.0 * (sight.off(_grasp(sight)) - 0.01), 0.0, OVER_M)
    return Goal(_grasp(sight) + _up(height), downward(), sight.velocity_mps)


def _close(sight: Sight) -> Goal:
    return Goal(_grasp(sight), downward(), np.where(sight.held[:, None], 0.0, sight.velocity_mps))


def _lift(sight: Sight) -> Goal:
    return Goal(sight.entry.position + _up(LIFT_M), downward())


def _across(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position + _up(ACROSS_M)), downward())


def _lower(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position), downward())


def _away(sight: Sight) -> Goal:
    return Goal(sight.entry.position + _up(AWAY_M), downward())


def _is_over(sight: Sight) -> Bool[Array, "N"]:
    return (sight.off(_grasp(sight)) < 0.02) & (np.abs(sight.above(_grasp(sight)) - OVER_M) < 0.02)


def _is_down(sight: Sight) -> Bool[Array, "N"]:
    return (sight.off(_grasp(sight)) < 0.006) & (np.abs(sight.above(_grasp(sight))) < 0.006)


def _has_missed(sight: Sight) -> Bool[Array, "N"]:
    return (sight.steps >= 14) & ~sight.held


def _has_lost(sight: Sight) -> Bool[Array, "N"]:
    return sight.unheld_steps > 3


def _missing(sight: Sight) -> Float[Array, "N 3"]:
    return sight.target.position - sight.thing.position


def _is_across(sight: Sight) -> Bool[Array, "N"]:
    missing = _missing(sight)
    return np.sqrt(missing[:, 0] ** 2 + missing[:, 1] ** 2) < 0.005


STAGES = (
    Stage("over", _over, _is_over),
    Stage("down", _down, _is_down, speed_mps=0.18, most_steps=60),
    Stage("close", _close, lambda sight: sight.held, closed=True, failed=_has_missed, least_steps=8),
    Stage(
        "lift",
        _lift,
        lambda sight: sight.above(sight.entry.position) > LIFT_M - 0.02,
        closed=True,
        failed=_has_lost,
    ),
    Stage("across", _across, _is_across, closed=True, failed=_has_lost, most_steps=80),
    Stage(
        "lower",
        _lower,
        lambda sight: -_missing(sight)[:, 2] < 0.003,
        closed=True,
        failed=_has_lost,
        speed_mps=0.1,
        most_steps=40,
    ),
    Stage("open", _lower, lambda sight: sight.unheld_steps > 2, least_steps=4, most_steps=10),
    Stage("away", _away, lambda sight: sight.steps < 0, failed=lambda sight: sight.steps > 20),
)
