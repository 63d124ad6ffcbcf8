"""Flow matching: the straight way from noise to a chunk."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from sido.policies.config import FlowMatchingConfig
from sido.policies.denoiser import TIME_STEPS
from sido.policies.noise import Generators
from sido.policies.process import Clip, Denoise, noise_like, random_times, within_range

__all__ = ["FlowMatching"]


@final
@dataclass(frozen=True)
class FlowMatching:
    """`x_s = (1 - s) noise + s clean`: the denoiser learns the velocity `clean - noise`, and sampling follows it.

    Nothing is clipped.
    """

    config: FlowMatchingConfig

    def loss(self, denoise: Denoise, clean: Float[Tensor, "B H C"], generator: torch.Generator) -> Float[Tensor, ""]:
        noise, share = noise_like(clean, generator), random_times(clean, generator)
        noisy = torch.lerp(noise, clean, share[:, None, None])
        return torch.nn.functional.mse_loss(denoise(noisy, TIME_STEPS * share), clean - noise)

    def sample(
        self, denoise: Denoise, noise: Float[Tensor, "B H C"], generators: Generators, *, clip: Clip = within_range
    ) -> Float[Tensor, "B H C"]:
        """Euler's method, in equal steps."""
        del generators, clip  # the noise is all there is, and no clean chunk is guessed on the way
        steps, chunk = self.config.sampling_steps, noise
        for step in range(steps):
            time = torch.full_like(noise[:, 0, 0], TIME_STEPS * step / steps)
            chunk = chunk + denoise(chunk, time) / steps
        return chunk
