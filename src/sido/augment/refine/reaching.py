"""What a refinement is given: where hands are, what they were told, and where the displaced object wants them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float, Int64
from torch import Tensor

from sido.augment.dynamics.model import DynamicsModel
from sido.errors import DataError, SettingError

__all__ = ["Reaching", "finite", "reached", "reaching_cost"]


@final
@dataclass(frozen=True, eq=False)
class Reaching:
    """`N` chunks to be refined; metres, base frame. Samples come last, as in `DynamicsModel`."""

    start: Float[Tensor, "S N"]
    """The robot's state at `t`."""
    seed: Float[Tensor, "H C N"]
    """H-SIDO's chunk, as the model takes commands."""
    demonstrated: Float[Tensor, "H 3 N"]
    """Position commands before the displacement."""
    displacement: Float[Tensor, "3 N"]
    """`delta`."""
    targets: Float[Tensor, "2 3 N"]
    """`p_{t+T_a} + delta` and `p_{t+T_p} + delta`, where the demonstrated hand went."""
    velocities: Float[Tensor, "2 3 N"]
    """How fast the demonstrated hand went there: metres per step."""
    action_horizon: int

    def __post_init__(self) -> None:
        if not 1 <= self.action_horizon <= len(self.seed):
            raise SettingError(
                "the action horizon does not fit the chunk",
                field="action_horizon",
                found=self.action_horizon,
                expected=f"1 to {len(self.seed)}",
            )

    def __len__(self) -> int:
        return self.seed.shape[2]

    @property
    def horizons(self) -> tuple[int, int]:
        """`T_a` and `T_p`."""
        return self.action_horizon, len(self.seed)

    def part(self, rows: Int64[Tensor, " n"]) -> Reaching:
        """Some of them."""
        return self._map(lambda tensor: tensor[..., rows])

    def repeated(self, times: int) -> Reaching:
        """Each of them so often, one after another."""
        return self._map(lambda tensor: tensor.repeat_interleave(times, dim=-1))

    def _map(self, change: Callable[[Tensor], Tensor]) -> Reaching:
        tensors = {
            field.name: change(value)
            for field in dataclasses.fields(self)
            if isinstance(value := getattr(self, field.name), Tensor)
        }
        return dataclasses.replace(self, **tensors)

    def told(self, positions: Float[Tensor, "H 3 N"]) -> Float[Tensor, "H C N"]:
        """The seed with other position commands: rotation and gripper stay as demonstrated."""
        return torch.cat([positions, self.seed[:, 3:]], dim=1)


def reaching_cost(model: DynamicsModel, task: Reaching, positions: Float[Tensor, "H 3 N"]) -> Float[Tensor, " N"]:
    """The paper's `J`: squared distances from the targets at `T_a` and at `T_p` of the rollout, summed; m^2.

    Raises:
        DataError: one is not finite.
    """
    return finite((reached(model, task, positions)[:, :3] - task.targets).square().sum((0, 1)))


def reached(model: DynamicsModel, task: Reaching, positions: Float[Tensor, "H 3 N"]) -> Float[Tensor, "2 S N"]:
    """The states at `T_a` and at `T_p`."""
    action_horizon, horizon = task.horizons
    states = model.reached(task.start, positions, task.seed[:, 3:], sorted({action_horizon, horizon}))
    return states if len(states) == 2 else states.repeat(2, 1, 1)


def finite(cost: Float[Tensor, " N"]) -> Float[Tensor, " N"]:
    """The cost, if it is a number everywhere.

    Raises:
        DataError: it is not.
    """
    broken = ~torch.isfinite(cost)
    if bool(broken.any()):
        chunk = int(broken.nonzero()[0])
        raise DataError(
            "the dynamics model foretells no finite path",
            field=f"cost of chunk {chunk}",
            found=float(cost[chunk]),
            expected="a finite number",
            fix="fit the model again (fewer updates, a lower learning rate), or look for wild actions in the data",
        )
    return cost
