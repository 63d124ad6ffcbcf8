"""H-SIDO: bend a chunk so that the hand arrives where the displaced object is.

Both morphs add `delta` to the commanded end-effector at `T_a` (where the policy re-plans) and at `T_p` (where the chunk
ends), and so keep the offset from hand to object at both: `r_t(T_a)` and `r_t(T_p)`. Positions are the first three
numbers of an action; rotation and gripper pass through bit for bit, and so does every row whose `delta` is zero.
"""

from __future__ import annotations

import functools
import math
from typing import cast

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from sido.errors import DataError, SettingError

__all__ = ["EPSILON_M", "displaced", "has_path", "morph_absolute", "morph_relative"]

EPSILON_M = 1e-6
"""A commanded path shorter than this (a micrometre) has no shape to keep: the paper's epsilon, in metres."""


def morph_absolute(
    chunk: Float[Tensor, "B H A"], delta: Float[Tensor, "B 3"], action_horizon: int
) -> Float[Tensor, "B H A"]:
    """Shift waypoint `k` of each chunk by `rho_k delta`, with `rho_k = min(k, T_a - 1) / (T_a - 1)` (Eq. 4).

    The first waypoint stays, the waypoint that is reached at `T_a` (number `T_a - 1`) and all after it move by
    `delta`, metres in the frame of the actions.
    """
    _check(chunk, delta, action_horizon, shortest=2)
    wide = _wide(chunk, delta)
    steps = torch.arange(1, chunk.shape[1], dtype=wide, device=chunk.device)
    ramp = (steps / (action_horizon - 1)).clamp_(max=1.0)
    morphed = chunk.clone()
    morphed[:, 1:, :3].addcmul_(ramp[:, None], _addend(delta.to(wide))[:, None])
    return morphed


def morph_relative(
    chunk: Float[Tensor, "B H A"],
    delta: Float[Tensor, "B 3"],
    action_horizon: int,
    *,
    metres_per_unit: float,
    gain: float = 1.0,
    epsilon_m: float = EPSILON_M,
) -> Float[Tensor, "B H A"]:
    """Spread `delta` over the first `T_a` increments, each in proportion to its length.

    The appendix ramps the path `c_k = sum_{j<k} a_j` by arc length, `rho_k = min(l_k / l_{T_a}, 1)` with
    `l_k = sum_{j<k} |a_j|`, and differences it back. The sum cancels, which leaves a form that never rounds through
    a running sum:

        (c_{k+1} + rho_{k+1} delta) - (c_k + rho_k delta) = a_k + (rho_{k+1} - rho_k) delta

        rho_{k+1} - rho_k = |a_k| / l_{T_a}   for k < T_a,   else 0

    Increments are in units of `metres_per_unit`, `delta` in metres. `gain` is the realised over the commanded
    displacement (`estimate_gain`): a re-anchored controller realises only that share of a sum of increments, so
    `delta / gain` is commanded. A gain of 1 is the paper's literal setting. A chunk whose commanded path to `T_a` is
    shorter than `epsilon_m` metres is returned as it is.
    """
    _check(chunk, delta, action_horizon, shortest=1)
    for name, value in (("metres_per_unit", metres_per_unit), ("gain", gain)):
        if not (math.isfinite(value) and value > 0):
            raise SettingError("not a usable number", field=name, found=value, expected="a finite number above 0")
    lengths = _step_lengths(chunk, action_horizon)
    total = lengths.sum(1, keepdim=True)
    moves = total >= epsilon_m / metres_per_unit
    # Where a row is kept, 1 stands for its length: a division by zero would poison the gradient of the others.
    shares = lengths / torch.where(moves, total, 1.0)
    commanded = torch.where(moves, delta.to(_wide(chunk, delta)) / (metres_per_unit * gain), 0.0)
    morphed = chunk.clone()
    morphed[:, :action_horizon, :3].addcmul_(shares[:, :, None], _addend(commanded)[:, None])
    return morphed


def has_path(
    chunk: Float[Tensor, "B H A"], action_horizon: int, *, metres_per_unit: float, epsilon_m: float = EPSILON_M
) -> Bool[Tensor, " B"]:
    """Which chunks `morph_relative` bends: their increments up to `T_a` command a path of `epsilon_m` or more."""
    return _step_lengths(chunk, action_horizon).sum(1) >= epsilon_m / metres_per_unit


def displaced(position: Float[Tensor, "..."], shift: Float[Tensor, "..."]) -> Float[Tensor, "..."]:
    """`position + shift`, in the type of `position`, and `position` to the bit wherever the shift is zero."""
    return (position + _addend(shift)).to(position.dtype)


def _addend(shift: Tensor) -> Tensor:
    """The shift with its zeros negative: `x + (-0.0)` is `x` to the bit, where `-0.0 + 0.0` is `+0.0`."""
    return -(0.0 - shift)


def _step_lengths(chunk: Tensor, action_horizon: int) -> Float[Tensor, "B T_a"]:
    """How far each of the first `T_a` increments goes, in the units of the actions."""
    increments = chunk[:, :action_horizon, :3]
    lengths = torch.linalg.vector_norm(increments, dim=-1, dtype=_wide(chunk))
    return cast(Tensor, lengths)


def _wide(*tensors: Tensor) -> torch.dtype:
    """What a morph computes in: half precision is summed and shifted in float32, and rounded once, at the end."""
    return functools.reduce(torch.promote_types, (tensor.dtype for tensor in tensors), torch.float32)


def _check(chunk: Tensor, delta: Tensor, action_horizon: int, *, shortest: int) -> None:
    for name, tensor in (("chunk", chunk), ("delta", delta)):
        if not tensor.is_floating_point():
            raise DataError("not floating point", field=name, found=tensor.dtype, expected="a float tensor")
    if chunk.ndim != 3 or chunk.shape[2] < 3:
        raise DataError("wrong shape", field="chunk", found=list(chunk.shape), expected="[B, H, A], A at least 3")
    if delta.shape != (chunk.shape[0], 3):
        raise DataError("wrong shape", field="delta", found=list(delta.shape), expected=[chunk.shape[0], 3])
    if delta.device != chunk.device:
        raise DataError("on another device than the chunk", field="delta", found=delta.device, expected=chunk.device)
    if not shortest <= action_horizon <= chunk.shape[1]:
        raise SettingError(
            "the action horizon does not fit the chunk",
            field="action_horizon",
            found=action_horizon,
            expected=f"{shortest} to {chunk.shape[1]}",
        )
