"""How noisy poses are, measured on them."""

from __future__ import annotations

import numpy as np
from jaxtyping import Float, Int

from sido.arrays import Array
from sido.predict.history import History

__all__ = ["measured_noise"]


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
    p = np.ascontiguousarray((history.positions - history.latest[:, None])[..., :axes].T)  # [axes, h, B]
    used = np.ascontiguousarray(history.valid[:, :-2].T)
    b = (times[1:-1] - times[:-2]) / np.where(used, times[2:] - times[:-2], 1.0)
    a = 1.0 - b
    off = p[:, 1:-1] - (a * p[:, :-2] + b * p[:, 2:])
    squares = np.where(used, (off * off).sum(axis=0) / (1.0 + a * a + b * b), 0.0)
    count = used.sum(axis=0)
    return squares.sum(axis=0) / (axes * np.maximum(count, 1)), count
