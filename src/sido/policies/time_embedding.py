"""How a denoiser sees the time."""

from __future__ import annotations

import math
from typing import cast, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["TimeEmbedding"]


@final
class TimeEmbedding(nn.Module):
    """Sines and cosines of `size / 2` frequencies, from 1 down to 1e-4 rad a step, through a small MLP."""

    frequencies: Tensor

    def __init__(self, size: int) -> None:
        super().__init__()
        exponents = torch.arange(size // 2, dtype=torch.float64) / (size // 2 - 1)
        frequencies = torch.exp(-math.log(10_000) * exponents).float()
        self.register_buffer("frequencies", frequencies, persistent=False)
        self.layers = nn.Sequential(nn.Linear(size, 4 * size), nn.Mish(), nn.Linear(4 * size, size))

    def forward(self, time: Float[Tensor, " B"]) -> Float[Tensor, "B size"]:
        angle = time[:, None] * self.frequencies
        waves = torch.cat([angle.sin(), angle.cos()], dim=-1)
        return cast(Tensor, self.layers(waves))
