"""What has been seen of the objects, as predictors read it: put in order, and without what cannot be believed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Bool, Float, Int

from sido.arrays import Array, read_only
from sido.errors import DataError, SettingError

__all__ = ["Belief", "History"]

_ROUNDING_S = 1e-9


@final
@dataclass(frozen=True)
class Belief:
    """Which poses are believed."""

    longest_gap_s: float = 1.0
    """What came before so long a time without a pose is forgotten: the object may have done anything meanwhile. After
    so long without a pose up to now, the object is taken to rest where it was seen last."""
    highest_speed_mps: float = 0.5
    """No object goes faster; no forecast does."""
    slack_m: float = 0.05
    """A pose is too far from the one before it where it is further away than this beyond what the speed allows."""
    clock_tolerance_s: float = 0.05
    """A stamp may lie so far in the future, by clocks that disagree a little; a later one is not believed."""

    def __post_init__(self) -> None:
        for name in ("longest_gap_s", "highest_speed_mps", "slack_m", "clock_tolerance_s"):
            value = getattr(self, name)
            if not (np.isfinite(value) and value > 0.0):
                raise SettingError(
                    "not a usable number", field=f"Belief.{name}", found=value, expected="a finite number above 0"
                )


@final
@dataclass(frozen=True)
class History:
    """The believable observations of `B` objects, each at its own times, the newest last.

    An object with fewer observations than `h` has them at the end of its row; before them, its oldest one is repeated,
    and `valid` is False. `History.of` makes one from whatever came in.
    """

    positions: Float[Array, "B h 3"]
    """Metres. All 0 for an object of which nothing is known."""
    times_s: Float[Array, "B h"]
    """Measured from now: -0.1 is a tenth of a second ago. Rising along each row, over the valid ones."""
    valid: Bool[Array, "B h"]
    highest_speed_mps: float
    """No forecast lets an object go faster."""

    def __post_init__(self) -> None:
        for name in ("positions", "times_s", "valid"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @staticmethod
    def of(
        positions: Float[Array, "B h 3"],
        stamps_s: Float[Array, "B h"],
        now_s: float | Float[Array, " B"],
        valid: Bool[Array, "B h"] | None = None,
        belief: Belief = Belief(),
    ) -> History:
        """Put observations in order; the arguments are not written to.

        In this order:

        - An observation counts as missing where `valid` is False, where position or stamp is not finite, and where the
          stamp lies in the future.
        - Where time goes backwards or stands still, the observation that came later counts as missing. So a pose that
          is handed in twice, with its own stamp, counts once.
        - An observation that is too far from its neighbours (`Belief`), the two before and the two after it, is an
          outlier and counts as missing; the newest has only those before. So a jump is believed from its second
          observation on.
        - What came before a believed jump, or before a gap of `longest_gap_s`, is forgotten.
        - After `longest_gap_s` without a pose up to now only the newest stays: one observation has no velocity.

        Args:
            positions: Metres, any frame; what is missing may hold anything, NaN included.
            stamps_s: When the object was there, by any clock; in the order in which the poses came in.
            now_s: The time of asking, by the same clock.
            valid: Which observations there are; all, if not given.
            belief: What is believed.
        """
        _require_shapes(positions, stamps_s, valid)
        now = np.broadcast_to(np.asarray(now_s, dtype=float), len(positions))
        if not np.isfinite(now).all():
            raise DataError("not a time", field="now_s", found=now_s, expected="finite seconds")
        times = stamps_s - now[:, None]
        seen = np.isfinite(times)
        for axis in range(3):  # `all` along an axis of three takes ten times as long
            seen &= np.isfinite(positions[..., axis])
        if valid is not None:
            seen &= valid
        known = times if seen.all() else np.where(seen, times, -np.inf)
        seen &= known <= belief.clock_tolerance_s
        rising = known if seen.all() else np.where(seen, times, -np.inf)
        if not (rising[:, 1:] > rising[:, :-1] + _ROUNDING_S).all():  # else each is later than all before
            before = np.maximum.accumulate(rising, axis=1)
            seen[:, 1:] &= rising[:, 1:] > before[:, :-1] + _ROUNDING_S
        history = _packed(positions, times, seen, belief.highest_speed_mps)
        far = _far(history, belief)
        if far.any():
            history = history._without(~_isolated(history, belief))
            far = _far(history, belief)
        broken = (far | (np.diff(history.times_s, axis=1) > belief.longest_gap_s)) & history.valid[:, :-1]
        stale = history.age_s > belief.longest_gap_s
        if not (broken.any() or stale.any()):
            return history
        return history._without(_since_last_break(broken, stale))

    def __len__(self) -> int:
        return len(self.positions)

    @property
    def count(self) -> Int[Array, " B"]:
        """How many observations there are of each object."""
        return self.valid.sum(axis=1)

    @property
    def latest(self) -> Float[Array, "B 3"]:
        """Where each object was seen last."""
        return self.positions[:, -1]

    @property
    def age_s(self) -> Float[Array, " B"]:
        """How long ago that was."""
        return -self.times_s[:, -1]

    def newest(self, count: int) -> History:
        """Only the last `count` observations; fewer where there are fewer."""
        if count >= self.positions.shape[1]:
            return self
        last = slice(-count, None)
        return History(self.positions[:, last], self.times_s[:, last], self.valid[:, last], self.highest_speed_mps)

    def rows(self, which: slice) -> History:
        """Only those objects."""
        return History(self.positions[which], self.times_s[which], self.valid[which], self.highest_speed_mps)

    def velocities(self) -> Float[Array, "B steps 3"]:
        """From each observation to the next, in m/s; 0 where one of them is missing."""
        moved, lasted = np.diff(self.positions, axis=1), np.diff(self.times_s, axis=1)
        return moved / np.where(lasted > 0.0, lasted, 1.0)[..., None]

    def _without(self, kept: Bool[Array, "B h"]) -> History:
        if (kept | ~self.valid).all():
            return self
        return _packed(self.positions, self.times_s, self.valid & kept, self.highest_speed_mps)


def _packed(
    positions: Float[Array, "B h 3"], times: Float[Array, "B h"], seen: Bool[Array, "B h"], highest_speed_mps: float
) -> History:
    """Move what was seen to the end of each row, and repeat the oldest before it."""
    if seen.all():
        return History(positions.astype(float), times, seen, highest_speed_mps)
    steps = seen.shape[1]
    order = np.argsort(seen, axis=1, kind="stable")
    missing = steps - seen.sum(axis=1)
    place = np.maximum(np.arange(steps), np.minimum(missing, steps - 1)[:, None])
    order = np.take_along_axis(order, place, axis=1)
    none = missing == steps
    return History(
        np.where(none[:, None, None], 0.0, np.take_along_axis(positions, order[..., None], axis=1)),
        np.where(none[:, None], 0.0, np.take_along_axis(times, order, axis=1)),
        np.arange(steps) >= missing[:, None],
        highest_speed_mps,
    )


def _far(history: History, belief: Belief, lag: int = 1) -> Bool[Array, "B steps"]:
    """Where an observation is too far from the one `lag` before it."""
    moved = history.positions[:, lag:] - history.positions[:, :-lag]
    lasted = history.times_s[:, lag:] - history.times_s[:, :-lag]
    return np.einsum("bhi,bhi->bh", moved, moved) > (belief.slack_m + belief.highest_speed_mps * lasted) ** 2


def _isolated(history: History, belief: Belief) -> Bool[Array, "B h"]:
    """Too far from the two before it and the two after it, or from as many of them as there are."""
    witnessed = np.zeros_like(history.valid)
    for lag in range(1, min(2, history.valid.shape[1] - 1) + 1):
        near = ~_far(history, belief, lag) & history.valid[:, :-lag]
        witnessed[:, lag:] |= near
        witnessed[:, :-lag] |= near
    isolated = history.valid & ~witnessed
    # Where none has a witness, the oldest stays: it was believed before.
    oldest = np.arange(history.valid.shape[1]) == (history.valid.shape[1] - history.count)[:, None]
    return isolated & ~(oldest & (isolated == history.valid).all(axis=1, keepdims=True))


def _since_last_break(broken: Bool[Array, "B steps"], stale: Bool[Array, " B"]) -> Bool[Array, "B h"]:
    later_breaks = np.cumsum(broken[:, ::-1], axis=1)[:, ::-1]
    kept = np.concatenate([later_breaks == 0, np.ones((len(broken), 1), dtype=np.bool_)], axis=1)
    kept[:, :-1] &= ~stale[:, None]
    return kept


def _require_shapes(
    positions: Float[Array, "B h 3"], stamps_s: Float[Array, "B h"], valid: Bool[Array, "B h"] | None
) -> None:
    expected = positions.shape[:2]
    if positions.ndim != 3 or positions.shape[2] != 3 or positions.shape[1] == 0:
        raise DataError("not histories of positions", field="positions", found=positions.shape, expected="[B, h, 3]")
    for name, array in (("stamps_s", stamps_s), ("valid", valid)):
        if array is not None and array.shape != expected:
            raise DataError("does not fit the positions", field=name, found=array.shape, expected=expected)
