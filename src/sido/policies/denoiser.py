"""The contract of a denoiser."""

from __future__ import annotations

from abc import ABC, abstractmethod

from jaxtyping import Float
from torch import Tensor, nn

__all__ = ["TIME_STEPS", "Denoiser"]

TIME_STEPS = 100.0
"""What processes without steps of their own let time count to: the embedding's fastest wave turns 1 rad a step."""


class Denoiser(nn.Module, ABC):
    """From a noisy chunk, the time and what was observed to what the process asks for: the noise, or the clean chunk.

    Chunks are normalised, `[B, H, C]`. Every sample is for itself: nothing mixes a batch.
    """

    @abstractmethod
    def forward(
        self, noisy: Float[Tensor, "B H C"], time: Float[Tensor, " B"], condition: Float[Tensor, "B D"]
    ) -> Float[Tensor, "B H C"]:
        """Time counts in steps of a process (0 to 99, or continuously up to `TIME_STEPS`)."""
