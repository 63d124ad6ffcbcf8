"""DynaSIDO chunks of one demonstration: displacements drawn, H-SIDO's seeds, refined under the robot's dynamics."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple, final

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from sido.arrays import Array
from sido.augment.counterfactual import Counterfactual
from sido.augment.displacement import planar_displacement
from sido.augment.dynamics.model import DynamicsModel
from sido.augment.dynamics.motion import RobotMotion
from sido.augment.morph import morph_absolute, morph_relative, path_shares
from sido.augment.refine import GaussNewton, Heuristic, Mppi, Reaching
from sido.demos.demo import Demo
from sido.errors import SettingError

__all__ = ["REFINERS", "AnyRefiner", "Generated", "GenerationSettings", "eligible_range", "generate", "reaching"]

AnyRefiner = Heuristic | Mppi | GaussNewton

REFINERS: dict[str, type[AnyRefiner]] = {refiner.kind: refiner for refiner in (Heuristic, Mppi, GaussNewton)}
"""By the name that `--generator` takes."""


@final
@dataclass(frozen=True)
class GenerationSettings:
    """All that decides which chunks are generated, beside the demonstrations and the dynamics model."""

    counterfactual: Counterfactual = field(default_factory=Counterfactual)
    """How objects are displaced and seeds made; its static ratio plays no part here."""
    refiner: AnyRefiner = field(default_factory=GaussNewton)
    displacements: int = 4
    """Of each chunk."""
    anchored: bool = True
    """Whether the targets are displaced from where the model has the demonstrated chunk end, rather than from where it
    ended: what the model is off by with and without the displacement then cancels out. False is the paper's letter."""
    seed: int = 0

    def __post_init__(self) -> None:
        if self.displacements < 1:
            raise SettingError(
                "too few", field="GenerationSettings.displacements", found=self.displacements, expected="1 or more"
            )
        if not 0 <= self.seed < 2**62:
            raise SettingError("not a seed", field="GenerationSettings.seed", found=self.seed, expected="0 to 2^62")

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        return {
            "counterfactual": json.loads(self.counterfactual.to_json()),
            "refiner": {"kind": self.refiner.kind, **dataclasses.asdict(self.refiner)},
            "displacements": self.displacements,
            "anchored": self.anchored,
            "seed": self.seed,
        }


@final
@dataclass(frozen=True, eq=False)
class Generated:
    """The chunks of `n` eligible steps of a demonstration, `D` displacements each."""

    displacement: Float[Tensor, "n D 3"]
    """Zero where a relative chunk stands still up to `T_a`: as in `Counterfactual`, it stays as it is."""
    positions: Float[Tensor, "n D H 3"]
    """Position commands, in the units of the actions."""
    seed_cost: Float[Tensor, "n D"]
    cost: Float[Tensor, "n D"]
    """Of the paper's `J` under the model, m^2."""
    reach_m: Float[Tensor, "n D"]
    """How far, in x or y, a command lies from the demonstrated one at most: metres, by the gain that the seed has."""


class _Eligible(NamedTuple):
    first: int
    chunks: int


def eligible_range(demo: Demo, prediction_horizon: int) -> _Eligible:
    """The first step whose chunk may be displaced, and how many steps there are from there on."""
    steps = np.flatnonzero(demo.eligible_steps(prediction_horizon))
    return _Eligible(int(steps[0]) if len(steps) else 0, len(steps))


def generate(demo: Demo, index: int, model: DynamicsModel, settings: GenerationSettings) -> Generated:
    """Every eligible chunk of a demonstration, displaced and refined.

    Args:
        demo: Static.
        index: Its number: with the seed it decides the displacements.
        model: Fitted to demonstrations of the same robot and actions.
        settings: What to generate.

    Raises:
        DataError: the model is of another action spec; a cost that is not finite.
    """
    model.action_spec.require_same(demo.action_spec, here="the dynamics model", there=demo.name)
    counterfactual = settings.counterfactual
    first, count = eligible_range(demo, counterfactual.prediction_horizon)
    copies = settings.displacements
    state = np.random.SeedSequence([settings.seed, index]).generate_state(1, np.uint64)
    rng = torch.Generator().manual_seed(int(state[0]))
    draws = torch.rand(2, count * copies, generator=rng)
    steps = np.repeat(np.arange(first, first + count), copies)
    delta = planar_displacement(draws[0], counterfactual.length.share(draws[1]) * counterfactual.longest_m)
    if count == 0:
        nothing = torch.zeros(0, copies)
        return Generated(
            torch.zeros(0, copies, 3),
            torch.zeros(0, copies, counterfactual.prediction_horizon, 3),
            nothing, nothing, nothing,
        )  # fmt: skip
    task = reaching(RobotMotion.of(demo), steps, delta, model, settings)
    refined = settings.refiner(model, task, rng)
    units_m = 1.0
    if not model.absolute:
        units_m = model.action_spec.position_scale_m * counterfactual.relative_gain
    return Generated(
        displacement=task.displacement.T.reshape(count, copies, 3),
        positions=refined.positions.permute(2, 0, 1).reshape(count, copies, -1, 3),
        seed_cost=refined.seed_cost.reshape(count, copies),
        cost=refined.cost.reshape(count, copies),
        reach_m=(refined.positions - task.demonstrated)[:, :2].abs().amax((0, 1)).view(count, copies) * units_m,
    )


def reaching(
    motion: RobotMotion,
    steps: Array,
    delta: Float[Tensor, "N 3"],
    model: DynamicsModel,
    settings: GenerationSettings,
) -> Reaching:
    """What a refinement is given, for chunks that start at `steps` and displacements of theirs."""
    counterfactual = settings.counterfactual
    horizon, action_horizon = counterfactual.prediction_horizon, counterfactual.action_horizon
    windows = steps[:, None] + np.arange(horizon)
    demonstrated = torch.tensor(motion.commands[windows]).float()
    spec = model.action_spec
    if spec.kind == "absolute":
        seed = morph_absolute(demonstrated, delta, action_horizon)
    else:
        scale_m, gain = spec.position_scale_m, counterfactual.relative_gain
        bends = path_shares(demonstrated, action_horizon, metres_per_unit=scale_m).bends
        delta = torch.where(bends[:, None], delta, 0.0)
        seed = morph_relative(demonstrated, delta, action_horizon, metres_per_unit=scale_m, gain=gain)
    start = _last(torch.tensor(motion.states[steps]).float())
    told = _last(demonstrated)
    horizons = np.array([action_horizon, horizon])
    reached = torch.tensor(motion.states[steps[:, None] + horizons]).float().permute(1, 2, 0)  # 2 S N
    if settings.anchored:
        reached = model.rollout(start, told)[horizons - 1]
    return Reaching(
        start=start,
        seed=_last(seed),
        demonstrated=told[:, :3].contiguous(),
        displacement=_last(delta),
        targets=reached[:, :3] + _last(delta),
        velocities=reached[:, model.predicted : model.predicted + 3].contiguous(),
        action_horizon=action_horizon,
    )


def _last(rows: Tensor) -> Tensor:
    """Samples last."""
    return rows.movedim(0, -1).contiguous()
