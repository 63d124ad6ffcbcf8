"""How well a dynamics model foretells motions that it was not fitted to."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
import torch

from sido.arrays import Array
from sido.augment.dynamics.model import DynamicsModel
from sido.augment.dynamics.motion import RobotMotion
from sido.errors import DataError

__all__ = ["DynamicsErrors", "dynamics_errors"]


@final
@dataclass(frozen=True)
class DynamicsErrors:
    """Mean distances between where the hand was foretold and where it went, before the grasp; metres."""

    one_step_m: float
    open_loop_m: float
    """At the end of rollouts of `horizon` steps, from every step that a chunk fits behind."""
    horizon: int
    transitions: int
    rollouts: int
    demos: int

    def __str__(self) -> str:
        return (
            f"one step {1e3 * self.one_step_m:.3f} mm, open loop after {self.horizon} steps "
            f"{1e3 * self.open_loop_m:.2f} mm (means over {self.transitions} transitions and {self.rollouts} rollouts "
            f"of {self.demos} demonstrations)"
        )


def dynamics_errors(model: DynamicsModel, motions: Sequence[RobotMotion], *, horizon: int = 16) -> DynamicsErrors:
    """Judge a model by motions.

    Raises:
        DataError: none of them has a rollout of `horizon` steps before its grasp.
    """
    one_step: list[Array] = []
    last: list[Array] = []
    for motion in motions:
        told = torch.tensor(motion.commands).to(model.slope)
        states = torch.tensor(motion.states).to(model.slope)
        starts = np.arange(max(motion.steps - horizon + 1, 0))
        before = torch.arange(motion.steps)
        foretold = model(states[before].T.contiguous(), told[before].T.contiguous())[:3].T
        one_step.append(torch.linalg.vector_norm(foretold - states[1 : motion.steps + 1, :3], dim=1).numpy())
        if len(starts):
            windows = torch.from_numpy(starts[:, None] + np.arange(horizon))
            rolled = model.rollout(states[starts].T.contiguous(), told[windows].permute(1, 2, 0).contiguous())
            last.append(torch.linalg.vector_norm(rolled[-1, :3].T - states[starts + horizon, :3], dim=1).numpy())
    if not last:
        raise DataError("no rollout to judge the model by", field="motions", expected=f"{horizon} steps before a grasp")
    return DynamicsErrors(
        one_step_m=float(np.concatenate(one_step).mean()),
        open_loop_m=float(np.concatenate(last).mean()),
        horizon=horizon,
        transitions=sum(len(errors) for errors in one_step),
        rollouts=sum(len(errors) for errors in last),
        demos=len(motions),
    )
