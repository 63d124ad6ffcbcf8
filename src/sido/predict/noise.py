"""How noisy poses are, measured on them."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array
from sido.predict.history import History

__all__ = ["Jerks", "measured_noise"]


def measured_noise(history: History, axes: int) -> tuple[Float[Array, " B"], Int[Array, " B"]]:
    """The variance of a pose along each axis, in m^2, and from how many triples of poses it comes.

    Of three poses that follow each other, how far the second lies from the straight way between the others: motion
    hardly counts in that, however the object moves. With shares `a` and `b = 1 - a` of the time,

        e = p_i - (a p_{i-1} + b p_{i+1}),   var e = (1 + a^2 + b^2) noise^2

    0 from 0 triples where there are not three poses.
    """
    if history.positions.shape[1] < 3:
        return np.zeros(len(history)), np.zeros(len(history), dtype=np.int64)
    times = np.ascontiguousarray(history.times_s.T)
    p = np.empty((axes, *times.shape))
    for axis in range(axes):
        np.subtract(history.positions[..., axis].T, history.positions[:, -1, axis], out=p[axis])
    used = np.ascontiguousarray(history.valid[:, :-2].T)
    b = (times[1:-1] - times[:-2]) / np.where(used, times[2:] - times[:-2], 1.0)
    a = 1.0 - b
    off = p[:, 1:-1] - (a * p[:, :-2] + b * p[:, 2:])
    squares = np.where(used, (off * off).sum(axis=0) / (1.0 + a * a + b * b), 0.0)
    count = used.sum(axis=0)
    return squares.sum(axis=0) / (axes * np.maximum(count, 1)), count


class Jerks(NamedTuple):
    """How much the change of velocity changes, of four poses that follow each other.

    Straight lines and circles leave nothing in it (of these (v dt)^3 / r^2, less than 0.01 mm): noise and turns do.
    """

    squares: Float[Array, "q B"]
    """In m^2, such that their mean is a pose's variance along each axis (at equal intervals). 0 where there are not
    four poses."""
    variance: Float[Array, " B"]
    """By the second quietest seventh of the poses, so that two or three turns do not count."""
    bends: Float[Array, " B"]
    """What `measured_noise` finds: more exact, but for what the way itself bends."""
    triples: Int[Array, " B"]
    """From how many."""

    @staticmethod
    def of(time: Float[Array, "h B"], position: Float[Array, "axes h B"], valid: Bool[Array, "h B"]) -> Jerks:
        """From poses in order, the oldest first."""
        if len(time) < 4:
            nothing = np.zeros(time.shape[1])
            return Jerks(np.zeros((0, len(nothing))), nothing, nothing, np.zeros(len(nothing), dtype=np.int64))
        step = time[1:] - time[:-1] if valid.all() else np.where(valid[:-1], time[1:] - time[:-1], 1.0)
        both = step[1:] + step[:-1]
        velocity = (position[:, 1:] - position[:, :-1]) / step
        bend = (velocity[:, 1:] - velocity[:, :-1]) / both
        a, b = step[1:] / both, step[:-1] / both
        straight = (bend * bend).sum(axis=0) * (step[1:] * step[:-1]) ** 2 / (1.0 + a * a + b * b)
        triples = valid[:-2].sum(axis=0)
        bends = (straight * valid[:-2]).sum(axis=0) / (len(position) * np.maximum(triples, 1))
        jerk = bend[:, 1:] - bend[:, :-1]
        third = step[2:] + step[1:-1] + step[:-2]
        scale = third * third / (9.0 * math.sqrt(5.0 * len(position)))  # of equal intervals
        squares = np.where(valid[:-3], (jerk * jerk).sum(axis=0) * (scale * scale), 0.0)
        parts = np.array_split(np.arange(len(squares)), 7)
        means = np.stack([_mean(squares[part], valid[:-3][part]) for part in parts])
        means.sort(axis=0)
        variance = np.where(np.isfinite(means[1]), means[1], means[0]) / _SECOND_QUIETEST
        return Jerks(squares, np.where(np.isfinite(variance), variance, 0.0), bends, triples)


_SECOND_QUIETEST = 0.55
"""The second smallest of seven means of four squares, over their mean."""


def _mean(squares: Float[Array, "n B"], used: Bool[Array, "n B"]) -> Float[Array, " B"]:
    count = used.sum(axis=0)
    return np.where(count > 0, squares.sum(axis=0) / np.maximum(count, 1), np.inf)
