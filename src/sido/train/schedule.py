"""The learning rate through a run."""

from __future__ import annotations

import math

__all__ = ["learning_rate_share"]


def learning_rate_share(step: int, *, warmup_steps: int, steps: int) -> float:
    """The share of the highest learning rate that update number `step`, from 0, is made with.

        step / warmup                                        before the end of the warm-up
        (1 + cos(pi (step - warmup) / (steps - warmup))) / 2 after it

    The first update of a warm-up has rate 0, as in the originals (diffusers' cosine schedule).
    """
    if step < warmup_steps:
        return step / warmup_steps
    progress = (step - warmup_steps) / max(1, steps - warmup_steps)
    return 0.5 * (1.0 + math.cos(math.pi * min(progress, 1.0)))
