"""The loss on demonstrations that the run does not learn from."""

from __future__ import annotations

import torch

from sido.demos import ChunkSampler
from sido.policies import Policy
from sido.train.config import TrainConfig
from sido.train.randomness import generator_for

__all__ = ["validation_loss"]


@torch.no_grad()
def validation_loss(policy: Policy, sampler: ChunkSampler, config: TrainConfig, device: torch.device) -> float:
    """The mean over all transitions, as demonstrated, with the same noise each time that it is asked for."""
    batches = torch.arange(len(sampler)).split(config.batch_size)
    total = 0.0
    for number, transitions in enumerate(batches):
        generator = generator_for("validation", config.seed, number)
        loss = float(policy.loss([sampler.batch(transitions).to(device)], generator))
        total += loss * len(transitions)
    return total / len(sampler)
