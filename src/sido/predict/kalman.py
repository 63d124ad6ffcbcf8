"""The Kalman filter of an object that goes straight on, nearly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.predict.forecast import Forecast, leads_s, require_horizon
from sido.predict.history import History
from sido.predict.settings import require_observations, require_positive

__all__ = ["UNKNOWN_SPEED_M2PS2", "Kalman", "isotropic", "steps_and_noises"]

UNKNOWN_SPEED_M2PS2 = 1e4
"""The variance of a velocity of which nothing is known: so large that two noiseless poses settle it."""
_UNSEEN_M2 = 1e30
"""The variance of a pose that is missing."""


@final
@dataclass(frozen=True)
class Kalman:
    """Constant velocity, which drifts a little; poses with noise. The filter runs over the last poses, from nothing.

    Along each axis, from pose to pose, over `dt`:

        x' = x + v dt,  v' = v      P' = F P F^T + d^2 [dt^3/3, dt^2/2; dt^2/2, dt],   d = `drift_mps`
        g = P' [1; 0] / (P'_00 + noise_m^2)                                            and the pose corrects by g

    `P` depends on the stamps only and is the same along every axis: the answer turns with the world.
    """

    noise_m: float = 0.003
    """Standard deviation of a pose, along each axis."""
    drift_mps: float = 0.01
    """By how much the velocity has changed after a second, along each axis; standard deviation."""
    observations: int = 24
    """How many of the newest observations are looked at."""
    planar: bool = True
    """Carry z on as it was seen last; else it is filtered like x and y."""

    def __post_init__(self) -> None:
        require_positive(self, "noise_m", "drift_mps")
        require_observations(self)

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """Straight on from where the filter has the object."""
        recent = history.newest(self.observations)
        horizon = require_horizon(history, horizon_s)
        correction, velocity, variance = self._filtered(recent)
        if self.planar:
            correction[:, 2], velocity[:, 2] = 0.0, 0.0
        lead = leads_s(history, horizon)[:, -1]
        along = variance[0] + lead * (2.0 * variance[1] + lead * variance[2]) + self.drift_mps**2 * lead**3 / 3.0
        covariance = isotropic(history, along, lead, self.noise_m, planar=self.planar)
        return Forecast.straight(history, velocity, horizon, correction, covariance)

    def _filtered(self, history: History) -> tuple[Float[Array, "B 3"], Float[Array, "B 3"], Float[Array, "3 B"]]:
        """Position (from the latest pose) and velocity at the latest pose, and P_00, P_01, P_11."""
        seen = np.moveaxis(history.positions - history.latest[:, None], 0, -1)  # [h, 3, B]
        steps, noises = steps_and_noises(history, self.noise_m**2)
        drift = self.drift_mps**2
        x, v = seen[0], np.zeros_like(seen[0])
        p00, p01 = noises[0], np.zeros_like(noises[0])
        p11 = np.full_like(noises[0], UNKNOWN_SPEED_M2PS2)
        for pose, dt, noise in zip(seen[1:], steps, noises[1:], strict=True):
            x = x + dt * v
            fresh = drift * dt
            p00 = p00 + dt * (2.0 * p01 + dt * (p11 + fresh / 3.0))
            p01 = p01 + dt * (p11 + fresh / 2.0)
            p11 = p11 + fresh
            total = p00 + noise
            gain, turn = p00 / total, p01 / total
            off = pose - x
            x, v = x + gain * off, v + turn * off
            p11 = p11 - turn * p01
            p00, p01 = gain * noise, turn * noise
        return x.T.copy(), v.T.copy(), np.stack([p00, p01, p11])


def steps_and_noises(history: History, noise_m2: float) -> tuple[Float[Array, "steps B"], Float[Array, "h B"]]:
    """The time between observations, and the variance of each.

    That of the padding before the oldest is so great as to say that there was none.
    """
    times = np.ascontiguousarray(history.times_s.T)
    noises = np.full(times.shape, noise_m2)
    noises[1:][~history.valid[:, :-1].T] = _UNSEEN_M2
    return np.diff(times, axis=0), noises


def isotropic(
    history: History, variance: Float[Array, " B"], lead_s: Float[Array, " B"], noise_m: float, *, planar: bool
) -> Float[Array, "B 3 3"]:
    """A covariance that is the same along every axis; of a z that is carried, a pose's own.

    Never more than the highest speed that is believed allows.
    """
    most = noise_m**2 + (history.highest_speed_mps * lead_s) ** 2
    axes = np.repeat(np.minimum(variance, most)[:, None], 3, axis=1)
    if planar:
        axes[:, 2] = noise_m**2
    return axes[:, :, None] * np.eye(3)
