"""What is known of a moving object by one who sees it late."""

from __future__ import annotations

import math
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array

__all__ = ["Reaction"]


@final
class Reaction:
    """Places and velocities as they were `delay_s` ago, reckoned on to now at that velocity.

    Since the episode began, if that is less long ago. Between two control steps what was seen is interpolated.

    Args:
        envs: How many objects.
        delay_s: 0 or more.
        period_s: Between two looks.
    """

    def __init__(self, envs: int, *, delay_s: float, period_s: float) -> None:
        self._period_s = period_s
        steps = delay_s / period_s
        self._whole = math.floor(steps + 1e-9)
        self._part = max(steps - self._whole, 0.0) if steps - self._whole > 1e-9 else 0.0
        self._depth = self._whole + 2
        self._positions = np.zeros((self._depth, envs, 3))
        self._velocities = np.zeros((self._depth, envs, 3))
        self._looks = np.zeros(envs, dtype=np.int64)

    def forget(self, which: Bool[Array, "N"]) -> None:
        """There new episodes begin."""
        self._looks[which] = 0

    def look(
        self, position: Float[Array, "N 3"], velocity_mps: Float[Array, "N 3"]
    ) -> tuple[Float[Array, "N 3"], Float[Array, "N 3"]]:
        """The objects as they are now, in turn for what one knows of them."""
        rows = np.arange(len(position))
        self._positions[self._looks % self._depth, rows] = position
        self._velocities[self._looks % self._depth, rows] = velocity_mps
        newer, older = np.minimum(self._whole, self._looks), np.minimum(self._whole + 1, self._looks)
        part = np.where(older > newer, self._part, 0.0)[:, None]
        age_s = (newer[:, None] + part) * self._period_s
        at = [((self._looks - age) % self._depth, rows) for age in (newer, older)]
        self._looks += 1
        seen, velocity = (
            values[at[0]] + part * (values[at[1]] - values[at[0]]) for values in (self._positions, self._velocities)
        )
        return seen + age_s * velocity, velocity
