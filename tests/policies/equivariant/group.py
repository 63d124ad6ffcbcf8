"""Turning by elements of C8, spelled out: what the tests hold the layers against."""

from __future__ import annotations

import numpy as np
import torch
from torch import Tensor

from sido.policies.equivariant.representation import Representation

ORDER = 8


def planar(element: int, *, dtype: torch.dtype = torch.float32) -> Tensor:
    """The matrix of a turn by `element` eighths about the vertical."""
    angle = element * np.pi / 4
    rows = [[np.cos(angle), -np.sin(angle), 0.0], [np.sin(angle), np.cos(angle), 0.0], [0.0, 0.0, 1.0]]
    return torch.tensor(rows, dtype=dtype)


def turned_point(point: Tensor, element: int, axis: tuple[float, float] = (0.0, 0.0)) -> Tensor:
    foot = torch.tensor([*axis, 0.0], dtype=point.dtype)
    return (point - foot) @ planar(element, dtype=point.dtype).T + foot


def turned_rot6d(rot6d: Tensor, element: int) -> Tensor:
    """The first two rows of `Rz R`."""
    rows = rot6d.unflatten(-1, (2, 3))
    third = torch.linalg.cross(rows[..., 0, :], rows[..., 1, :])[..., None, :]
    turned = planar(element, dtype=rot6d.dtype) @ torch.cat([rows, third], dim=-2)
    return turned[..., :2, :].flatten(-2)


def turned_fields(fields: Tensor, element: int, *, dim: int) -> Tensor:
    """`field[h]` becomes `field[h - g]`."""
    return fields.roll(element, dims=dim)


def averaged(matrix: Tensor, into: list[Tensor], out: list[Tensor]) -> Tensor:
    """The equivariant linear map beside any linear map: the mean over the group of `out[g]^-1 M into[g]`."""
    each = [torch.linalg.solve(after, matrix @ before) for before, after in zip(into, out, strict=True)]
    return torch.stack(each).mean(dim=0)


def equivariant_maps(into: list[Tensor], out: list[Tensor]) -> int:
    """How many linearly independent equivariant maps there are: the trace of the averaging."""
    traces = [
        torch.trace(before) * torch.trace(torch.linalg.inv(after)) for before, after in zip(into, out, strict=True)
    ]
    return round(float(torch.stack(traces).mean()))


def matrices(representation: Representation) -> list[Tensor]:
    return list(representation.turns.double())


def field_matrices(fields: int) -> list[Tensor]:
    """Of `[8, fields]` numbers, flattened."""
    eye = torch.eye(ORDER * fields, dtype=torch.float64)
    unrolled = eye.unflatten(0, (ORDER, fields))
    return [unrolled.roll(element, dims=0).flatten(0, 1) for element in range(ORDER)]


def direct_sum(*parts: list[Tensor]) -> list[Tensor]:
    return [torch.block_diag(*each) for each in zip(*parts, strict=True)]


def trivial(size: int) -> list[Tensor]:
    return [torch.eye(size, dtype=torch.float64)] * ORDER
