"""Where did the object turn last? A forecast from every answer, each as likely as its poses make it."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, final

import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.predict.forecast import Forecast, require_horizon
from sido.predict.history import History
from sido.predict.noise import measured_noise
from sido.predict.settings import require_observations, require_positive

__all__ = ["LastTurn", "Legs", "Poses"]

_EACH = 16
_BLOCK = 256
"""So many objects at once: what is worked on then stays in the processor's cache."""
_ENOUGH_TRIPLES = 6
"""To measure the noise on; before, `usual_noise_m` is taken."""
_LEAST_NOISE_M = 1e-5
_RESTLESS = 0.02
"""How likely it is that what came before the last turn was no straight leg."""


@final
@dataclass(frozen=True)
class LastTurn:
    """An object that goes straight on in legs: the turn between the last two may be before any of the poses.

    For each place of the turn, a straight line goes through the poses after it, by least squares, with a normal
    distribution of velocities known beforehand; the marginal likelihood of those poses, and of the ones before, says
    how likely that place is. The forecast is the mean over the places. It is what an interacting multiple model filter
    approximates, without the passes of a filter: sums over all windows at once.

    The noise is measured on the poses themselves. Where they have none, every line is exact.
    """

    speed_mps: float | None = None
    """The object's known speed: the poses then give the direction only. None: measured."""
    turn_every_s: float = 8.0
    """How long a leg lasts, on average."""
    usual_speed_mps: float = 0.05
    """Standard deviation of a velocity of which nothing is known, along each axis."""
    usual_noise_m: float = 0.003
    """Of a pose, where there are too few to measure it."""
    observations: int = 28
    """How many of the newest observations are looked at."""
    planar: bool = True
    """Carry z on as it was seen last; else it is treated like x and y."""

    def __post_init__(self) -> None:
        require_positive(self, "turn_every_s", "usual_speed_mps", "usual_noise_m")
        if self.speed_mps is not None:
            require_positive(self, "speed_mps")
        require_observations(self)

    def __call__(self, history: History, horizon_s: float | Float[Array, " B"]) -> Forecast:
        """Straight on, by the mean of all lines."""
        horizon = require_horizon(history, horizon_s)
        recent = history.newest(self.observations)
        correction, velocity = np.zeros((len(history), 3)), np.zeros((len(history), 3))
        for begin in range(0, len(history), _BLOCK):
            block = slice(begin, begin + _BLOCK)
            self._lines(recent.rows(block), correction[block], velocity[block])
        return Forecast.straight(history, velocity, horizon, correction)

    def _lines(self, history: History, correction: Float[Array, "B 3"], velocity: Float[Array, "B 3"]) -> None:
        """The mean of all lines, into the two arrays."""
        axes = 2 if self.planar else 3
        legs = self.legs(Poses.of(history, axes), self._noise(history, axes))
        correction[:, :axes] = (legs.likely * legs.offset).sum(axis=1).T
        velocity[:, :axes] = (legs.likely * legs.velocity).sum(axis=1).T

    def legs(self, poses: Poses, noise: Float[Array, " B"]) -> Legs:
        """A line for each place of the last turn: before all poses first, then before some of them."""
        begins = _begins(len(poses.valid))
        after, before = poses.sums(begins)
        ridge = after.tt + noise / self._usual2
        straight = self._evidence(before, noise, before.tt + noise / self._usual2)
        restless = poses.restless(noise, self._usual2, begins) + math.log(_RESTLESS)
        weight = self._evidence(after, noise, ridge)
        weight[1:] += np.maximum(straight, restless)[1:] + self._turned(poses, noise, begins[1:])
        # A leg of the newest pose alone would say that the object rests; whether it turns right now, no pose can tell.
        seen = poses.valid[begins] & (after.poses > 1.0)
        seen[1:] &= poses.valid[begins[1:] - 1]
        seen[0] = poses.valid[-1]
        weight = np.where(seen, weight, -np.inf)
        most = np.maximum(weight.max(axis=0), -1e300)
        likely = np.exp(weight - most)
        total = np.maximum(likely.sum(axis=0), 1e-300)
        lines = after.tp / ridge if self.speed_mps is None else self._at_known_speed(after, noise)
        likely /= total
        newest = slice(-_EACH, None)  # of the others, that are not all there, a single bent pose might look restless
        restless = (likely[newest] * (restless > straight)[newest]).sum(axis=0)
        return Legs(likely, after.mean_p - after.mean_t * lines, lines, most + np.log(total), restless)

    def _turned(self, poses: Poses, noise: Float[Array, " B"], begins: Int[Array, " n"]) -> Float[Array, "n B"]:
        """The logarithm of how likely a turn before each of these poses is, and that the two legs meet there.

        A leg begins where the last one ended: within a few times the noise, which the flat prior does not know. Of
        two legs there are two flat priors, and one turn.
        """
        axes = len(poses.position)
        since = (poses.time[begins] - poses.time[begins - 1]) * poses.valid[begins - 1]
        return np.log(since / self.turn_every_s + 1e-12) - 0.5 * axes * np.log(8.0 * math.pi * noise)

    @property
    def _usual2(self) -> float:
        return self.usual_speed_mps**2

    def _noise(self, history: History, axes: int) -> Float[Array, " B"]:
        """The variance of a pose."""
        measured, triples = measured_noise(history, axes)
        return np.maximum(np.where(triples < _ENOUGH_TRIPLES, self.usual_noise_m**2, measured), _LEAST_NOISE_M**2)

    def _evidence(self, sums: _Sums, noise: Float[Array, " B"], ridge: Float[Array, "h B"]) -> Float[Array, "h B"]:
        """The logarithm of the marginal likelihood of each leg's poses, with a flat prior of where it begins."""
        axes = len(sums.tp)
        left = (sums.pp - (sums.tp * sums.tp).sum(axis=0) / ridge) / noise
        widths = np.log(np.maximum(sums.poses, 1.0) * ridge * (self._usual2 / noise))
        several = np.maximum(sums.poses - 1.0, 0.0)
        return -0.5 * (axes * (several * np.log(2.0 * math.pi * noise) + widths) + left)

    def _at_known_speed(self, after: _Sums, noise: Float[Array, " B"]) -> Float[Array, "axes h B"]:
        """The mean velocity of each leg where `|v|` is known.

        The direction has a von Mises distribution of concentration `k`, and its mean the length `I_1(k) / I_0(k)`; here
        by Amos' bound, which is off by 2 % at most and exact at both ends.
        """
        assert self.speed_mps is not None
        rise = np.sqrt((after.tp * after.tp).sum(axis=0))
        k = self.speed_mps * rise / noise
        length = k / (0.5 + np.sqrt(k * k + 2.25))
        return after.tp * (self.speed_mps * length / np.maximum(rise, 1e-300))


