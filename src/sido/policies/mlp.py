"""A denoiser for laptops."""

from __future__ import annotations

from typing import cast, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.policies.config import MlpConfig
from sido.policies.denoiser import Denoiser
from sido.policies.time_embedding import TimeEmbedding

__all__ = ["Mlp"]

_TIME_FEATURES = 64


@final
class Mlp(Denoiser):
    """A residual MLP over the whole chunk, as one vector.

        h = W [chunk, c]                                c = [condition, embedded time]
        h = h + B silu(A norm(h) + C c)                 for each block
        answer = W' silu(norm(h))

    Every block hears of the condition and the time anew, through one matrix for all blocks.
    """

    def __init__(self, config: MlpConfig, *, horizon: int, action_size: int, condition_size: int) -> None:
        super().__init__()
        width, size = config.width, horizon * action_size
        self.time = TimeEmbedding(_TIME_FEATURES)
        self.enter = nn.Linear(size, width)
        self.hear = nn.Linear(condition_size + _TIME_FEATURES, (config.blocks + 1) * width)
        self.blocks = nn.ModuleList(_Block(width) for _ in range(config.blocks))
        self.leave = nn.Sequential(nn.LayerNorm(width), nn.SiLU(), nn.Linear(width, size))

    def forward(
        self, noisy: Float[Tensor, "B H C"], time: Float[Tensor, " B"], condition: Float[Tensor, "B D"]
    ) -> Float[Tensor, "B H C"]:
        context = cast(Tensor, self.hear(torch.cat([condition, self.time(time)], dim=1)))
        first, *others = context.chunk(len(self.blocks) + 1, dim=1)
        hidden = cast(Tensor, self.enter(noisy.flatten(1))) + first
        for block, heard in zip(self.blocks, others, strict=True):
            hidden = block(hidden, heard)
        return cast(Tensor, self.leave(hidden)).view_as(noisy)


class _Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm = nn.LayerNorm(width)
        self.widen = nn.Linear(width, width, bias=False)  # what it hears has one
        self.narrow = nn.Linear(width, width)

    def forward(self, hidden: Tensor, heard: Tensor) -> Tensor:
        return hidden + self.narrow(nn.functional.silu(self.widen(self.norm(hidden)) + heard))
