"""The contract of a process: how clean chunks become noise in training, and noise becomes chunks in sampling."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor

from sido.policies.noise import Generators, standard_normal

__all__ = ["Clip", "Denoise", "Process", "noise_like", "random_times", "within_range"]

Denoise = Callable[[Tensor, Tensor], Tensor]
"""A `Denoiser` with its condition: from a noisy chunk `[B, H, C]` and the time `[B]` to its answer."""

Clip = Callable[[Tensor], Tensor]
"""From any chunks to such as there may be."""


def within_range(clean: Tensor) -> Tensor:
    """Every number within [-1, 1]."""
    return clean.clamp(-1, 1)


@runtime_checkable
class Process(Protocol):
    """Chunks are normalised: roughly within [-1, 1]."""

    def loss(self, denoise: Denoise, clean: Float[Tensor, "B H C"], generator: torch.Generator) -> Float[Tensor, ""]:
        """Mean squared error of the denoiser's answers, at random times."""
        ...

    def sample(
        self, denoise: Denoise, noise: Float[Tensor, "B H C"], generators: Generators, *, clip: Clip = within_range
    ) -> Float[Tensor, "B H C"]:
        """Chunks from standard normal noise; processes that add more noise on the way draw it from the generators.

        Those that guess the clean chunk on the way have the guess clipped.
        """
        ...


def noise_like(like: Tensor, generators: Generators) -> Tensor:
    """Standard normal numbers of the shape, dtype and device of `like`."""
    return standard_normal(like.shape, generators, device=like.device, dtype=like.dtype)


def random_times(like: Float[Tensor, "B *chunk"], generator: torch.Generator) -> Float[Tensor, " B"]:
    """Numbers in [0, 1), one for each sample, drawn where the generator lives."""
    return torch.rand(len(like), generator=generator, device=generator.device, dtype=like.dtype).to(like.device)
