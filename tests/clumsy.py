"""An expert that fails now and then, in a module that other processes can import."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hands import holding
from sido.sim.experts import ExpertSettings
from sido.sim.experts.experts import expert_for
from sido.sim.vector_environment import VectorEnvironment


class Clumsy:
    """Throws every third episode away: it takes the hand out of reach, and its robot stands there until the end."""

    def __init__(self, world: VectorEnvironment, settings: ExpertSettings) -> None:
        self.world = world
        self.able = expert_for(world, settings)
        self.idle = np.zeros(len(world), dtype=bool)

    def begin(self, envs: Sequence[int], seeds: Sequence[int]) -> None:
        self.able.begin(envs, seeds)
        self.idle[list(envs)] = [seed % 3 == 1 for seed in seeds]

    def actions(self) -> Any:
        able, still = self.able.actions(), holding(self.world)
        return np.where(self.idle[:, None], still, able)
