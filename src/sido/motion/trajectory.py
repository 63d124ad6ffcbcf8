"""Where a moving object is, and how fast it goes, at any time: exact, and free of any time step."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from jaxtyping import Complex, Float, Int

from sido.arrays import Array, FloatArray, read_only
from sido.errors import SettingError
from sido.motion.path import Path, advance
from sido.motion.schedule import Schedule

__all__ = ["TABLE_COLUMNS", "Trajectory"]

TABLE_COLUMNS = (
    "time_s", "x_m", "y_m", "heading_x", "heading_y", "curvature_per_m", "speed_mps", "acceleration_mps2"
)  # fmt: skip
"""The columns of `Trajectory.table`."""

_SHORTEST_S = 1e-12
_ROUNDING_S = 1e-9


@dataclass(frozen=True)
class Trajectory:
    """A motion from time 0 to `duration_s`, as segments of constant curvature and constant acceleration.

    In segment `i`, with `tau = t - t_i` and the way `u = v tau + a tau^2 / 2`,

        position = p + h u sinc(k u / 2) e^{iku/2}        velocity = (v + a tau) h e^{iku}

    (`sido.motion.path`). Velocity jumps at a reflection; at that very time it is the new one. The times asked for may
    have any shape; the answers depend on nothing but them.
    """

    table: Float[Array, "S 8"]
    """One row a segment, `TABLE_COLUMNS`, in order of time: all that native code needs to do the same sum."""
    height_m: float
    duration_s: float
    chances_s: Float[Array, " K"]
    """When a random draw changed the motion, in order: what comes after could not be known before."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "table", read_only(self.table.copy()))
        object.__setattr__(self, "chances_s", read_only(self.chances_s.copy()))

    @staticmethod
    def of(path: Path, schedule: Schedule, height_m: float) -> Trajectory:
        """Travel the path by the schedule: a segment ends where either of them has a joint."""
        duration = schedule.duration_s
        times = np.union1d(schedule.times_s, schedule.time_s(path.distances_m))
        times = times[(np.diff(times, prepend=-1.0) > _SHORTEST_S) & (times < duration)]
        middles = (times + np.append(times[1:], duration)) / 2  # unlike its ends, well inside of one stretch of each
        stretch = schedule.stretch_at(middles)
        piece = np.maximum(np.searchsorted(path.distances_m, schedule.distance_m(middles), side="right") - 1, 0)
        way = schedule.distance_in(stretch, times) - path.distances_m[piece]
        curvature = path.curvatures[piece]
        position = path.starts[piece] + advance(path.headings[piece], curvature, way)
        heading = path.headings[piece] * np.exp(1j * curvature * way)
        acceleration = schedule.accelerations_mps2[stretch]
        speed = schedule.speeds_mps[stretch] + acceleration * (times - schedule.times_s[stretch])
        columns = (
            times, position.real, position.imag, heading.real, heading.imag, curvature, np.maximum(speed, 0.0),
            acceleration,
        )  # fmt: skip
        chances = np.union1d(schedule.chances_s, schedule.time_s(path.chances_m))
        return Trajectory(
            np.stack(columns, axis=1), height_m, duration, chances[(chances > 0.0) & (chances < duration)]
        )

    def position(self, t: FloatArray | float) -> Float[Array, "*batch 3"]:
        """Where the object is, in metres."""
        rows, tau, way = self._at(t)
        plane = _plane(rows, 1) + advance(_plane(rows, 3), rows[:, 5], way)
        return _spatial(plane, np.full(len(tau), self.height_m), np.shape(t))

    def velocity(self, t: FloatArray | float) -> Float[Array, "*batch 3"]:
        """Its velocity, in m/s."""
        rows, tau, way = self._at(t)
        speed = np.maximum(rows[:, 6] + rows[:, 7] * tau, 0.0)
        return _spatial(speed * _plane(rows, 3) * np.exp(1j * rows[:, 5] * way), np.zeros(len(tau)), np.shape(t))

    def distance(self, t: FloatArray | float) -> Float[Array, "*batch"]:
        """The way travelled since time 0, in metres."""
        rows, _, way = self._at(t)
        lasts = np.diff(self.table[:, 0])
        ways = self.table[:-1, 6] * lasts + 0.5 * self.table[:-1, 7] * lasts**2
        before = np.concatenate([[0.0], np.cumsum(ways)])
        return (before[self._segment(rows[:, 0])] + way).reshape(np.shape(t))

    def predictable_until(self, t: float) -> float:
        """Until when the motion is settled at time `t`: the next random draw, or the end of the trajectory.

        Up to then it follows from the state at `t` and the rules; `position` knows what comes after, too, as an oracle.
        """
        later = int(np.searchsorted(self.chances_s, t, side="right"))
        return float(self.chances_s[later]) if later < len(self.chances_s) else self.duration_s

    def turns_s(self, least_rad: float) -> Float[Array, " K"]:
        """When the heading jumps by at least so much, in order: reflections, reversals, corners. A bend is no jump."""
        times, heading, curvature = self.table[:, 0], _plane(self.table, 3), self.table[:, 5]
        lasts = np.diff(times)
        ways = self.table[:-1, 6] * lasts + 0.5 * self.table[:-1, 7] * lasts**2
        before = heading[:-1] * np.exp(1j * curvature[:-1] * ways)
        return times[1:][np.abs(np.angle(heading[1:] / before)) >= least_rad]

    def _segment(self, t: Float[Array, " N"]) -> Int[Array, " N"]:
        return np.maximum(np.searchsorted(self.table[:, 0], t, side="right") - 1, 0)

    def _at(self, t: FloatArray | float) -> tuple[Float[Array, "N 8"], Float[Array, " N"], Float[Array, " N"]]:
        """For each time, in one row: the segment, the time into it and the way into it."""
        times = np.asarray(t, dtype=float).reshape(-1)
        if not ((times >= -_ROUNDING_S) & (times <= self.duration_s + _ROUNDING_S)).all():
            raise SettingError(
                "asked for a time that was not planned",
                field="t",
                found=f"{times.min():g} to {times.max():g} s",
                expected=f"0 to {self.duration_s:g} s",
                fix="plan a longer duration_s: for the same seed it continues this one",
            )
        rows = self.table[self._segment(times)]
        tau = times - rows[:, 0]
        return rows, tau, rows[:, 6] * tau + 0.5 * rows[:, 7] * tau**2


def _plane(rows: Float[Array, "N 8"], column: int) -> Complex[Array, " N"]:
    return rows[:, column] + 1j * rows[:, column + 1]


def _spatial(
    plane: Complex[Array, " N"], height: Float[Array, " N"], shape: tuple[int, ...]
) -> Float[Array, "*batch 3"]:
    return np.stack([plane.real, plane.imag, height], axis=-1).reshape(*shape, 3)
