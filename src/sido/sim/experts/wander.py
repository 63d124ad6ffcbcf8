"""Noise on where the hand is sent, and on where it grasps: from the episode's seed alone."""

from __future__ import annotations

from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array

__all__ = ["GraspOffsets", "Wander"]

_TAG = 7015
"""So that the expert's streams are none of the episode's, which has spawned its own from the same seed."""
_MEMORY_S = 0.5
"""After that time noise has forgotten most of itself: a hand that wanders rather than trembles."""
_CUT = 2.0


def _stream(seed: int, number: int) -> np.random.Generator:
    return np.random.default_rng(np.random.SeedSequence(seed, spawn_key=(_TAG, number)))


@final
class Wander:
    """`n <- r n + sqrt(1 - r^2) sigma xi`, `r = exp(-period / 0.5 s)`, from a first draw of the same spread.

    Args:
        envs: How many hands.
        sigma_m: Standard deviation along each axis.
        period_s: Between two draws.
        horizon: Control steps that an episode may last.
    """

    def __init__(self, envs: int, *, sigma_m: float, period_s: float, horizon: int) -> None:
        self._sigma_m = sigma_m
        self._keep = float(np.exp(-period_s / _MEMORY_S))
        self._draws = np.zeros((envs, horizon + 1, 3) if sigma_m > 0.0 else (envs, 1, 3))
        self._now = np.zeros((envs, 3))
        self._drawn = np.zeros(envs, dtype=np.int64)

    def begin(self, env: int, seed: int) -> None:
        """An episode: all its draws at once, so that none is drawn one by one later."""
        if self._sigma_m > 0.0:
            self._draws[env] = self._sigma_m * _stream(seed, 0).standard_normal(self._draws.shape[1:])
        self._now[env] = self._draws[env, 0]
        self._drawn[env] = 1

    def step(self) -> Float[Array, "N 3"]:
        """The noise now; the next call's is one step later."""
        now = self._now
        if self._sigma_m > 0.0:
            at = np.minimum(self._drawn, self._draws.shape[1] - 1)
            fresh = self._draws[np.arange(len(at)), at]
            self._now = self._keep * now + np.sqrt(1.0 - self._keep**2) * fresh
            self._drawn += 1
        return now


@final
class GraspOffsets:
    """Where beside the object's middle each attempt grasps.

    Args:
        envs: How many hands.
        sigma_m: Standard deviation along x and y; cut at twice itself.
    """

    def __init__(self, envs: int, *, sigma_m: float) -> None:
        self._sigma_m = sigma_m
        self._streams: list[np.random.Generator | None] = [None] * envs
        self.now: Float[Array, "N 3"] = np.zeros((envs, 3))
        """Of this attempt; horizontal."""

    def begin(self, env: int, seed: int) -> None:
        """An episode, and its first attempt."""
        self._streams[env] = _stream(seed, 1)
        self._draw(env)

    def again(self, which: Bool[Array, "N"]) -> None:
        """There a new attempt begins."""
        for env in np.flatnonzero(which):
            self._draw(int(env))

    def _draw(self, env: int) -> None:
        stream = self._streams[env]
        if self._sigma_m > 0.0 and stream is not None:
            offset = np.clip(stream.standard_normal(2), -_CUT, _CUT) * self._sigma_m
            self.now = self.now.copy()  # what was handed out stays as it was
            self.now[env, :2] = offset
