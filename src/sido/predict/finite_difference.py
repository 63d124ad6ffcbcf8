"""The predictor of the last few differences (appendix, Finite-difference)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.predict.forecast import Forecast, require_horizon
from sido.predict.history import History

__all__ = ["FiniteDifference"]

_REST_MPS = 1e-9
"""Rounding of positions a few metres from the origin; nothing that moves is so slow."""


@final
@dataclass(frozen=True)
class FiniteDifference:
    """Straight on, along the median of the last differences, each axis for itself.

    With `speed_mps`, as in the paper: the differences give the direction only, and the way is `speed_mps` times the
    time. An object without any difference stays. Without it, the speed is the median's own.

    Stamps may be irregular, so the differences are velocities; at regular stamps the medians have the same direction.
    """

    speed_mps: float | None = None
    """The object's known speed `v`; None: measured."""
    observations: int = 3
    """How many of the newest observations are looked at."""
    planar: bool = True
    """Carry z on as it is; else it is extrapolated like x and y."""

    def __post_init__(self) -> None:
        if self.speed_mps is not None and not (math.isfinite(self.speed_mps) and self.speed_mps >= 0.0):
            raise SettingError(
                "not a speed", field="FiniteDifference.speed_mps", found=self.speed_mps, expected="m/s, 0 or more"
            )
        if self.observations < 2:
            raise SettingError(
                "too few for a difference",
                field="FiniteDifference.observations",
                found=self.observations,
                expected="2 or more",
            )

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """Straight on."""
        recent = history.newest(self.observations)
        velocity = _median(recent.velocities(), recent.valid[:, :-1])
        if self.planar:
            velocity[:, 2] = 0.0
        if self.speed_mps is not None:
            measured = np.linalg.norm(velocity, axis=-1, keepdims=True)
            velocity *= np.where(measured > _REST_MPS, self.speed_mps / np.maximum(measured, _REST_MPS), 0.0)
        return Forecast.straight(history, velocity, require_horizon(history, horizon_s))


def _median(values: Float[Array, "B n 3"], valid: Bool[Array, "B n"]) -> Float[Array, "B 3"]:
    """Over the valid ones; 0 where there is none. The median of two is their mean."""
    if values.shape[1] == 0:
        return np.zeros((len(values), 3))
    ordered = np.sort(np.where(valid[..., None], values, np.inf), axis=1)
    count, rows = valid.sum(axis=1), np.arange(len(values))
    middle = 0.5 * (ordered[rows, np.maximum(count - 1, 0) // 2] + ordered[rows, count // 2])
    return np.where(count[:, None] > 0, middle, 0.0)
