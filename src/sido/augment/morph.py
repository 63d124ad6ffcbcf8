"""H-SIDO: bend a chunk so that the hand arrives where the displaced object is.

Both morphs add `delta` to the commanded end-effector at `T_a` (where the policy re-plans) and at `T_p` (where the chunk
ends), and so keep the offset from hand to object at both: `r_t(T_a)` and `r_t(T_p)`. Positions are the first three
numbers of an action; rotation and gripper pass through bit for bit, and so does every row whose `delta` is zero.
"""

from __future__ import annotations

import functools
import math
from typing import NamedTuple, cast

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from sido.errors import DataError, SettingError

__all__ = [
    "EPSILON_M",
    "PathShares",
    "addend",
    "morph_absolute",
    "morph_relative",
    "path_shares",
    "shift_waypoints",
    "stretch_path",
]

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
    return shift_waypoints(chunk, addend(delta.to(_wide(chunk, delta))), action_horizon)


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
    for name, value in (("metres_per_unit", metres_per_unit), ("gain", gain), ("epsilon_m", epsilon_m)):
        if not (math.isfinite(value) and value > 0):
            raise SettingError("not a usable number", field=name, found=value, expected="a finite number above 0")
    path = path_shares(chunk, action_horizon, metres_per_unit=metres_per_unit, epsilon_m=epsilon_m)
    commanded = torch.where(path.bends[:, None], delta.to(_wide(chunk, delta)) / (metres_per_unit * gain), 0.0)
    return stretch_path(chunk, path.shares, addend(commanded))


class PathShares(NamedTuple):
    """The first `T_a` increments of chunks, as parts of the path that they command."""

    shares: Float[Tensor, "B T_a"]
    """`|a_k| / l_{T_a}`."""
    bends: Bool[Tensor, " B"]
    """Whether the path is `epsilon_m` long or longer, and finite, so that there is something to bend."""


def path_shares(
    chunk: Float[Tensor, "B H A"], action_horizon: int, *, metres_per_unit: float, epsilon_m: float = EPSILON_M
) -> PathShares:
    """How the increments up to `T_a` share their path's length."""
    increments = chunk[:, :action_horizon, :3]
    lengths = cast(Tensor, torch.linalg.vector_norm(increments, dim=-1, dtype=_wide(chunk)))
    total = lengths.sum(1, keepdim=True)
    bends = (total >= epsilon_m / metres_per_unit).logical_and_(total.isfinite())
    # Where a row is kept, 1 stands for its length: a division by zero would poison the gradient of the others.
    return PathShares(torch.where(bends, lengths, 0.0) / torch.where(bends, total, 1.0), bends[:, 0])


# The two below are the morphs without their checks. Their shift is an `addend`.


def shift_waypoints(
    chunk: Float[Tensor, "B H A"], shift: Float[Tensor, "B 3"], action_horizon: int
) -> Float[Tensor, "B H A"]:
    """`morph_absolute` by a displacement in metres."""
    ramp = [min(k, action_horizon - 1) / (action_horizon - 1) for k in range(1, chunk.shape[1])]
    steps = torch.tensor(ramp, dtype=shift.dtype, device=shift.device)
    morphed = chunk.clone()
    morphed[:, 1:, :3].addcmul_(steps[:, None], shift[:, None])
    return morphed


def stretch_path(
    chunk: Float[Tensor, "B H A"], shares: Float[Tensor, "B T_a"], shift: Float[Tensor, "B 3"]
) -> Float[Tensor, "B H A"]:
    """`morph_relative` by a displacement in units of the actions."""
    morphed = chunk.clone()
    morphed[:, : shares.shape[1], :3].addcmul_(shares[:, :, None], shift[:, None])
    return morphed


def addend(shift: Tensor) -> Tensor:
    """The shift with its zeros negative: `x + (-0.0)` is `x` to the bit, where `-0.0 + 0.0` is `+0.0`."""
    return -(0.0 - shift)


def _wide(*tensors: Tensor) -> torch.dtype:
    """What a morph computes in: half precision is summed and shifted in float32, and rounded once, at the end."""
    return functools.reduce(torch.promote_types, (tensor.dtype for tensor in tensors), torch.float32)


def _require_tensor(name: str, value: object) -> None:
    if not isinstance(value, Tensor):
        raise DataError("not a tensor", field=name, found=type(value).__name__, expected="a float tensor")


def _check(chunk: Tensor, delta: Tensor, action_horizon: int, *, shortest: int) -> None:
    for name, tensor in (("chunk", chunk), ("delta", delta)):
        _require_tensor(name, tensor)
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
