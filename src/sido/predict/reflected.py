"""A forecast that knows the walls of the workspace."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.motion import Region
from sido.predict.forecast import Forecast
from sido.predict.history import History
from sido.predict.predictor import Predictor

__all__ = ["Reflected"]


@final
@dataclass(frozen=True)
class Reflected:
    """Any predictor, for objects that the edges of a known region reflect: its path is folded at them.

    What comes out of the region on one side goes back into it as far. An object that is seen further outside than
    `tolerance_m` is none of the region's, and its forecast is left alone.

    It knows a place, so its answers move with the world only if the region does.
    """

    predictor: Predictor
    region: Region
    """In the frame of the poses."""
    tolerance_m: float = 0.02
    """Noise may put an object so far outside."""

    @property
    def observations(self) -> int:
        """The predictor's."""
        return self.predictor.observations

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """The predictor's answer, folded."""
        answer = self.predictor(history, horizon_s)
        inside = self.region.contains(history.latest, tolerance_m=self.tolerance_m)
        positions = self._folded(answer.positions, inside)
        path = None if answer.path is None else self._folded(answer.path, inside[:, None])
        return Forecast(positions, answer.covariance, path)

    def _folded(self, points: Float[Array, "*batch 3"], inside: Array) -> Float[Array, "*batch 3"]:
        """A triangle wave of the way beyond the lower edge: up to the upper one, and back."""
        low, size = np.array(self.region.low_m), np.array(self.region.size_m)
        beyond = np.mod(points[..., :2] - low, 2.0 * size)
        folded = points.copy()
        folded[..., :2] = np.where(inside[..., None], low + np.minimum(beyond, 2.0 * size - beyond), points[..., :2])
        return folded
