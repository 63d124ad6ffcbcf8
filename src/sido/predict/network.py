"""What the learned predictors have in common: what they are shown, what they say, and the arrays they consist of."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from sido.arrays import Array, read_only
from sido.errors import DataError
from sido.predict.forecast import Forecast
from sido.predict.history import History

__all__ = ["POSITION_UNIT_M", "SPEED_UNIT_MPS", "TIME_UNIT_S", "NetworkInputs", "kept_weights", "straight_in_plane"]

POSITION_UNIT_M, SPEED_UNIT_MPS, TIME_UNIT_S = 0.01, 0.05, 0.5
"""Networks like numbers about 1."""


class NetworkInputs(NamedTuple):
    """In the units above, x and y only, from the latest pose: 0 where there is none."""

    positions: Float[Array, "B h 2"]
    velocities: Float[Array, "B steps 2"]
    """From each pose to the next."""
    times: Float[Array, "B h"]
    steps: Float[Array, "B steps"]
    """How long from each pose to the next."""
    seen: Float[Array, "B h"]
    """1 or 0."""
    lead: Float[Array, " B"]
    """From the latest pose to the time that is asked for."""

    @staticmethod
    def of(
        history: History, horizon_s: Float[Array, " B"], observations: int, dtype: type = np.float32
    ) -> NetworkInputs:
        """Of the newest `observations` poses. Whatever is subtracted is subtracted in float64."""
        history = _filled(history.newest(observations), observations)
        seen = history.valid.astype(float)
        positions = (history.positions - history.latest[:, None])[..., :2] / POSITION_UNIT_M
        times = (history.times_s + history.age_s[:, None]) / TIME_UNIT_S
        whole = seen[:, :-1]
        steps = np.diff(times, axis=1) * whole
        return NetworkInputs(
            *(
                array.astype(dtype)
                for array in (
                    positions * seen[..., None],
                    history.velocities()[..., :2] / SPEED_UNIT_MPS * whole[..., None],
                    times * seen,
                    steps,
                    seen,
                    (history.age_s + horizon_s) / TIME_UNIT_S,
                )
            )
        )


def _filled(history: History, observations: int) -> History:
    """As many columns as the network has, the missing ones before the first."""
    missing = observations - history.positions.shape[1]
    if missing <= 0:
        return history
    return History(
        np.concatenate([np.repeat(history.positions[:, :1], missing, axis=1), history.positions], axis=1),
        np.concatenate([np.repeat(history.times_s[:, :1], missing, axis=1), history.times_s], axis=1),
        np.concatenate([np.zeros((len(history), missing), dtype=np.bool_), history.valid], axis=1),
        history.highest_speed_mps,
    )


def straight_in_plane(history: History, horizon_s: Float[Array, " B"], out: Float[Array, "B 4"]) -> Forecast:
    """A network's four numbers as a forecast: by how far the object is off its latest pose, and its velocity.

    z is carried. Nothing is ever faster, or further off, than is believed of any object.
    """
    correction, velocity = np.zeros((len(history), 3)), np.zeros((len(history), 3))
    correction[:, :2], velocity[:, :2] = out[:, :2] * POSITION_UNIT_M, out[:, 2:] * SPEED_UNIT_MPS
    return Forecast.straight(history, velocity, horizon_s, correction)


def kept_weights(
    weights: Mapping[str, Array], shapes: Mapping[str, tuple[int, ...]], network: str
) -> Mapping[str, Array]:
    """The arrays, read-only, if they are those that the network consists of."""
    if sorted(weights) != sorted(shapes):
        raise DataError(
            "other weights", field=network, found=", ".join(sorted(weights)), expected=", ".join(sorted(shapes))
        )
    for name, shape in shapes.items():
        if weights[name].shape != shape or not np.isfinite(weights[name]).all():
            raise DataError(
                "not the weights of this network",
                field=f"{network}.{name}",
                found=list(weights[name].shape),
                expected=f"{list(shape)}, finite",
            )
    return MappingProxyType({name: read_only(array) for name, array in weights.items()})
