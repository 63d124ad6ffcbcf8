"""How Mug is played: open the drawer by its handle, put the mug in, push the drawer shut."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.sim.experts.expert import ExpertSettings
from sido.sim.experts.sight import Goal, Sight, downward, planar, up
from sido.sim.experts.stages import Condition, Script, Stage, is_held, is_let_go, never
from sido.sim.scenes import mug
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["mug_expert"]

OVER_BAR_M, ON_BAR_M = 0.10, 0.004
"""Over the handle's bar; and where it is gripped, so high that the fingertips pass above a mug."""
OVER_MUG_M, LIFT_M, ACROSS_M, AWAY_M = 0.09, 0.13, 0.12, 0.10
"""Over the mug before the grasp, after it, over its place in the drawer, and over what was let go. The mug and the
fingers then clear the drawer's front, which is 11 cm high, and the cabinet."""
BEHIND_M = 0.055
"""From the closed hand's middle to the bar's, before it pushes; 3.6 cm where they touch."""
SIDE_M = 0.005
"""The fingers leave 1 cm on either side of the mug, so that a grasp may miss its middle by no more than this."""
SETTLED_M = 0.001
"""The mug is let go this high above the drawer's bottom."""

NARROW_M, NEAR_M, SOON_S = 0.11, 0.08, 1.5
"""A mug that is nearer than so to the open drawer's bar, along x and along y, has no room for fingers between; one
waits until it is none, and will not be for so long."""

ATTITUDE = downward()
"""As the hand comes from home, its fingers before and behind the bar, and the mug."""
ALONG_DRAWER = np.array((0.0, 1.0, 0.0))
"""Where it shuts."""


def mug_expert(world: VectorEnvironment, settings: ExpertSettings) -> Script:
    """Plays `sido.sim.tasks.Mug`."""
    return Script(world, STAGES, settings)


def _bar(sight: Sight) -> Float[Array, "N 3"]:
    return sight.base_from_world.apply(mug.handle(sight.state.scene, sight.state.qpos))


def _drawer(sight: Sight) -> Float[Array, "N"]:
    """0 shut, negative open."""
    return mug.drawer_position(sight.state.scene, sight.state.qpos)


def _grasp(sight: Sight) -> Float[Array, "N 3"]:
    offset = np.clip(sight.grasp_offset, (-SIDE_M, -SIDE_M, 0.0), (SIDE_M, SIDE_M, 0.0))
    return sight.thing.position + offset + up(mug.MUG_HEIGHT_M / 2 - mug.GRIP_DEPTH_M)


def _raised(height_m: float) -> Callable[[Sight], Goal]:
    def goal(sight: Sight) -> Goal:
        return Goal(sight.entry.position + up(height_m), ATTITUDE)

    return goal


def _has_risen(height_m: float) -> Condition:
    return lambda sight: sight.above(sight.entry.position) > height_m - 0.02


# --- the drawer


def _over_bar(sight: Sight) -> Goal:
    return Goal(_bar(sight) + up(OVER_BAR_M), ATTITUDE)


def _on_bar(sight: Sight) -> Goal:
    bar = _bar(sight)
    height = np.clip(3.0 * (sight.off(bar) - 0.01), ON_BAR_M, OVER_BAR_M)
    return Goal(bar + up(height), ATTITUDE)


def _open_drawer(sight: Sight) -> Goal:
    """The hand moves as the drawer is to; it ends at its stop."""
    opened = _bar(sight) - (mug.STROKE_M + _drawer(sight))[:, None] * ALONG_DRAWER
    return Goal(opened + up(ON_BAR_M), ATTITUDE)


def _behind_bar(height_m: float) -> Callable[[Sight], Goal]:
    def goal(sight: Sight) -> Goal:
        return Goal(_bar(sight) - BEHIND_M * ALONG_DRAWER + up(height_m), ATTITUDE)

    return goal


def _shut_drawer(sight: Sight) -> Goal:
    """A little further than shut, so that the hand still moves when the drawer comes to its stop."""
    shut = _bar(sight) - _drawer(sight)[:, None] * ALONG_DRAWER
    return Goal(shut - (BEHIND_M - 0.04) * ALONG_DRAWER, ATTITUDE)


def _is_over_bar(sight: Sight) -> Bool[Array, "N"]:
    bar = _bar(sight)
    return (sight.off(bar) < 0.02) & (np.abs(sight.above(bar) - OVER_BAR_M) < 0.02)


def _is_on_bar(sight: Sight) -> Bool[Array, "N"]:
    bar = _bar(sight)
    return (sight.off(bar) < 0.008) & (np.abs(sight.above(bar) - ON_BAR_M) < 0.006)


def _is_open(sight: Sight) -> Bool[Array, "N"]:
    return _drawer(sight) < 0.01 - mug.STROKE_M


