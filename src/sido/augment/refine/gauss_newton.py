"""The fast refinement: a few Gauss-Newton steps through the differentiable model."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, NamedTuple, final

import torch
from jaxtyping import Bool, Float, Int64
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
    - differs from the demonstration smoothly, and from the seed a little.

    With `r` the twelve residuals, `J` their derivatives by the commands, a step solves in closed form

        min_u'  |W (r + J (u' - u))|^2 + smoothness |D (u' - demonstrated)|^2 + |w (u' - seed)|^2
        u' = c - S J^T (J S J^T + W^-2)^-1 (r + J (c - u))

    with `c` and `S` the mean and the covariance that the last two terms stand for.

    A controller is so nearly linear that the derivatives from the middle of the demonstrations serve all chunks: the
    same `J`, so that `S J^T (J S J^T + W^-2)^-1` is one matrix. Two or three such steps bring most chunks to their
    targets, at the price of a rollout each. The others (a step that did not lower the paper's cost, relative commands
    that would leave their range) get derivatives of their own, where they are then, from a pass back through the model
    for all twelve residuals; later steps go on with these. A step that does not lower the cost is not taken, and the
    next one takes the residuals ten times less seriously: it stays nearer to the seed. So the result is never worse
    than that. Relative commands are kept within their range.
    """

    kind: ClassVar[str] = "gauss-newton"

    shared_iterations: int = 4
    """Steps with the derivatives that all chunks share, at most: most chunks are there after two or three."""
    iterations: int = 6
    """Steps with a chunk's own derivatives, at most."""
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
    late_nearness: float = 0.01
    """... and from then on."""
    chunks_at_once: int = 1024
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
        shared = self._shared(model, task)
        parts = [
            self._refined(model, task.part(rows), shared) for rows in torch.arange(len(task)).split(self.chunks_at_once)
        ]
        return Refined(
            torch.cat([part.positions for part in parts], dim=2),
            torch.cat([part.cost for part in parts]),
            torch.cat([part.seed_cost for part in parts]),
        )

    def _refined(self, model: DynamicsModel, task: Reaching, shared: _Shared) -> Refined:
        prior = self._prior(model, task)
        positions = task.seed[:, :3].clone()
        residuals = missed(model, task, positions)
        cost = finite(_cost(residuals))
        best = _Best(positions, residuals, cost)
        seed_cost = cost.clone()
        moves = (task.displacement != 0).any(dim=0)
        self._shared_steps(model, task, shared, prior, best, (moves & self._far(cost)).nonzero()[:, 0])
        self._own_steps(model, task, prior, best, (moves & self._far(cost)).nonzero()[:, 0])
        return Refined(positions, cost, seed_cost)

    def _far(self, cost: Float[Tensor, " N"]) -> Bool[Tensor, " N"]:
        return cost > self.enough_m**2

    def _shared(self, model: DynamicsModel, task: Reaching) -> _Shared:
        """What the steps that all chunks share are made of."""
        slopes = typical_slopes(model, task).double().flatten(1)
        scale = self._scale(slopes)
        slopes = slopes / scale[:, None]
        covariance, _, _ = self._covariance(model, task)
        spread = slopes @ torch.kron(covariance.contiguous(), torch.eye(3).to(covariance))
        inner = spread @ slopes.T + torch.eye(12).to(slopes)
        back = torch.cholesky_solve(spread, torch.linalg.cholesky(inner)).T
        return _Shared(scale.to(task.seed), slopes.to(task.seed), back.to(task.seed))

    def _shared_steps(
        self,
        model: DynamicsModel,
        task: Reaching,
        shared: _Shared,
        prior: _Prior,
        best: _Best,
        rows: Int64[Tensor, " n"],
    ) -> None:
        """Steps of some chunks with the derivatives that all share, as long as they gain."""
        for _ in range(self.shared_iterations):
            if len(rows) == 0:
                return
            centre = prior.centre[..., rows].flatten(0, 1)
            ahead = best.residuals[..., rows].flatten(0, 1) / shared.scale[:, None]
            ahead.addmm_(shared.slopes, centre - best.positions[..., rows].flatten(0, 1))
            tried = torch.addmm(centre, shared.back, ahead, alpha=-1).view(len(task.seed), 3, -1)
            if not model.absolute:  # a command beyond its range: the others have to make up for it
                within = (tried.abs() <= 1).flatten(0, 1).all(dim=0)
                rows, tried = rows[within], tried[..., within]
            gained = best.improve(rows, tried, missed(model, task.part(rows), tried))
            rows = rows[gained]
            rows = rows[self._far(best.cost[rows])]

    def _own_steps(
        self, model: DynamicsModel, task: Reaching, prior: _Prior, best: _Best, rows: Int64[Tensor, " n"]
    ) -> None:
        """Steps of some chunks with derivatives of their own."""
        if len(rows) == 0:
            return
        slopes = linearised(model, task.part(rows), best.positions[..., rows]).slopes
        ease = torch.ones_like(best.cost[rows])
        for _ in range(self.iterations):
            at = _Residuals(best.residuals[..., rows], slopes)
            tried = self._step(model, prior.part(rows), at, best.positions[..., rows], ease)
            gained = best.improve(rows, tried, missed(model, task.part(rows), tried))
            ease = torch.where(gained, ease, 10 * ease)
            kept = self._far(best.cost[rows]).nonzero()[:, 0]
            if len(kept) == 0:
                return
            rows, slopes, ease = rows[kept], slopes[..., kept], ease[kept]

    def _scale(self, like: Tensor) -> Float[Tensor, "12"]:
        """`W^-1`."""
        return torch.tensor([self.position_m] * 3 + [self.velocity_m] * 3).to(like).repeat(2)

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
        chunks, numbers = positions.shape[2], positions.dtype
        now, centre = positions.double().permute(2, 1, 0), prior.centre.double().permute(2, 1, 0)  # N 3 H
        scale = ease.double()[:, None] * self._scale(now)  # N R
        slopes = at.slopes.double().permute(3, 0, 2, 1) / scale[:, :, None, None]  # N R 3 H
        residuals = at.residuals.double().reshape(12, chunks).T / scale
        base, free = centre, torch.ones_like(now)
        moved = base
        for _ in range(1 if model.absolute else self.passes):
            flat = (slopes * free[:, None]).reshape(chunks, 12, -1)
            spread = ((slopes * free[:, None]) @ prior.covariance * free[:, None]).view(chunks, 12, -1)
            ahead = residuals + (slopes.reshape(chunks, 12, -1) @ (base - now).reshape(chunks, -1, 1))[..., 0]
            normal = spread @ flat.mT + torch.eye(12).to(flat)
            weights = torch.cholesky_solve(ahead[..., None], torch.linalg.cholesky(normal))
            moved = base - (spread.mT @ weights).view_as(base)
            free = free * (moved.abs() <= limit)
            base = torch.where(free == 0, moved.clamp(-limit, limit), centre)
        return moved.clamp(-limit, limit).permute(2, 1, 0).to(numbers)

    def _prior(self, model: DynamicsModel, task: Reaching) -> _Prior:
        """The chunk that smoothness and nearness alone would take, and how freely it may be left."""
        covariance, smooth, near = self._covariance(model, task)
        to_demonstrated, to_seed = (covariance @ smooth).to(task.seed), (covariance * near).to(task.seed)
        centre = to_demonstrated @ task.demonstrated.flatten(1) + to_seed @ task.seed[:, :3].flatten(1)
        return _Prior(centre.view_as(task.demonstrated), covariance)

    def _covariance(self, model: DynamicsModel, task: Reaching) -> tuple[Tensor, Tensor, Tensor]:
        """Of each axis, in double precision; and the weights of smoothness and of nearness that it comes from."""
        horizon = len(task.seed)
        identity = torch.eye(horizon, dtype=torch.float64)
        difference = identity - torch.diag(torch.ones(horizon - 1, dtype=torch.float64), -1)
        if model.absolute:  # increments are differences already
            difference = difference @ difference
        unit = 1.0 if model.absolute else model.action_spec.position_scale_m
        late = torch.arange(horizon) >= task.action_horizon
        near = torch.where(late, self.late_nearness, self.nearness).double() * unit**2
        smooth = self.smoothness * unit**2 * difference.T @ difference
        return torch.linalg.inv(smooth + torch.diag(near)), smooth, near


