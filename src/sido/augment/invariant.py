"""The invariant that a counterfactual keeps: where the hand is, seen from the object."""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float
from torch import Tensor

from sido.demos.chunks import ChunkBatch
from sido.errors import DataError, SettingError

__all__ = ["HandObjectOffset", "commanded_path", "hand_object_offset", "invariant_residual"]


@dataclass(frozen=True, eq=False)
class HandObjectOffset:
    """`r_t(k) = p_{t+k} - P_{t+k}` on commanded waypoints, metres, at the two horizons that matter."""

    at_action_horizon: Float[Tensor, "B 3"]
    """`r_t(T_a)`: when the policy re-plans."""
    at_prediction_horizon: Float[Tensor, "B 3"]
    """`r_t(T_p)`: when the chunk ends."""


def commanded_path(batch: ChunkBatch, *, relative_gain: float = 1.0) -> Float[Tensor, "B H 3"]:
    """Where each chunk sends the hand: `p_{t+1} .. p_{t+H}`, metres.

    Absolute actions are these waypoints. Relative ones add up to them from the hand's observed position,
    `p_{t+k} = p_t + gain * metres_per_unit * sum_{j<k} a_{t+j}`, with `relative_gain` the share of a command that
    the arm realises (1: taken at their word).
    """
    commands = batch.actions[..., :3].to(torch.promote_types(batch.actions.dtype, torch.float32))
    if batch.action_spec.kind == "absolute":
        return commands
    if "eef_position" not in batch.observations:
        raise DataError(
            "the path of relative actions starts at the hand, whose position the batch lacks",
            field="observations",
            found=sorted(batch.observations),
            expected="eef_position among them",
        )
    start = batch.observations["eef_position"][:, -1:]
    return start + commands.cumsum(1) * (batch.action_spec.position_scale_m * relative_gain)


def hand_object_offset(batch: ChunkBatch, action_horizon: int, *, relative_gain: float = 1.0) -> HandObjectOffset:
    """`r_t(T_a)` and `r_t(T_p)`, with the object where the pose channel has it (before the grasp it stands still)."""
    path = commanded_path(batch, relative_gain=relative_gain)
    if not 1 <= action_horizon <= path.shape[1]:
        raise SettingError(
            "the action horizon does not fit the chunk",
            field="action_horizon",
            found=action_horizon,
            expected=f"1 to {path.shape[1]}",
        )
    target = batch.object_position[:, -1]
    return HandObjectOffset(path[:, action_horizon - 1] - target, path[:, -1] - target)


def invariant_residual(
    before: ChunkBatch, after: ChunkBatch, action_horizon: int, *, relative_gain: float = 1.0
) -> HandObjectOffset:
    """By how much an augmentation changed `r_t(T_a)` and `r_t(T_p)`, metres: zero, up to rounding."""
    old = hand_object_offset(before, action_horizon, relative_gain=relative_gain)
    new = hand_object_offset(after, action_horizon, relative_gain=relative_gain)
    return HandObjectOffset(
        new.at_action_horizon - old.at_action_horizon, new.at_prediction_horizon - old.at_prediction_horizon
    )
