"""The predictor that knows: for what a perfect one would give."""

from __future__ import annotations

from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.predict import Forecast, History
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["TrueFuture"]


@final
class TrueFuture:
    """Where each object of a world will be if nobody grasps it, random draws included. Row `i` is environment `i`."""

    observations = 1

    def __init__(self, world: VectorEnvironment) -> None:
        self._world = world

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        horizons = np.broadcast_to(np.asarray(horizon_s, dtype=float), len(history))
        positions = self._world.object_position.copy()
        for i, horizon in enumerate(horizons):
            future = self._world.object_future(i, float(horizon))
            if future is not None:
                positions[i] = future
        return Forecast(positions)
