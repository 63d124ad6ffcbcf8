"""Does the commanded hand follow the object? The paper's tracking slope, pooled over many episodes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.demos import Demo
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

    @staticmethod
    def of_demo(demo: Demo, action_horizon: int = 8) -> Tracking:
        """Of a demonstration with absolute goals, as if its chunks had been executed up to `T_a`."""
        if demo.object_position is None or demo.action_spec.kind != "absolute":
            raise DataError(
                "no slope without the object's position and absolute goals",
                demo=demo.name,
                found=f"{demo.action_spec.kind} actions",
            )
        until = len(demo) - 1 if demo.grasp is None else demo.grasp.index
        ends = np.arange(action_horizon, until + 1, action_horizon)
        return Tracking(demo.actions[ends - 1, :3].astype(float), demo.object_position[ends].astype(float))

    @staticmethod
    def joined(parts: Sequence[Tracking]) -> Tracking:
        """All points."""
        nothing = np.zeros((0, 3))
        return Tracking(
            np.concatenate([nothing, *(part.commanded for part in parts)]),
            np.concatenate([nothing, *(part.objects for part in parts)]),
        )

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
