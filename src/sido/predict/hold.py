"""The predictor that expects no motion."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.predict.forecast import Forecast, require_horizon
from sido.predict.history import History

__all__ = ["Hold"]


@final
@dataclass(frozen=True)
class Hold:
    """Every object stays where it was seen last: the paper's current pose."""

    @property
    def observations(self) -> int:
        """The newest."""
        return 1

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """The latest positions."""
        return Forecast.straight(history, np.zeros_like(history.latest), require_horizon(history, horizon_s))