class Legs(NamedTuple):
    """Straight lines through the last poses; the first is through all."""

    likely: Float[Array, "n B"]
    """How likely each is the leg that the object is on; of all, 1."""
    offset: Float[Array, "axes n B"]
    """Where each has the object at the latest pose, from there."""
    velocity: Float[Array, "axes n B"]
    evidence: Float[Array, " B"]
    """The logarithm of how likely all the poses are, whichever of them is true."""
    restless: Float[Array, " B"]
    """How likely it is that what came before the last turn was no straight leg."""


def _begins(poses: int) -> Int[Array, " n"]:
    """Where a leg may have begun: before all poses, which the first stands for, or with any of them.

    Of the older ones, where it matters less, with every fourth.
    """
    behind = [*range(_EACH), *range(_EACH, poses, 4)]
    return np.array([0, *sorted({poses - 1 - k for k in behind if k < poses - 1})])


class _Sums(NamedTuple):
    """Of the poses of a leg: how many, their means, and the sums of products of what they differ from these by."""

    poses: Float[Array, "h B"]
    mean_t: Float[Array, "h B"]
    mean_p: Float[Array, "axes h B"]
    tt: Float[Array, "h B"]
    tp: Float[Array, "axes h B"]
    pp: Float[Array, "h B"]

    @staticmethod
    def of(sums: Float[Array, "h terms B"], axes: int) -> _Sums:
        """From those of 1, t, p, t^2, t p, |p|^2."""
        each = np.split(sums.swapaxes(0, 1), np.cumsum([1, 1, axes, 1, axes]))
        count, t, p, tt, tp, pp = each[0][0], each[1][0], each[2], each[3][0], each[4], each[5][0]
        share = 1.0 / np.maximum(count, 1.0)
        mean_t, mean_p = t * share, p * share
        tt, pp = tt - t * mean_t, pp - (p * mean_p).sum(axis=0)
        return _Sums(count, mean_t, mean_p, np.maximum(tt, 0.0), tp - t * mean_p, np.maximum(pp, 0.0))


class Poses(NamedTuple):
    """Times and positions from the latest one, the oldest first; 0 where there is none."""

    valid: Bool[Array, "h B"]
    time: Float[Array, "h B"]
    position: Float[Array, "axes h B"]
    since: Float[Array, "h B"]
    """Since the pose before; 0 for the oldest."""
    moved: Float[Array, "h B"]
    """The square of how far from the pose before; 0 for the oldest."""

    @staticmethod
    def of(history: History, axes: int) -> Poses:
        valid = np.ascontiguousarray(history.valid.T)
        times = np.ascontiguousarray(history.times_s.T)
        position = np.empty((axes, *valid.shape))
        for axis in range(axes):
            np.subtract(history.positions[..., axis].T, history.positions[:, -1, axis], out=position[axis])
        since, moved = np.zeros_like(times), np.zeros_like(times)
        np.subtract(times[1:], times[:-1], out=since[1:])
        step = position[:, 1:] - position[:, :-1]
        step *= step
        step.sum(axis=0, out=moved[1:])
        times = times - times[-1]
        if not valid.all():
            times *= valid
            position *= valid
        return Poses(valid, times, position, since, moved)

    def sums(self, begins: Int[Array, " n"]) -> tuple[_Sums, _Sums]:
        """From each of these poses to the latest, and of all the poses before each."""
        time, position = self.time, self.position
        squares = (position * position).sum(axis=0)
        terms = np.stack([self.valid, time, *position, time * time, *(time * position), squares], axis=1)
        after = (self._since(begins) @ terms.reshape(len(time), -1)).reshape(-1, *terms.shape[1:])
        return _Sums.of(after, len(position)), _Sums.of(after[:1] - after, len(position))

    def _since(self, begins: Int[Array, " n"]) -> Float[Array, "n h"]:
        """A product with it is a sum from each of these poses on; much faster than np.cumsum along the first axis."""
        return (np.arange(len(self.time)) >= begins[:, None]).astype(float)

    def restless(self, noise: Float[Array, " B"], usual2: float, begins: Int[Array, " n"]) -> Float[Array, "n B"]:
        """The logarithm of how likely the poses before each of these are if every step has a velocity of its own."""
        spread = 2.0 * noise + usual2 * self.since**2
        steps = -0.5 * (len(self.position) * np.log(2.0 * math.pi * spread) + self.moved / spread)
        steps[0] = 0.0
        steps[1:] *= self.valid[:-1]
        return (1.0 - self._since(begins)) @ steps
