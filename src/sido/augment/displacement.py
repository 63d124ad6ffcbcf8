"""Where a counterfactual object goes: a draw in the table plane."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn import functional

__all__ = ["LENGTHS", "FixedLength", "Length", "UniformLength", "planar_displacement"]


@dataclass(frozen=True)
class FixedLength:
    """`|delta| = v T_p`, each time: the object always moves at the one speed (the paper's Method)."""

    kind: ClassVar[str] = "fixed"

    def share(self, uniform: Float[Tensor, " B"]) -> float:  # noqa: ARG002 - the other choice needs it
        """What share of the longest displacement each sample travels."""
        return 1.0


@dataclass(frozen=True)
class UniformLength:
    """`|delta|` uniform in `[0, v T_p)`: `v` is the highest of the speeds to come (appendix, varying velocity)."""

    kind: ClassVar[str] = "uniform"

    def share(self, uniform: Float[Tensor, " B"]) -> Float[Tensor, " B"]:
        """What share of the longest displacement each sample travels."""
        return uniform


Length = FixedLength | UniformLength
"""How far: the choices that a `Counterfactual` can be given."""

LENGTHS: dict[str, type[Length]] = {length.kind: length for length in (FixedLength, UniformLength)}
"""The same by the name that they have in a saved configuration."""


def planar_displacement(
    direction: Float[Tensor, " B"], distance_m: Float[Tensor, " B"] | float
) -> Float[Tensor, "B 3"]:
    """`delta = distance [cos theta, sin theta, 0]`, `theta = 2 pi direction`: uniform draws give every heading."""
    theta = direction * (2.0 * math.pi)
    distance = torch.as_tensor(distance_m, dtype=theta.dtype, device=theta.device).expand_as(theta)
    return functional.pad(torch.view_as_real(torch.polar(distance, theta)), (0, 1))
