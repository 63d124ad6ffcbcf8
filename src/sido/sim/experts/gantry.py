"""How Gantry is played: over the capsule, down, close, up, across, into the mouth of the box, open, away."""

from __future__ import annotations

from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.sim.experts.expert import ExpertSettings
from sido.sim.experts.picking import Picking, has_lost
from sido.sim.experts.sight import DOWN, Goal, Sight, planar, up
from sido.sim.experts.stages import Script, Stage, is_let_go, never
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["gantry_expert"]

ABOVE_M = 0.006
"""The pads close so far above the capsule's middle: nearer to its wider end, and the box's rim."""
ACROSS_M, DROP_M, AWAY_M = 0.08, 0.03, 0.08
"""Heights: of the capsule over its place on the way, and where it is let go, for the fingers open wider than the box;
of the empty hand over that."""


def gantry_expert(world: VectorEnvironment, settings: ExpertSettings) -> Script:
    """Plays `sido.sim.tasks.Gantry`."""
    return Script(world, STAGES, settings)


def _grip(sight: Sight) -> Float[Array, "N 3"]:
    return sight.grasp + up(ABOVE_M)


def _across(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position + up(ACROSS_M)), DOWN)


def _lower(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position + up(DROP_M)), DOWN)


def _open(sight: Sight) -> Goal:
    return Goal(sight.entry.position, DOWN)


def _away(sight: Sight) -> Goal:
    return Goal(sight.entry.position + up(AWAY_M), DOWN)


def _is_across(sight: Sight) -> Bool[Array, "N"]:
    return planar(sight.target.position - sight.thing_position) < 0.008


def _is_lowered(sight: Sight) -> Bool[Array, "N"]:
    return (sight.thing_position - sight.target.position)[:, 2] < DROP_M + 0.004


STAGES = (
    *Picking(_grip, lambda _: DOWN).stages,
    Stage("across", _across, _is_across, True, has_lost, most_steps=120, speed_mps=0.2),
    Stage("lower", _lower, _is_lowered, True, has_lost, most_steps=40, speed_mps=0.1),
    Stage("open", _open, is_let_go, least_steps=4, most_steps=10),
    Stage("away", _away, never, failed=lambda sight: sight.steps > 20),
)