class _Shared(NamedTuple):
    """A step with the derivatives that all chunks share."""

    scale: Float[Tensor, "12"]
    """`W^-1`."""
    slopes: Float[Tensor, "12 H*3"]
    """`W J`."""
    back: Float[Tensor, "H*3 12"]
    """From weighted residuals to commands."""


class _Prior(NamedTuple):
    centre: Float[Tensor, "H 3 N"]
    covariance: Float[Tensor, "H H"]
    """Of each axis; in double precision."""

    def part(self, rows: Int64[Tensor, " n"]) -> _Prior:
        """Of some chunks."""
        return _Prior(self.centre[..., rows], self.covariance)


class _Best(NamedTuple):
    """The best chunks so far; written to in place."""

    positions: Float[Tensor, "H 3 N"]
    residuals: Float[Tensor, "2 6 N"]
    cost: Float[Tensor, " N"]

    def improve(
        self, rows: Int64[Tensor, " n"], tried: Float[Tensor, "H 3 n"], residuals: Float[Tensor, "2 6 n"]
    ) -> Bool[Tensor, " n"]:
        """Take those of the chunks tried that cost less, and say which.

        Raises:
            DataError: one costs no number.
        """
        cost = finite(_cost(residuals))
        gained = cost < self.cost[rows]
        won = rows[gained]
        self.positions[..., won], self.residuals[..., won] = tried[..., gained], residuals[..., gained]
        self.cost[won] = cost[gained]
        return gained


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
    for step, command in enumerate(task.told(positions), start=1):
        state, kept = model.linearised(state, command)
        steps.append(kept)
        if step in horizons:
            ends.append(state)
    residuals = _missed(model, task, torch.stack(ends if len(ends) == 2 else ends * 2))
    return _Residuals(residuals, _slopes(model, steps, horizons))


