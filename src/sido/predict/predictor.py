"""The contract of a predictor."""

from __future__ import annotations

from typing import Protocol, runtime_checkable

from jaxtyping import Float

from sido.arrays import Array
from sido.predict.forecast import Forecast
from sido.predict.history import History

__all__ = ["Predictor"]


@runtime_checkable
class Predictor(Protocol):
    """From where objects were seen to where they will be: a value without state, for any number of objects at once.

        history = History.of(positions, stamps_s, now_s)        # [B, h, 3], [B, h], seconds
        forecast = predictor(history, horizon_s=0.8)
        forecast.positions                                      # [B, 3], at now_s + 0.8

    Arrays are numpy's, in float64, whatever a predictor computes with inside: simulations, cameras and robots speak
    numpy, and millimetres do not survive float32 far from the origin.

    `tests/contracts/predictor.py` holds what every one must satisfy:

    - Whatever is in the history has been put in order by `History.of`; each object has between 0 and `h` observations,
      at its own, irregular times. Never seen: NaN. Seen once: it rests there.
    - The horizon counts from the time of asking. An old observation lengthens the extrapolation by its age.
    - Displacing all observations displaces the forecast (1e-9 m); what else is in the batch changes nothing; the same
      question has the same answer; nothing that is given is written to.
    - The forecast is nowhere further from the latest observation than `History.highest_speed_mps` allows, beyond what a
      filter may correct that by (`LARGEST_CORRECTION_M`).
    """

    @property
    def observations(self) -> int:
        """How many of the newest observations it looks at; a history may hold more, or fewer."""
        ...

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """Where each object will be `horizon_s` from now."""
        ...
