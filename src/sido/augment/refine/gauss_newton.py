"""The fast refinement: a few Gauss-Newton steps through the differentiable model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from sido.augment.dynamics.model import DynamicsModel, Linearised
from sido.augment.refine.reaching import Reaching, finite, reached
from sido.augment.refine.refiner import Refined
from sido.errors import SettingError

__all__ = ["GaussNewton"]


@final
@dataclass(frozen=True)
class GaussNewton:
    """Solves the six-residual least-squares problem that the paper's cost is, by its derivatives.

    48 position commands have to bring six numbers to zero; of all chunks that do, this takes the one that

    - arrives as the demonstrated hand did, at its velocity: what comes after `T_a` is then the demonstration, shifted,
      whatever the model does not know; and the policy re-plans from a state that it has seen;
    - differs from the demonstration smoothly, and from the seed little, above all from `T_a` on.

    The rollout is linearised once, at the seed (`r` the residuals, `J` their derivatives by the commands, from a pass
    back through the model for all twelve): a controller is so nearly linear that later steps can go on with the same
    `J`. A step solves, in closed form, 12 by 12 numbers for each chunk,

        min_u'  |W (r + J (u' - u))|^2 + smoothness |D (u' - demonstrated)|^2 + |w (u' - seed)|^2.

    A step that does not lower the paper's cost is not taken, and the next one takes the residuals ten times less
    seriously: it stays nearer to the seed. So the result is never worse than that. Relative commands are kept within
    their range.
    """

    kind: ClassVar[str] = "gauss-newton"

    iterations: int = 6
    """At most: most chunks are there after two."""
    enough_m: float = 2e-4
    """A chunk is there once the root of its cost is no larger."""
    position_m: float = 1e-4
    """How far off the targets counts as much as 1 in the other terms does."""
    velocity_m: float = 1e-3
    """The same for velocities, metres per step."""
    passes: int = 3
    """How often what relative commands at the edge of their range fall short of is asked of the others."""
    smoothness: float = 1.0
    nearness: float = 0.01
    """Weight of the difference to the seed, before `T_a` ..."""
    late_nearness: float = 1.0
    """... and from then on."""
    chunks_at_once: int = 512
    """Memory is theirs, whatever the number of chunks."""

    def __post_init__(self) -> None:
        for name in ("iterations", "passes", "chunks_at_once"):
            self._require(name, getattr(self, name) >= 1, "1 or more")
        for name in ("enough_m", "position_m", "velocity_m", "smoothness", "nearness", "late_nearness"):
            self._require(name, 0 < getattr(self, name) < math.inf, "a finite number above 0")

    def _require(self, name: str, holds: bool, expected: str) -> None:
        if not holds:
            raise SettingError(
                "cannot be used", field=f"GaussNewton.{name}", found=getattr(self, name), expected=expected
            )

    def __call__(self, model: DynamicsModel, task: Reaching, rng: torch.Generator) -> Refined:  # noqa: ARG002
        parts = [self._refined(model, task.part(rows)) for rows in torch.arange(len(task)).split(self.chunks_at_once)]
        return Refined(
            torch.cat([part.positions for part in parts], dim=2),
            torch.cat([part.cost for part in parts]),
            torch.cat([part.seed_cost for part in parts]),
        )

    def _refined(self, model: DynamicsModel, task: Reaching) -> Refined:
        prior = self._prior(model, task)
        best = task.seed[:, :3].clone()
        at = linearised(model, task, best)
        seed_cost = finite(_cost(at.residuals))
        best_cost, ease = seed_cost.clone(), torch.ones_like(seed_cost)
        residuals = at.residuals.clone()
        moves = (task.displacement != 0).any(dim=0)
        for _ in range(self.iterations):
            rows = (moves & (best_cost > self.enough_m**2)).nonzero()[:, 0]
            if len(rows) == 0:
                break
            here = _Residuals(residuals[..., rows], at.slopes[..., rows])
            some = task.part(rows)
            tried = self._step(model, prior.part(rows), here, best[..., rows], ease[rows])
            missed = _missed(model, some, reached(model, some, tried))
            cost = finite(_cost(missed))
            better = cost < best_cost[rows]
            ease[rows] = torch.where(better, ease[rows], 10 * ease[rows])
            won = rows[better]
            best[..., won], best_cost[won], residuals[..., won] = tried[..., better], cost[better], missed[..., better]
        return Refined(best, best_cost, seed_cost)

    def _step(
        self,
        model: DynamicsModel,
        prior: _Prior,
        at: _Residuals,
        positions: Float[Tensor, "H 3 N"],
        ease: Float[Tensor, " N"],
    ) -> Float[Tensor, "H 3 N"]:
        """The minimum of the linearised problem, its residuals taken `ease` times less seriously.

        Relative commands that would leave their range are put to its edge, and what they fall short of is asked of the
        others.
        """
        limit = math.inf if model.absolute else 1.0
        chunks = positions.shape[2]
        scale = torch.tensor([self.position_m] * 3 + [self.velocity_m] * 3).to(positions).repeat(2)
        scale = ease[:, None] * scale  # N R
        slopes = at.slopes.permute(3, 0, 2, 1) / scale[:, :, None, None]  # N R 3 H
        residuals = at.residuals.reshape(12, chunks).T / scale
        now, centre = positions.permute(2, 1, 0), prior.centre.permute(2, 1, 0)  # N 3 H
        base, free = centre, torch.ones_like(now)
        moved = base
        for _ in range(1 if model.absolute else self.passes):
            flat = (slopes * free[:, None]).reshape(chunks, 12, -1)
            spread = ((slopes * free[:, None]) @ prior.covariance * free[:, None]).view(chunks, 12, -1)
            ahead = residuals + (slopes.reshape(chunks, 12, -1) @ (base - now).reshape(chunks, -1, 1))[..., 0]
            normal = (spread @ flat.mT).double() + torch.eye(12, dtype=torch.float64, device=flat.device)
            weights = torch.cholesky_solve(ahead.double()[..., None], torch.linalg.cholesky(normal)).to(flat)
            moved = base - (spread.mT @ weights).view_as(base)
            free = free * (moved.abs() <= limit)
            base = torch.where(free == 0, moved.clamp(-limit, limit), centre)
        return moved.clamp(-limit, limit).permute(2, 1, 0)

    def _prior(self, model: DynamicsModel, task: Reaching) -> _Prior:
        """The chunk that smoothness and nearness alone would take, and how freely it may be left."""
        horizon = len(task.seed)
        identity = torch.eye(horizon, dtype=torch.float64)
        difference = identity - torch.diag(torch.ones(horizon - 1, dtype=torch.float64), -1)
        if model.absolute:  # increments are differences already
            difference = difference @ difference
        unit = 1.0 if model.absolute else model.action_spec.position_scale_m
        late = torch.arange(horizon) >= task.action_horizon
        near = torch.where(late, self.late_nearness, self.nearness).double() * unit**2
        smooth = self.smoothness * unit**2 * difference.T @ difference
        covariance = torch.linalg.inv(smooth + torch.diag(near))
        to_demonstrated, to_seed = (covariance @ smooth).to(task.seed), (covariance * near).to(task.seed)
        centre = torch.einsum("hk,kcn->hcn", to_demonstrated, task.demonstrated)
        centre = centre + torch.einsum("hk,kcn->hcn", to_seed, task.seed[:, :3])
        return _Prior(centre, covariance.to(task.seed))


class _Prior(NamedTuple):
    centre: Float[Tensor, "H 3 N"]
    covariance: Float[Tensor, "H H"]
    """Of each axis."""

    def part(self, rows: Int64[Tensor, " n"]) -> _Prior:
        """Of some chunks."""
        return _Prior(self.centre[..., rows], self.covariance)


class _Residuals(NamedTuple):
    residuals: Float[Tensor, "2 6 N"]
    """At `T_a` and at `T_p`: position, metres, and velocity, metres per step."""
    slopes: Float[Tensor, "12 H 3 N"]
    """Their derivatives by the position commands."""


def linearised(model: DynamicsModel, task: Reaching, positions: Float[Tensor, "H 3 N"]) -> _Residuals:
    """Where a rollout misses its targets, and how each command changes that."""
    steps: list[Linearised] = []
    ends: list[Tensor] = []
    state, horizons = task.start, task.horizons
    velocity = model.predicted
    for step, command in enumerate(task.told(positions), start=1):
        state, kept = model.linearised(state, command)
        steps.append(kept)
        if step in horizons:
            ends.append(state)
    residuals = _missed(model, task, torch.stack(ends if len(ends) == 2 else ends * 2))
    ones = torch.zeros(len(state), 6, state.shape[1], dtype=state.dtype, device=state.device)
    for row, place in enumerate((0, 1, 2, velocity, velocity + 1, velocity + 2)):
        ones[place, row] = 1.0
    slopes = torch.zeros(12, len(steps), 3, state.shape[1], dtype=state.dtype, device=state.device)
    gradient = ones  # of the residuals at T_p; those at T_a join where they begin
    for step in range(len(steps), 0, -1):
        if step == horizons[0] != horizons[1]:
            gradient = torch.cat([ones, gradient], dim=1)
        gradient, by_command = model.pulled_back(gradient, steps[step - 1])
        slopes[12 - by_command.shape[1] :, step - 1] = by_command.transpose(0, 1)
    if horizons[0] == horizons[1]:
        slopes[:6] = slopes[6:]
    return _Residuals(residuals, slopes)


def _missed(model: DynamicsModel, task: Reaching, ends: Float[Tensor, "2 S N"]) -> Float[Tensor, "2 6 N"]:
    """By how much positions and velocities are off."""
    velocity = slice(model.predicted, model.predicted + 3)
    return torch.cat([ends[:, :3] - task.targets, ends[:, velocity] - task.velocities], dim=1)


def _cost(residuals: Float[Tensor, "2 6 N"]) -> Float[Tensor, " N"]:
    """The paper's `J`."""
    return residuals[:, :3].square().sum((0, 1))
