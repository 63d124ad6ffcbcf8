"""The last estimates of the object's position, as each session received them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.predict import Belief, History

__all__ = ["PoseHistory"]


@final
class PoseHistory:
    """The newest estimates of `N` sessions. Each counts once, whenever and however often it is handed in.

    Args:
        sessions: `N`.
        length: How many are kept of each.
        belief: Which of them are believed, when they are read.
    """

    def __init__(self, sessions: int, length: int, belief: Belief) -> None:
        self._positions = np.full((sessions, length, 3), np.nan)
        self._stamps_s = np.full((sessions, length), np.nan)
        self._belief = belief

    def forget(self, sessions: Sequence[int]) -> None:
        """Those begin anew."""
        self._positions[list(sessions)] = np.nan
        self._stamps_s[list(sessions)] = np.nan

    def add(self, positions: Float[Array, "N 3"], stamps_s: Float[Array, "N"], now_s: Float[Array, "N"]) -> None:
        """What is known now; only what is later than all that was known before, and not of the future, is kept."""
        last = self._stamps_s[:, -1]
        there = np.isfinite(positions).all(axis=1) & np.isfinite(stamps_s)
        new = there & ~(stamps_s <= last) & (stamps_s <= now_s + self._belief.clock_tolerance_s)
        for kept, value in ((self._positions, positions), (self._stamps_s, stamps_s)):
            kept[new, :-1] = kept[new, 1:]
            kept[new, -1] = value[new]

    def at(self, now_s: Float[Array, "N"]) -> History:
        """As predictors read it."""
        return History.of(self._positions, self._stamps_s, now_s, belief=self._belief)
