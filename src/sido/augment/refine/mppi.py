"""The paper's refinement: model-predictive path integrals, many chunks and samples at a time."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, final

import torch
from jaxtyping import Float
from torch import Tensor

from sido.augment.dynamics.model import DynamicsModel
from sido.augment.refine.reaching import Reaching, finite, reaching_cost
from sido.augment.refine.refiner import Refined
from sido.errors import SettingError

__all__ = ["Mppi"]


@final
@dataclass(frozen=True)
class Mppi:
    """Draws chunks about a mean, weighs them by cost, moves the mean; returns the cheapest chunk that it ever saw.

    In each iteration `samples` chunks are drawn, of which the first is the mean itself (to begin with, the seed). With
    `J` the costs of a chunk's samples,

        w_i ~ exp(-(J_i - min J) / (beta (mean J - min J))),      mean <- sum_i w_i chunk_i.

    The temperature `beta` is of costs in units of their own spread: taken as it stands in square metres, where costs
    are of the order of 1e-4, the paper's 0.5 weighs all samples alike (`literal_temperature` does that).

    The paper leaves the noise open. Here it is smooth, since noise of its own at every step makes the hand shake: every
    `knot_steps` steps a normal number, straight lines between. Its size is a share of what the displacement asks for
    in units of the actions, so that a small displacement is searched finely.
    """

    kind: ClassVar[str] = "mppi"

    samples: int = 128
    iterations: int = 10
    temperature: float = 0.5
    """`beta`."""
    literal_temperature: bool = False
    noise: float = 0.3
    """Standard deviation at the knots, for absolute actions as a share of `|delta|`; for relative ones as a share of
    what each of the first `T_a` increments takes, `|delta| / (T_a metres_per_unit gain)` with a gain of a quarter."""
    late_noise: float = 0.3
    """The same from `T_a` on, as a share of `noise`: there the hand has only to stay with the object."""
    knot_steps: int = 3
    samples_at_once: int = 8192
    """Chunks times samples that are rolled out together: memory is theirs, whatever the number of chunks."""

    def __post_init__(self) -> None:
        for name, least in (("samples", 2), ("iterations", 1), ("knot_steps", 1), ("samples_at_once", 1)):
            value = getattr(self, name)
            self._require(name, value >= least, f"{least} or more")
        for name in ("temperature", "noise"):
            self._require(name, 0 < getattr(self, name) < math.inf, "a finite number above 0")
        self._require("late_noise", 0 <= self.late_noise < math.inf, "0 or more")

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise SettingError("cannot be used", field=f"Mppi.{name}", found=getattr(self, name), expected=expected)

    def __call__(self, model: DynamicsModel, task: Reaching, rng: torch.Generator) -> Refined:
        together = max(self.samples_at_once // self.samples, 1)
        parts = [self._refined(model, task.part(rows), rng) for rows in torch.arange(len(task)).split(together)]
        return Refined(
            torch.cat([part.positions for part in parts], dim=2),
            torch.cat([part.cost for part in parts]),
            torch.cat([part.seed_cost for part in parts]),
        )

    def _refined(self, model: DynamicsModel, task: Reaching, rng: torch.Generator) -> Refined:
        horizon, chunks, samples = len(task.seed), len(task), self.samples
        many = task.repeated(samples)  # sample i of chunk n is column n * samples + i
        shape = self._shape(task)
        knots = shape.shape[1]
        mean = best = task.seed[:, :3]
        best_cost = seed_cost = reaching_cost(model, task, mean)
        scale = self._scale(model, task)
        first = samples * torch.arange(chunks, device=mean.device)
        moves = scale > 0  # else rounding alone might look like a gain
        normal = torch.empty(knots, 3, chunks, samples, device=rng.device)
        drawn = mean.new_empty(horizon, 3, chunks * samples)
        for _ in range(self.iterations):
            noise = normal.normal_(generator=rng).to(mean)
            noise *= scale[:, None]
            noise[..., 0] = 0.0
            torch.mm(shape, noise.view(knots, -1), out=drawn.view(horizon, -1))
            drawn.view(horizon, 3, chunks, samples).add_(mean[..., None])
            cost = reaching_cost(model, many, drawn).view(chunks, samples)
            lowest, which = cost.min(dim=1)
            better = (lowest < best_cost) & moves
            best = torch.where(better, drawn.index_select(2, first + which), best)
            best_cost = torch.where(better, lowest, best_cost)
            noise *= self._weights(cost)
            mean = mean + (shape @ noise.sum(dim=3).flatten(1)).view_as(mean)
        return Refined(best, finite(best_cost), seed_cost)

    def _weights(self, cost: Float[Tensor, "N samples"]) -> Float[Tensor, "N samples"]:
        above = cost - cost.amin(dim=1, keepdim=True)
        unit = 1.0 if self.literal_temperature else above.mean(dim=1, keepdim=True).clamp(min=1e-30)
        return torch.softmax(-above / (self.temperature * unit), dim=1)

    def _scale(self, model: DynamicsModel, task: Reaching) -> Float[Tensor, " N"]:
        """The noise's size, in units of the actions."""
        distance = torch.linalg.vector_norm(task.displacement, dim=0)
        if model.absolute:
            return self.noise * distance
        usual_gain = 0.25  # of a re-anchored controller (docs/derivations.md)
        return self.noise * distance / (task.action_horizon * model.action_spec.position_scale_m * usual_gain)

    def _shape(self, task: Reaching) -> Float[Tensor, "H knots"]:
        """What the noise at each knot does to each step."""
        horizon, every = len(task.seed), self.knot_steps
        knots = (horizon - 1 + every - 1) // every + 1
        steps = torch.arange(horizon, dtype=task.seed.dtype, device=task.seed.device)
        places = every * torch.arange(knots, dtype=steps.dtype, device=steps.device)
        tents = (1 - (steps[:, None] - places).abs() / every).clamp(min=0)
        size = torch.where(steps < task.action_horizon, 1.0, self.late_noise)
        return tents * size[:, None]
