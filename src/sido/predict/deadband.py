"""Still objects stay, however their poses jitter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Bool, Float

from sido.arrays import Array
from sido.errors import SettingError
from sido.predict.forecast import Forecast, unseen
from sido.predict.history import History
from sido.predict.noise import measured_noise
from sido.predict.predictor import Predictor

__all__ = ["Deadband"]


@final
@dataclass(frozen=True)
class Deadband:
    """Any predictor; but an object whose poses do not show that it moves is where it was seen last.

    Poses show motion where one of three straight lines through them, through all, the older and the newer half, slopes
    more than their noise explains. The noise is measured on the same poses (`measured_noise`), so that nothing needs
    to be known of the camera: with `v` the slope, `D` axes and `S_tt = sum (t - mean t)^2`,

        |v|^2 S_tt / (D noise^2)  >  the quantile of F(2, n - 2) that chance exceeds in `false_alarm` / 3 of all cases

    The halves are there for an object that has just turned round. Fewer than three poses show nothing.
    """

    predictor: Predictor
    observations_at_rest: int = 32
    """How many of the newest observations are looked at."""
    false_alarm: float = 1e-3
    """In what share of all questions a still object may be taken to move."""
    slowest_mps: float = 0.001
    """What goes slower rests."""
    planar: bool = True
    """Look at x and y only."""

    def __post_init__(self) -> None:
        if self.observations_at_rest < 3:
            raise SettingError(
                "too few observations",
                field="Deadband.observations_at_rest",
                found=self.observations_at_rest,
                expected="3 or more",
            )
        for name, top in (("false_alarm", 1.0), ("slowest_mps", np.inf)):
            value = getattr(self, name)
            if not 0.0 < value < top:
                raise SettingError(
                    "not a usable number", field=f"Deadband.{name}", found=value, expected=f"between 0 and {top:g}"
                )

    @property
    def observations(self) -> int:
        """As many as the predictor and the deadband look at."""
        return max(self.predictor.observations, self.observations_at_rest)

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """The predictor's answer; for objects at rest, where they were seen last."""
        answer = self.predictor(history, horizon_s)
        rests = ~self.moves(history)
        here = unseen(history, history.latest)
        path = None if answer.path is None else np.where(rests[:, None, None], here[:, None], answer.path)
        positions = np.where(rests[:, None], here, answer.positions)
        return Forecast(positions, answer.covariance, path)

    def moves(self, history: History) -> Bool[Array, " B"]:
        """Which objects move."""
        recent = history.newest(self.observations_at_rest)
        axes = 2 if self.planar else 3
        noise, triples = measured_noise(recent, axes)
        # Neighbouring triples share poses: n of them say as much as n / 2 independent ones, along each axis.
        freedom = np.maximum(axes * triples / 2.0, 1.0)
        most = freedom / 2.0 * ((self.false_alarm / 3.0) ** (-2.0 / freedom) - 1.0)
        sums = _Sums.of(recent, axes)
        moves = np.zeros(len(recent), dtype=np.bool_)
        for part in (sums.newer, sums.older, sums.newer + sums.older):
            slope, spread = _slope(part)
            moves |= (slope * spread > most * axes * noise) & (slope > self.slowest_mps**2)
        return moves & (triples > 0)


class _Sums(NamedTuple):
    """Of the poses of both halves: how many, and of t, t^2, p, t p, one after another; from the latest pose."""

    newer: Float[Array, "terms B"]
    older: Float[Array, "terms B"]

    @staticmethod
    def of(history: History, axes: int) -> _Sums:
        valid = np.ascontiguousarray(history.valid.T)
        time = np.ascontiguousarray(history.times_s.T) + history.age_s
        moments = np.empty((3 + 2 * axes, *valid.shape))
        moments[0], moments[1] = valid, time * valid
        np.multiply(moments[1], time, out=moments[2])
        for axis in range(axes):
            away = moments[3 + axis]
            np.subtract(history.positions[..., axis].T, history.positions[:, -1, axis], out=away)
            away *= valid
            np.multiply(away, time, out=moments[3 + axes + axis])
        newer = (np.arange(len(valid))[::-1, None] < (history.count + 1) // 2).astype(float)
        of_newer = np.einsum("mhb,hb->mb", moments, newer)
        return _Sums(of_newer, moments.sum(axis=1) - of_newer)


def _slope(sums: Float[Array, "terms B"]) -> tuple[Float[Array, " B"], Float[Array, " B"]]:
    """`|v|^2` and `S_tt` of the straight line through some of the poses; 0 and 0 where there are not two."""
    axes = (len(sums) - 3) // 2
    mean = sums[1] / np.maximum(sums[0], 1.0)
    spread = np.where(sums[0] > 1.0, np.maximum(sums[2] - mean * sums[1], 0.0), 0.0)
    rise = sums[3 + axes :] - mean * sums[3 : 3 + axes]
    squares = np.where(spread > 0.0, (rise * rise).sum(axis=0), 0.0)
    return squares / np.where(spread > 0.0, spread, 1.0) ** 2, spread
