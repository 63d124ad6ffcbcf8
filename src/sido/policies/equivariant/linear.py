"""Linear maps into fields and out of them, equivariant by construction.

A linear map into fields is equivariant if and only if it does the same from every direction: turn the input back by
each element, and apply one ordinary linear layer to all 8 views. Out of fields, the same the other way round: one
layer makes numbers of each direction's fields, which are turned forth and averaged.
"""

from __future__ import annotations

from typing import final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.policies.equivariant.representation import Representation

__all__ = ["FromFields", "ToFields", "Views"]


@final
class Views(nn.Module):
    """Numbers as they are seen from each direction: turned back by each element."""

    turns: Tensor

    def __init__(self, representation: Representation) -> None:
        super().__init__()
        self.register_buffer("turns", representation.turns, persistent=False)

    def forward(self, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch 8 n"]:
        """`views[h] = turns[h].T @ x`."""
        return torch.einsum("...i,hij->...hj", x, self.turns)


@final
class ToFields(nn.Module):
    """Vectors and scalars to fields: 2 weights for a vector and 1 for a scalar, for each field."""

    def __init__(self, representation: Representation, fields: int) -> None:
        super().__init__()
        self.views = Views(representation)
        self.linear = nn.Linear(representation.size, fields)

    def forward(self, x: Float[Tensor, "*batch n"]) -> Float[Tensor, "*batch 8 fields"]:
        return self.linear(self.views(x))


@final
class FromFields(nn.Module):
    """Fields to vectors and scalars. Only scalars have a bias: a vector's would average to nothing."""

    turns: Tensor

    def __init__(self, fields: int, representation: Representation) -> None:
        super().__init__()
        self.register_buffer("turns", representation.turns, persistent=False)
        self.linear = nn.Linear(fields, representation.size, bias=False)
        self.bias = nn.Parameter(torch.zeros(len(representation.scalars)))
        self._scalars = list(representation.scalars)

    def forward(self, fields: Float[Tensor, "*batch 8 fields"]) -> Float[Tensor, "*batch n"]:
        x = torch.einsum("...hj,hij->...i", self.linear(fields), self.turns) / len(self.turns)
        bias = x.new_zeros(x.shape[-1])
        bias[self._scalars] = self.bias.to(x.dtype)
        return x + bias
