"""Denoising diffusion: DDPM as trained, and DDIM in fewer steps."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import final

import torch
from jaxtyping import Float
from torch import Tensor

from sido.policies.config import DiffusionConfig
from sido.policies.noise import Generators
from sido.policies.process import Clip, Denoise, noise_like, random_times, within_range

__all__ = ["Diffusion"]


@final
@dataclass(frozen=True)
class Diffusion:
    """`x_t = sqrt(abar_t) clean + sqrt(1 - abar_t) noise`, with Nichol and Dhariwal's cosine schedule.

    The denoiser learns the noise. In sampling its estimate of the clean chunk is clipped to [-1, 1], as in Diffusion
    Policy, so that the normaliser's range must contain every chunk to be said.

    As `diffusers` has it: `squaredcos_cap_v2`, `fixed_small`, `clip_sample`, timesteps spaced "leading".
    """

    config: DiffusionConfig

    def loss(self, denoise: Denoise, clean: Float[Tensor, "B H C"], generator: torch.Generator) -> Float[Tensor, ""]:
        noise, steps = noise_like(clean, generator), self.config.train_steps
        step = (random_times(clean, generator) * steps).long().clamp(max=steps - 1)
        kept = _kept(steps).to(clean)[step][:, None, None]
        noisy = kept.sqrt() * clean + (1 - kept).sqrt() * noise
        return torch.nn.functional.mse_loss(denoise(noisy, step.to(clean.dtype)), noise)

    def sample(
        self, denoise: Denoise, noise: Float[Tensor, "B H C"], generators: Generators, *, clip: Clip = within_range
    ) -> Float[Tensor, "B H C"]:
        chunk = noise
        for step, kept, kept_next in self._ladder():
            predicted = denoise(chunk, torch.full_like(noise[:, 0, 0], step))
            clean = clip((chunk - math.sqrt(1 - kept) * predicted) / math.sqrt(kept))
            if self.config.sampler == "ddim":
                chunk = math.sqrt(kept_next) * clean + math.sqrt(1 - kept_next) * predicted
                continue
            # The posterior of x_{t-1}, given x_t and the clean chunk.
            alpha, left = kept / kept_next, 1 - kept
            chunk = (math.sqrt(kept_next) * (1 - alpha) * clean + math.sqrt(alpha) * (1 - kept_next) * chunk) / left
            if step > 0:
                deviation = math.sqrt(max((1 - kept_next) / left * (1 - alpha), 1e-20))
                chunk = chunk + deviation * noise_like(chunk, generators)
        return chunk

    def _ladder(self) -> Iterator[tuple[int, float, float]]:
        """Each step of sampling, what is kept of the clean chunk there (`abar`), and what is after the step."""
        kept = _kept(self.config.train_steps).tolist()
        stride = self.config.train_steps // self.config.sampling_steps
        for rung in reversed(range(self.config.sampling_steps)):
            step = rung * stride
            yield step, kept[step], kept[step - stride] if rung else 1.0


@functools.cache
def _kept(steps: int) -> Float[Tensor, " steps"]:
    """`abar_t`: the share of the clean chunk's variance that is left after each step."""

    def share(done: float) -> float:
        return math.cos((done + 0.008) / 1.008 * math.pi / 2) ** 2

    betas = [min(1 - share((step + 1) / steps) / share(step / steps), 0.999) for step in range(steps)]
    return torch.cumprod(1 - torch.tensor(betas, dtype=torch.float64), dim=0)
