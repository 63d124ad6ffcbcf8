"""AdamW, and what it remembers of each weight, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, final

import torch
from torch import Tensor, nn

from sido.train.config import AdamWConfig
from sido.train.schedule import learning_rate_share

__all__ = ["Optimiser"]

_MOMENTS = ("exp_avg", "exp_avg_sq", "step")


@final
class Optimiser:
    """Updates the weights of a module that are to be trained."""

    def __init__(self, module: nn.Module, config: AdamWConfig, *, steps: int) -> None:
        self._config, self._steps = config, steps
        self.weights: dict[str, nn.Parameter] = {
            name: weight for name, weight in module.named_parameters() if weight.requires_grad
        }
        self._adamw = torch.optim.AdamW(
            self.weights.values(),
            lr=config.learning_rate,
            betas=(config.betas[0], config.betas[1]),
            eps=config.epsilon,
            weight_decay=config.weight_decay,
            fused=True,
        )

    def learning_rate(self, step: int) -> float:
        """Of update number `step`, from 0."""
        share = learning_rate_share(step, warmup_steps=self._config.warmup_steps, steps=self._steps)
        return self._config.learning_rate * share

    def update(self, step: int) -> Tensor:
        """Make update number `step` with the gradients that the weights hold, and clear them; the gradient's norm."""
        weights, longest = list(self.weights.values()), self._config.longest_gradient
        norm = nn.utils.get_total_norm([weight.grad for weight in weights if weight.grad is not None])
        if longest is not None:
            nn.utils.clip_grads_with_norm_(weights, longest, norm)
        self._adamw.param_groups[0]["lr"] = self.learning_rate(step)
        self._adamw.step()
        self._adamw.zero_grad(set_to_none=True)
        return norm

    def tensors(self) -> dict[str, Tensor]:
        """All that it remembers: `<weight>.exp_avg`, ..."""
        state = self._adamw.state
        return {
            f"{name}.{moment}": state[weight][moment]
            for name, weight in self.weights.items()
            for moment in _MOMENTS
            if moment in state[weight]
        }

    def restore(self, tensors: Mapping[str, Tensor]) -> None:
        """Remember what `tensors` gave."""
        state: dict[int, Any] = {}
        for number, name in enumerate(self.weights):
            moments = {
                moment: tensors[f"{name}.{moment}"].clone() for moment in _MOMENTS if f"{name}.{moment}" in tensors
            }
            if moments:  # a weight that never had a gradient has none
                state[number] = moments
        self._adamw.load_state_dict({"state": state, "param_groups": self._adamw.state_dict()["param_groups"]})
