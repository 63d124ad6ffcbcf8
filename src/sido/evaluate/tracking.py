"""Does the commanded hand follow the object? The paper's tracking slope, pooled over many episodes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.errors import DataError
from sido.evaluate.grasps import first_closing
from sido.evaluate.measures import planned_steps
from sido.evaluate.rollout import Rollout

__all__ = ["Tracking"]


@final
@dataclass(frozen=True, eq=False)
class Tracking:
    """Commanded hand and object at the ends of executed chunks, `t + T_a`, before the grasp; metres, base frame.

    What is commanded at a terminus is the last executed action, which is to bring the hand there at `t + T_a`; the
    object is where it truly was at that moment.
    """

    commanded: Float[Array, "n 3"]
    objects: Float[Array, "n 3"]

    @staticmethod
    def of(rollouts: Iterable[Rollout]) -> Tracking:
        """From absolute goals; successes and failures alike."""
        commanded: list[Array] = [np.zeros((0, 3))]
        objects: list[Array] = [np.zeros((0, 3))]
        for rollout in rollouts:
            closing = first_closing(rollout)
            until = len(rollout) if closing is None else closing
            # A chunk's last action is the one before the next chunk's first.
            ends = planned_steps(rollout, until)[1:]
            commanded.append(rollout.action[ends - 1, :3].astype(float))
            objects.append(rollout.object_position[ends].astype(float))
        return Tracking(np.concatenate(commanded), np.concatenate(objects))

    def slope(self, axis: int = 0) -> float:
        """`beta = Cov(p_cmd, P) / Var(P)` along an axis of the base frame: 1 follows one for one, 0 does not at all.

        Raises:
            DataError: the object is everywhere at the same place.
        """
        hand, thing = self.commanded[:, axis], self.objects[:, axis]
        spread = thing - thing.mean() if len(thing) else thing
        if not spread.any():
            raise DataError("no slope without different places", field="Tracking.objects", found=f"{len(thing)} points")
        return float((hand - hand.mean()) @ spread / (spread @ spread))
