"""The contract of a refinement."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, final, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from sido.augment.dynamics.model import DynamicsModel
from sido.augment.refine.reaching import Reaching

__all__ = ["Refined", "Refiner"]


@final
@dataclass(frozen=True, eq=False)
class Refined:
    """Chunks, and what they cost under the model, m^2."""

    positions: Float[Tensor, "H 3 N"]
    cost: Float[Tensor, " N"]
    seed_cost: Float[Tensor, " N"]


@runtime_checkable
class Refiner(Protocol):
    """Bends chunks such that the robot, as the model knows it, comes to where the displaced object wants it.

    `tests/contracts/refiner.py` holds what every one must satisfy: under the model no chunk is worse than its seed,
    the rotation and gripper commands are not its business, equal generators give equal chunks, and a chunk whose object
    was not displaced keeps its seed to the bit.
    """

    @property
    def kind(self) -> str:
        """As `--generator` takes it."""
        ...

    def __call__(self, model: DynamicsModel, task: Reaching, rng: torch.Generator, /) -> Refined:
        """Refine them all.

        Raises:
            DataError: a cost that is not finite.
        """
        ...
