"""The statistics that LeRobot keeps of every feature: extremes, mean, deviation, quantiles, in bounded memory."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Float, Int64, UInt8

from sido.arrays import Array

__all__ = ["ImageStatistics", "Statistics", "VectorStatistics", "to_json"]

Stats = dict[str, Array]

_QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}
_KEPT_NUMBERS = 1 << 20
_PIXELS_ACROSS = 150  # as in lerobot: large images are thinned out to about this


@runtime_checkable
class Statistics(Protocol):
    """Numbers seen so far, of one feature."""

    def update(self, values: Array) -> None:
        """Take in the values of some steps."""
        ...

    def result(self) -> Stats:
        """`min`, `max`, `mean`, `std` (over all, not one less), `count` (of steps) and the quantiles, by name."""
        ...


class VectorStatistics:
    """Of every entry of a vector.

    Mean and squared deviation are combined stretch by stretch (Chan's formula), exactly. Quantiles are exact while
    all rows fit the memory set aside (2^20 numbers); beyond, of every second, every fourth, ... row.
    """

    def __init__(self, size: int) -> None:
        self._count = 0
        self._mean, self._squares = np.zeros(size), np.zeros(size)
        self._min, self._max = np.full(size, np.inf), np.full(size, -np.inf)
        self._capacity = max(_KEPT_NUMBERS // max(size, 1), 2)
        self._stride = 1
        self._kept: list[Float[Array, "rows size"]] = []

    def update(self, values: Float[Array, "rows size"]) -> None:
        rows = len(values)
        if rows == 0:
            return
        with np.errstate(
            invalid="ignore", over="ignore"
        ):  # recorded arrays may hold NaN and infinity; so then do their statistics
            mean = values.mean(axis=0)
            shift, total = mean - self._mean, self._count + rows
            self._squares = self._squares + ((values - mean) ** 2).sum(axis=0) + shift**2 * (self._count * rows / total)
            self._mean = self._mean + shift * (rows / total)
            self._min = np.minimum(self._min, values.min(axis=0))
            self._max = np.maximum(self._max, values.max(axis=0))
        self._kept.append(values[-self._count % self._stride :: self._stride].copy())
        self._count = total
        self._thin_out()

    def _thin_out(self) -> None:
        """Keep the rows whose number is a multiple of a stride that doubles when they become too many."""
        while sum(map(len, self._kept)) > self._capacity:
            self._stride *= 2
            self._kept = [np.concatenate(self._kept)[::2]]

    def result(self) -> Stats:
        with np.errstate(invalid="ignore", over="ignore"):
            quantiles = np.quantile(np.concatenate(self._kept), list(_QUANTILES.values()), axis=0)
        return {
            "min": self._min,
            "max": self._max,
            "mean": self._mean,
            "std": np.sqrt(self._squares / self._count),
            "count": np.array([self._count]),
            **dict(zip(_QUANTILES, quantiles, strict=True)),
        }


class ImageStatistics:
    """Of every colour channel, in [0, 1], shaped `(3, 1, 1)`: 256 counters a channel tell everything."""

    def __init__(self) -> None:
        self._images = 0
        self._histogram: Int64[Array, "3 256"] = np.zeros((3, 256), dtype=np.int64)

    def update(self, values: UInt8[Array, "N height width 3"]) -> None:
        self._images += len(values)
        step = max(max(values.shape[1:3]) // _PIXELS_ACROSS, 1)
        thinned = values[:, ::step, ::step]
        self._histogram += np.stack([np.bincount(thinned[..., channel].ravel(), minlength=256) for channel in range(3)])

    def result(self) -> Stats:
        level = np.arange(256) / 255.0
        share = self._histogram / self._histogram.sum(axis=1, keepdims=True)
        mean = share @ level
        seen = self._histogram > 0
        below = np.cumsum(share, axis=1)
        flat = {
            "min": level[seen.argmax(axis=1)],
            "max": level[255 - seen[:, ::-1].argmax(axis=1)],
            "mean": mean,
            "std": np.sqrt((share * (level - mean[:, None]) ** 2).sum(axis=1)),
            # The least level that has at least that share of the pixels at or below it.
            **{name: level[(below >= share_below - 1e-12).argmax(axis=1)] for name, share_below in _QUANTILES.items()},
        }
        return {**{name: value.reshape(3, 1, 1) for name, value in flat.items()}, "count": np.array([self._images])}


def to_json(stats: dict[str, Stats]) -> dict[str, Any]:
    """As `meta/stats.json` holds them."""
    return {key: {name: value.tolist() for name, value in values.items()} for key, values in stats.items()}