def _has_slipped(sight: Sight) -> Bool[Array, "N"]:
    return sight.off(_bar(sight)) > 0.03


def _is_behind_bar(height_m: float) -> Condition:
    def done(sight: Sight) -> Bool[Array, "N"]:
        goal = _behind_bar(height_m)(sight).position
        return np.linalg.norm(sight.hand.position - goal, axis=1) < 0.012

    return done


# --- the mug


def _over_mug(sight: Sight) -> Goal:
    return Goal(_grasp(sight) + up(OVER_MUG_M), ATTITUDE, sight.velocity_mps)


def _down(sight: Sight) -> Goal:
    """Straight over it first: the further beside, the higher."""
    height = np.clip(3.0 * (sight.off(_grasp(sight)) - 0.01), 0.0, OVER_MUG_M)
    return Goal(_grasp(sight) + up(height), ATTITUDE, sight.velocity_mps)


def _close(sight: Sight) -> Goal:
    return Goal(_grasp(sight), ATTITUDE, np.where(sight.held[:, None], 0.0, sight.velocity_mps))


def _across(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position + up(ACROSS_M)), ATTITUDE)


def _lower(sight: Sight) -> Goal:
    return Goal(sight.shift(sight.target.position + up(SETTLED_M)), ATTITUDE)


def _stay(sight: Sight) -> Goal:
    return Goal(sight.entry.position, ATTITUDE)


def _has_room(sight: Sight) -> Bool[Array, "N"]:
    room = np.ones(len(sight.steps), dtype=np.bool_)
    for ahead_s in (0.0, SOON_S / 2, SOON_S):
        beside = np.abs(sight.thing.position + ahead_s * sight.velocity_mps - _bar(sight))
        room &= (beside[:, 0] > NARROW_M) | (beside[:, 1] > NEAR_M)
    return room


def _is_over_mug(sight: Sight) -> Bool[Array, "N"]:
    grasp = _grasp(sight)
    near = (sight.off(grasp) < 0.02) & (np.abs(sight.above(grasp) - OVER_MUG_M) < 0.02)
    return near & _has_room(sight)


def _is_down(sight: Sight) -> Bool[Array, "N"]:
    grasp = _grasp(sight)
    return (sight.off(grasp) < 0.006) & (np.abs(sight.above(grasp)) < 0.006)


def _has_missed(sight: Sight) -> Bool[Array, "N"]:
    return (sight.steps >= 14) & ~sight.held


def _has_lost(sight: Sight) -> Bool[Array, "N"]:
    return sight.unheld_steps > 3


def _is_across(sight: Sight) -> Bool[Array, "N"]:
    return planar(sight.target.position - sight.thing.position) < 0.008


def _is_lowered(sight: Sight) -> Bool[Array, "N"]:
    return (sight.thing.position - sight.target.position)[:, 2] < 0.003


STAGES = (
    Stage("over bar", _over_bar, _is_over_bar),
    Stage("on bar", _on_bar, _is_on_bar, speed_mps=0.14, most_steps=60),
    Stage("grip", _on_bar, never, closed=True, most_steps=8),
    Stage("open drawer", _open_drawer, _is_open, closed=True, failed=_has_slipped, speed_mps=0.14, most_steps=60),
    Stage("let go", _stay, never, most_steps=6),
    Stage("leave bar", _raised(AWAY_M), _has_risen(AWAY_M), speed_mps=0.2),
    Stage("over mug", _over_mug, _is_over_mug, speed_mps=0.2),
    Stage("down", _down, _is_down, speed_mps=0.12, most_steps=60),
    Stage("close", _close, is_held, closed=True, failed=_has_missed, again="over mug", least_steps=8),
    Stage("lift", _raised(LIFT_M), _has_risen(LIFT_M), closed=True, failed=_has_lost, again="over mug", speed_mps=0.16),
    Stage("across", _across, _is_across, closed=True, failed=_has_lost, again="over mug", speed_mps=0.2, most_steps=80),
    Stage("lower", _lower, _is_lowered, closed=True, failed=_has_lost, again="over mug", speed_mps=0.1, most_steps=50),
    Stage("open", _stay, is_let_go, least_steps=6),
    Stage("leave mug", _raised(AWAY_M), _has_risen(AWAY_M), speed_mps=0.2),
    Stage("before bar", _behind_bar(OVER_BAR_M), _is_behind_bar(OVER_BAR_M), closed=True),
    Stage("behind bar", _behind_bar(0.0), _is_behind_bar(0.0), closed=True, speed_mps=0.14, most_steps=40),
    Stage("shut drawer", _shut_drawer, never, closed=True, speed_mps=0.14),
)
"""A mug that is lost on the way is taken again from where it lies."""
