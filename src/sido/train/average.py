"""The moving average of the weights (EMA)."""

from __future__ import annotations

import copy
from typing import final

from torch import Tensor
from torch.optim.swa_utils import get_ema_multi_avg_fn

from sido.policies import Policy
from sido.train.config import AverageConfig

__all__ = ["Average", "decay_after"]


def decay_after(updates: int, config: AverageConfig) -> float:
    """The share that the average keeps when it takes in the weights after `updates` earlier ones.

    As diffusion_policy has it: the first two take the weights as they are, and it then forgets ever more slowly.
    """
    age = max(0, updates - 1)
    if age == 0:
        return 0.0
    return min(config.largest_decay, 1.0 - (1.0 + age / config.inverse_gamma) ** -config.power)


@final
class Average:
    """A copy of a policy whose weights follow the policy's own; frozen weights and buffers are as they are."""

    def __init__(self, policy: Policy, config: AverageConfig) -> None:
        self._config = config
        self.policy = copy.deepcopy(policy).eval().requires_grad_(False)
        copies = dict(self.policy.named_parameters())
        trained = [(name, weight) for name, weight in policy.named_parameters() if weight.requires_grad]
        self._weights: list[Tensor] = [weight for _, weight in trained]
        self._averages: list[Tensor] = [copies[name] for name, _ in trained]

    def follow(self, updates: int) -> None:
        """Take in the policy's weights, after `updates` earlier times."""
        take_in = get_ema_multi_avg_fn(decay_after(updates, self._config))
        take_in(self._averages, self._weights, updates)
