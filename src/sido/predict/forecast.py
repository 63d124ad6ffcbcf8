"""What a predictor answers."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array, FloatArray, read_only
from sido.errors import SettingError
from sido.predict.history import History

__all__ = ["LARGEST_CORRECTION_M", "PATH_POINTS", "Forecast", "require_horizon"]

PATH_POINTS = 16
"""How many points a path has."""
LARGEST_CORRECTION_M = 0.03
"""So far at most may an estimate of where an object is lie from where it was seen last."""


@final
@dataclass(frozen=True)
class Forecast:
    """Where `B` objects will be."""

    positions: Float[Array, "B 3"]
    """At the horizon, metres. NaN for an object that was never seen: there is nothing to say of it."""
    covariance: Float[Array, "B 3 3"] | None = None
    """Of the error, in m^2, where the predictor knows it."""
    path: Float[Array, "B 16 3"] | None = None
    """At `k / 16` of the horizon, k = 1 to 16, where the predictor knows it; the last is `positions`."""

    def __post_init__(self) -> None:
        for name in ("positions", "covariance", "path"):
            array = getattr(self, name)
            if array is not None:
                object.__setattr__(self, name, read_only(array))

    @property
    def seen(self) -> Bool[Array, " B"]:
        """Of which objects there is something to say."""
        return np.isfinite(self.positions).all(axis=-1)

    @staticmethod
    def straight(
        history: History,
        velocity: Float[Array, "B 3"],
        horizon_s: Float[Array, " B"],
        correction: Float[Array, "B 3"] | None = None,
        covariance: FloatArray | None = None,
    ) -> Forecast:
        """From where each object was seen last, straight on.

        Args:
            history: What was seen; an object that was seen once only, or not for too long, rests.
            velocity: In m/s.
            horizon_s: From now; the time since the object was last seen is added.
            correction: From where each object was seen last to where it is taken to have been then.
            covariance: Of the error.
        """
        velocity = bounded(history, velocity)
        ways = leads_s(history, horizon_s)[..., None] * velocity[:, None]
        if correction is not None:
            ways += _shortened(history, correction)[:, None]
        path = unseen(history, history.latest[:, None] + ways)
        return Forecast(path[:, -1], None if covariance is None else unseen(history, covariance), path)

    @staticmethod
    def along(history: History, ways: Float[Array, "B 16 3"], leads: Float[Array, "B 16"]) -> Forecast:
        """Along any path.

        Args:
            history: What was seen; an object that was seen once only, or not for too long, rests.
            ways: From where each object was seen last to where it will be.
            leads: How long after that.
        """
        most = history.highest_speed_mps * leads + np.minimum(LARGEST_CORRECTION_M, history.highest_speed_mps * leads)
        length = np.sqrt(np.einsum("bka,bka->bk", ways, ways))
        shorter = np.minimum(1.0, most / np.maximum(length, 1e-300)) * (history.count > 1)[:, None]
        path = unseen(history, history.latest[:, None] + ways * shorter[..., None])
        return Forecast(path[:, -1], None, path)


def leads_s(history: History, horizon_s: Float[Array, " B"]) -> Float[Array, "B 16"]:
    """How long after each object was last seen the points of its path lie."""
    shares = np.arange(1, PATH_POINTS + 1) / PATH_POINTS
    return np.maximum(history.age_s[:, None] + horizon_s[:, None] * shares, 0.0)


def bounded(history: History, velocity: Float[Array, "B 3"]) -> Float[Array, "B 3"]:
    """No faster than is believed of any object, and at rest where only one observation is left."""
    speed = np.linalg.norm(velocity, axis=-1, keepdims=True)
    slower = np.minimum(1.0, history.highest_speed_mps / np.maximum(speed, history.highest_speed_mps))
    return np.where((history.count > 1)[:, None], velocity * slower, 0.0)


def _shortened(history: History, correction: Float[Array, "B 3"]) -> Float[Array, "B 3"]:
    length = np.linalg.norm(correction, axis=-1, keepdims=True)
    shorter = np.minimum(1.0, LARGEST_CORRECTION_M / np.maximum(length, LARGEST_CORRECTION_M))
    return np.where((history.count > 1)[:, None], correction * shorter, 0.0)


def unseen(history: History, answer: Float[Array, "B *rest"]) -> Float[Array, "B *rest"]:
    """The answer, NaN for objects of which nothing is known."""
    known = (history.count > 0).reshape(-1, *[1] * (answer.ndim - 1))
    return np.where(known, answer, np.nan)


def require_horizon(history: History, horizon_s: float | Float[Array, " B"]) -> Float[Array, " B"]:
    """One horizon for each object."""
    horizon = np.asarray(horizon_s, dtype=float)
    if horizon.shape not in ((), (len(history),)) or not (np.isfinite(horizon) & (horizon >= 0.0)).all():
        raise SettingError(
            "not a horizon", field="horizon_s", found=horizon_s, expected="seconds from now, 0 or more: one, or [B]"
        )
    return np.broadcast_to(horizon, len(history))
