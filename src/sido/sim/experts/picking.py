"""How a thing is picked up from above: over it, down, close, up."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.sim.experts.sight import Goal, Sight, up
from sido.sim.experts.stages import Stage, is_held

__all__ = ["Picking", "has_lost"]

MISSED_STEPS = 14
"""After so many, a gripper that closes has closed."""
LOST_STEPS = 3


def has_lost(sight: Sight) -> Bool[Array, "N"]:
    """The object is no longer in the hand."""
    return sight.unheld_steps > LOST_STEPS


@final
@dataclass(frozen=True)
class Picking:
    """The stages `over`, `down`, `close` and `lift`; the first moves along with the object, as do the next two.

    It goes down along a curve, and closes where it is `near_m` beside and above where it should be at most. Where
    nothing is held when the gripper is closed, or the object is lost later, it starts over.
    """

    grip: Callable[[Sight], Float[Array, "N 3"]]
    """Where the grip site is to be when the gripper closes."""
    attitude: Callable[[Sight], Float[Array, "*N 4"]]
    """And how turned: from the beginning."""
    over_m: float = 0.07
    lift_m: float = 0.10
    near_m: float = 0.006
    firm_steps: int = 8
    """From the command to close until the hand lifts."""

    @property
    def stages(self) -> tuple[Stage, ...]:
        """In their order."""
        return (
            Stage("over", self._over, self._is_over, speed_mps=0.14),
            Stage("down", self._down, self._is_down, speed_mps=0.09, most_steps=60),
            Stage("close", self._close, is_held, True, self._has_missed, least_steps=self.firm_steps),
            Stage("lift", self._lift, self._is_lifted, True, has_lost, speed_mps=0.12, most_steps=60),
        )

    def _over(self, sight: Sight) -> Goal:
        return Goal(self.grip(sight) + up(self.over_m), self.attitude(sight), sight.velocity_mps)

    def _is_over(self, sight: Sight) -> Bool[Array, "N"]:
        grip = self.grip(sight)
        return (sight.off(grip) < 0.02) & (np.abs(sight.above(grip) - self.over_m) < 0.02)

    def _down(self, sight: Sight) -> Goal:
        """The further beside, the higher."""
        grip = self.grip(sight)
        height = np.clip(3.0 * (sight.off(grip) - 0.01), 0.0, self.over_m)
        return Goal(grip + up(height), self.attitude(sight), sight.velocity_mps)

    def _is_down(self, sight: Sight) -> Bool[Array, "N"]:
        grip = self.grip(sight)
        return (sight.off(grip) < self.near_m) & (np.abs(sight.above(grip)) < self.near_m)

    def _close(self, sight: Sight) -> Goal:
        """Along with the object until it is held."""
        return Goal(self.grip(sight), sight.entry.quat_wxyz, np.where(sight.held[:, None], 0.0, sight.velocity_mps))

    def _has_missed(self, sight: Sight) -> Bool[Array, "N"]:
        return (sight.steps >= MISSED_STEPS) & ~sight.held

    def _lift(self, sight: Sight) -> Goal:
        return Goal(sight.entry.position + up(self.lift_m), sight.entry.quat_wxyz)

    def _is_lifted(self, sight: Sight) -> Bool[Array, "N"]:
        return sight.above(sight.entry.position) > self.lift_m - 0.02
