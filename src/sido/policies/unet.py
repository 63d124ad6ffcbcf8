"""Diffusion Policy's denoiser."""

from __future__ import annotations

from itertools import pairwise
from typing import cast, final

import torch
from jaxtyping import Float
from torch import Tensor, nn

from sido.policies.config import UnetConfig
from sido.policies.denoiser import Denoiser
from sido.policies.mish import Mish
from sido.policies.time_embedding import TimeEmbedding

__all__ = ["Unet"]


@final
class Unet(Denoiser):
    """A U-Net along the steps of a chunk; in each of its blocks the condition scales and shifts every channel (FiLM).

    The architecture and the number of weights are the original's. The FiLM layers of all blocks are one matrix: they
    all read the same vector.
    """

    def __init__(self, config: UnetConfig, *, action_size: int, condition_size: int) -> None:
        super().__init__()
        widths = config.widths
        ways = list(pairwise((action_size, *widths)))
        self.time = TimeEmbedding(config.time_features)

        def two_blocks(wide_in: int, wide_out: int) -> nn.ModuleList:
            return nn.ModuleList([_Block(wide_in, wide_out, config), _Block(wide_out, wide_out, config)])

        self.down = nn.ModuleList(two_blocks(*way) for way in ways)
        self.coarser = nn.ModuleList(nn.Conv1d(width, width, 3, stride=2, padding=1) for width in widths[:-1])
        self.middle = two_blocks(widths[-1], widths[-1])
        self.up = nn.ModuleList(two_blocks(2 * below, above) for above, below in reversed(ways[1:]))
        self.finer = nn.ModuleList(
            nn.ConvTranspose1d(width, width, 4, stride=2, padding=1) for width in reversed(widths[:-1])
        )
        self.leave = nn.Sequential(_Convolution(widths[0], widths[0], config), nn.Conv1d(widths[0], action_size, 1))
        self._film_sizes = [2 * block.width for block in self.modules() if isinstance(block, _Block)]
        self.film = nn.Sequential(nn.Mish(), nn.Linear(config.time_features + condition_size, sum(self._film_sizes)))

    def forward(
        self, noisy: Float[Tensor, "B H C"], time: Float[Tensor, " B"], condition: Float[Tensor, "B D"]
    ) -> Float[Tensor, "B H C"]:
        films = cast(Tensor, self.film(torch.cat([self.time(time), condition], dim=1)))
        film = iter(films.split(self._film_sizes, dim=1))

        def run(blocks: nn.Module, x: Tensor) -> Tensor:
            for block in cast(nn.ModuleList, blocks):
                x = block(x, next(film))
            return x

        x = noisy.transpose(1, 2)
        passed: list[Tensor] = []
        for level, blocks in enumerate(self.down):
            x = run(blocks, x)
            passed.append(x)
            if level < len(self.coarser):
                x = self.coarser[level](x)
        x = run(self.middle, x)
        for blocks, finer in zip(self.up, self.finer, strict=True):
            x = finer(run(blocks, torch.cat([x, passed.pop()], dim=1)))
        return cast(Tensor, self.leave(x)).transpose(1, 2)


class _Convolution(nn.Sequential):
    def __init__(self, wide_in: int, wide_out: int, config: UnetConfig) -> None:
        super().__init__(
            nn.Conv1d(wide_in, wide_out, config.kernel_size, padding=config.kernel_size // 2),
            nn.GroupNorm(config.groups, wide_out),
            Mish(),
        )


class _Block(nn.Module):
    """Two convolutions, FiLM between them, and a way around."""

    def __init__(self, wide_in: int, wide_out: int, config: UnetConfig) -> None:
        super().__init__()
        self.width = wide_out
        self.first = _Convolution(wide_in, wide_out, config)
        self.second = _Convolution(wide_out, wide_out, config)
        self.around = nn.Conv1d(wide_in, wide_out, 1) if wide_in != wide_out else nn.Identity()

    def forward(self, x: Tensor, film: Tensor) -> Tensor:
        scale, shift = film[:, :, None].chunk(2, dim=1)
        return self.second(scale * self.first(x) + shift) + self.around(x)
