"""Every random number of a run, by the place where it is needed.

A generator is made anew for each step and part, from the run's seed. So a run that goes on after it was killed has no
generators to restore, and what one process draws does not depend on what others do.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
import torch

__all__ = ["Purpose", "generator_for"]

Purpose = Literal["weights", "order", "draws", "validation"]

_STREAMS: dict[Purpose, int] = {"weights": 0, "order": 1, "draws": 2, "validation": 3}


def generator_for(purpose: Purpose, seed: int, *place: int) -> torch.Generator:
    """The generator of a place in a run: its epoch, or its step and part."""
    state = np.random.SeedSequence([seed, _STREAMS[purpose], *place]).generate_state(1, np.uint64)
    return torch.Generator().manual_seed(int(state[0]))
