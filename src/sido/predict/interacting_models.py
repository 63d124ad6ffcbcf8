"""Two Kalman filters that interact: one for going straight on, one for turning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.predict.forecast import Forecast, leads_s, require_horizon
from sido.predict.history import History
from sido.predict.kalman import UNKNOWN_SPEED_M2PS2, isotropic, steps_and_noises
from sido.predict.settings import require_observations, require_positive

__all__ = ["InteractingModels"]


@final
@dataclass(frozen=True)
class InteractingModels:
    """An object that goes straight on, and now and then turns: an interacting multiple model filter.

    Two modes with the model of `Kalman`: in one the velocity hardly drifts, in the other it drifts fast. The object
    changes from one to the other at random. Before every pose each mode's estimate becomes the mixture of both, with
    the probabilities of having come from each; after it, each mode is as probable as its prediction was good.
    Where a direction changes, the second explains the poses better, takes over, and forgets the old velocity.

    Covariances are kept isotropic, the average over the axes, so that the answer turns with the world.
    """

    noise_m: float = 0.003
    """Standard deviation of a pose, along each axis."""
    cruise_drift_mps: float = 0.001
    """By how much the velocity has changed after a second of going straight on; standard deviation."""
    turn_drift_mps: float = 0.1
    """The same, of turning."""
    turn_every_s: float = 8.0
    """How long it goes straight on, on average."""
    turn_s: float = 0.2
    """How long a turn lasts, on average."""
    observations: int = 16
    """How many of the newest observations are looked at."""
    planar: bool = True
    """Carry z on as it was seen last; else it is filtered like x and y."""

    def __post_init__(self) -> None:
        require_positive(self, "noise_m", "cruise_drift_mps", "turn_drift_mps", "turn_every_s", "turn_s")
        require_observations(self)

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """Straight on from where the mixture of both has the object."""
        horizon = require_horizon(history, horizon_s)
        both = self._filtered(history.newest(self.observations))
        likely, axes = both.probability[:, None], both.position.shape[1]
        x, v = (likely * both.position).sum(0), (likely * both.velocity).sum(0)
        lead = leads_s(history, horizon)[:, -1]
        drift = np.array([[self.cruise_drift_mps**2], [self.turn_drift_mps**2]]) * np.minimum(lead, self.turn_s)
        along = both.covariance[0] + lead * (2.0 * both.covariance[1] + lead * both.covariance[2]) + drift * lead**2
        apart = both.position + lead * both.velocity - (x + lead * v)
        along = (both.probability * (along + (apart**2).sum(1) / axes)).sum(0)
        correction, velocity = np.zeros((len(history), 3)), np.zeros((len(history), 3))
        correction[:, :axes], velocity[:, :axes] = x.T, v.T
        covariance = isotropic(history, along, lead, self.noise_m, planar=self.planar)
        return Forecast.straight(history, velocity, horizon, correction, covariance)

    def _filtered(self, history: History) -> _Both:
        """Both modes at the latest pose; positions from there."""
        axes = 2 if self.planar else 3
        seen = np.moveaxis((history.positions - history.latest[:, None])[..., :axes], 0, -1)  # [h, axes, B]
        steps, noises = steps_and_noises(history, self.noise_m**2)
        drift = np.array([[self.cruise_drift_mps**2], [self.turn_drift_mps**2]])
        stays_s = np.array([[self.turn_every_s], [self.turn_s]])
        leaves = -np.expm1(-steps[:, None] / stays_s)  # [steps, 2, B]
        fresh = drift * steps[:, None]
        ones = np.ones((2, len(history)))
        likely = ones * (stays_s / stays_s.sum())
        x = np.stack([seen[0], seen[0]])
        v = np.zeros_like(x)
        p00, p01, p11 = ones * self.noise_m**2, 0.0 * ones, ones * UNKNOWN_SPEED_M2PS2
        for pose, dt, noise, leave, new in zip(seen[1:], steps, noises[1:], leaves, fresh, strict=True):
            came = (likely * leave)[::-1]
            likely += came - came[::-1]
            _mix(came / likely, x, v, p00, p01, p11)
            x += dt * v
            off = pose - x
            fast = p11 + new / 3.0
            p00 += dt * (2.0 * p01 + dt * fast)
            p01 += dt * (fast + new / 6.0)
            total = p00 + noise
            gain, turn = p00 / total, p01 / total
            x += gain[:, None] * off
            v += turn[:, None] * off
            p11 += new - turn * p01
            p00, p01 = gain * noise, turn * noise
            # The likelihood exp(-|off|^2 / 2 total) / total^(axes / 2), of both over that of the better one.
            cost = 0.5 * ((off * off).sum(1) / total + axes * np.log(total))
            likely *= np.exp(cost.min(0) - cost)
            likely /= likely[0] + likely[1]
        return _Both(likely, x, v, np.stack([p00, p01, p11]))


class _Both(NamedTuple):
    """What the two modes, the first axis, say of each object, the last."""

    probability: Float[Array, "2 B"]
    position: Float[Array, "2 axes B"]
    velocity: Float[Array, "2 axes B"]
    covariance: Float[Array, "3 2 B"]
    """P_00, P_01, P_11."""


def _mix(
    share: Float[Array, "2 B"],
    x: Float[Array, "2 axes B"],
    v: Float[Array, "2 axes B"],
    p00: Float[Array, "2 B"],
    p01: Float[Array, "2 B"],
    p11: Float[Array, "2 B"],
) -> None:
    """Mix each mode's estimate, in place, with `share` of the other's; covariances grow by how far apart they are."""
    dx, dv = x[1] - x[0], v[1] - v[0]
    growth = (1.0 - share) / len(dx)
    x[0] += share[0] * dx
    x[1] -= share[1] * dx
    v[0] += share[0] * dv
    v[1] -= share[1] * dv
    for p, apart in ((p00, dx * dx), (p01, dx * dv), (p11, dv * dv)):
        p += share * (p[::-1] - p + growth * apart.sum(0))