def typical_slopes(model: DynamicsModel, task: Reaching) -> Float[Tensor, "12 H 3"]:
    """The derivatives of the residuals where every step is one from the middle of the demonstrations."""
    return _slopes(model, [model.typical()] * len(task.seed), task.horizons)[..., 0]


def _slopes(model: DynamicsModel, steps: list[Linearised], horizons: tuple[int, int]) -> Float[Tensor, "12 H 3 N"]:
    """From a pass back through the steps."""
    chunks, velocity = steps[0].slopes[0].shape[1], model.predicted
    ones = model.slope.new_zeros(model.states, 6, chunks)
    for row, place in enumerate((0, 1, 2, velocity, velocity + 1, velocity + 2)):
        ones[place, row] = 1.0
    slopes = ones.new_zeros(12, len(steps), 3, chunks)
    gradient = ones  # of the residuals at T_p; those at T_a join where they begin
    for step in range(len(steps), 0, -1):
        if step == horizons[0] != horizons[1]:
            gradient = torch.cat([ones, gradient], dim=1)
        gradient, by_command = model.pulled_back(gradient, steps[step - 1])
        slopes[12 - by_command.shape[1] :, step - 1] = by_command.transpose(0, 1)
    if horizons[0] == horizons[1]:
        slopes[:6] = slopes[6:]
    return slopes


def missed(model: DynamicsModel, task: Reaching, positions: Float[Tensor, "H 3 N"]) -> Float[Tensor, "2 6 N"]:
    """By how much positions and velocities of a rollout are off."""
    return _missed(model, task, reached(model, task, positions))


def _missed(model: DynamicsModel, task: Reaching, ends: Float[Tensor, "2 S N"]) -> Float[Tensor, "2 6 N"]:
    velocity = slice(model.predicted, model.predicted + 3)
    return torch.cat([ends[:, :3] - task.targets, ends[:, velocity] - task.velocities], dim=1)


def _cost(residuals: Float[Tensor, "2 6 N"]) -> Float[Tensor, " N"]:
    """The paper's `J`."""
    return residuals[:, :3].square().sum((0, 1))
