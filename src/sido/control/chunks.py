"""Chunks of actions under way: executed one action a step, for as many steps as was decided when they were planned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array

__all__ = ["Chunks"]


@final
class Chunks:
    """Of `N` sessions.

    Args:
        sessions: `N`.
        horizon: Actions in a chunk.
        dim: Numbers in an action.
    """

    def __init__(self, sessions: int, horizon: int, dim: int) -> None:
        self._actions = np.zeros((sessions, horizon, dim))
        self._executed = np.zeros(sessions, dtype=np.int64)
        self._wanted = np.zeros(sessions, dtype=np.int64)

    @property
    def remaining(self) -> Int[Array, "N"]:
        """How many more actions are executed before the next chunk; at 0 it is planned."""
        return self._wanted - self._executed

    @property
    def executed(self) -> Int[Array, "N"]:
        """How many of the present chunk have been."""
        return self._executed.copy()

    def forget(self, sessions: Sequence[int]) -> None:
        """Those must plan."""
        self._executed[list(sessions)] = self._wanted[list(sessions)] = 0

    def plan(self, sessions: Int[Array, "K"], actions: Float[Array, "K H A"], action_horizon: Int[Array, "K"]) -> None:
        """Begin new chunks, of which so many actions are executed."""
        self._actions[sessions] = actions
        self._executed[sessions] = 0
        self._wanted[sessions] = action_horizon

    def step(self, live: Bool[Array, "N"]) -> Float[Array, "N A"]:
        """The next action of each session that is live; 0 for the others."""
        rows = np.flatnonzero(live)
        actions = np.zeros((len(live), self._actions.shape[2]))
        actions[rows] = self._actions[rows, self._executed[rows]]
        self._executed[rows] += 1
        return actions
