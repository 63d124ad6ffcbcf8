"""The multilayer perceptron (appendix, MLP)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.predict.forecast import Forecast, require_horizon
from sido.predict.history import History
from sido.predict.network import NetworkInputs, kept_weights, straight_in_plane
from sido.predict.settings import require_observations

__all__ = ["MLP"]


@final
@dataclass(frozen=True, eq=False)
class MLP:
    """8 positions and velocities -> 128 -> 128 -> where the object is rather than where it was seen, and its velocity.

    It knows nothing of motion but what it was shown: at a speed that it never saw, it is wrong. `sido.predict.fitting`
    makes one; inference is numpy's, in the dtype of the weights.
    """

    weights: Mapping[str, Array]
    observations: int = 8
    """How many of the newest observations are looked at."""
    width: int = 128

    def __post_init__(self) -> None:
        require_observations(self)
        object.__setattr__(
            self, "weights", kept_weights(self.weights, self.shapes(self.observations, self.width), "MLP")
        )

    @staticmethod
    def shapes(observations: int = 8, width: int = 128) -> dict[str, tuple[int, ...]]:
        """The arrays that it consists of."""
        inputs = 6 * observations - 1  # positions, velocities, times, what was seen, how far ahead
        return {
            "enter.weight": (width, inputs),
            "enter.bias": (width,),
            "hidden.weight": (width, width),
            "hidden.bias": (width,),
            "leave.weight": (4, width),
            "leave.bias": (4,),
        }

    @staticmethod
    def flat(seen: NetworkInputs) -> Float[Array, "B inputs"]:
        """All that it is shown, in one row for each object."""
        rows = len(seen.lead)
        flat = seen.positions.reshape(rows, -1), seen.velocities.reshape(rows, -1)
        return np.concatenate([*flat, seen.times, seen.seen, seen.lead[:, None]], axis=1)

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """Straight on, as the network says."""
        horizon = require_horizon(history, horizon_s)
        w = self.weights
        x = self.flat(NetworkInputs.of(history, horizon, self.observations, w["enter.weight"].dtype.type))
        for layer in ("enter", "hidden"):
            x = np.maximum(x @ w[f"{layer}.weight"].T + w[f"{layer}.bias"], 0.0)
        return straight_in_plane(history, horizon, x @ w["leave.weight"].T + w["leave.bias"])
