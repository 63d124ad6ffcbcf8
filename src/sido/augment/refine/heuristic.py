"""H-SIDO, as a refinement that refines nothing."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, final

import torch

from sido.augment.dynamics.model import DynamicsModel
from sido.augment.refine.reaching import Reaching, reaching_cost
from sido.augment.refine.refiner import Refined

__all__ = ["Heuristic"]


@final
@dataclass(frozen=True)
class Heuristic:
    """Returns the seed, and what it costs: what the others are compared with."""

    kind: ClassVar[str] = "heuristic"

    def __call__(self, model: DynamicsModel, task: Reaching, rng: torch.Generator) -> Refined:  # noqa: ARG002
        positions = task.seed[:, :3]
        cost = reaching_cost(model, task, positions)
        return Refined(positions, cost, cost)
