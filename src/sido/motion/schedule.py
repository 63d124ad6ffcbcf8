"""How far an object has travelled by when: stretches of constant acceleration, end to end."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from sido.arrays import Array

__all__ = ["Schedule"]


class Schedule(NamedTuple):
    """Within stretch `i`, `s(t) = s_i + v_i (t - t_i) + a_i (t - t_i)^2 / 2`; the speed never falls below 0."""

    times_s: Float[Array, " S"]
    distances_m: Float[Array, " S"]
    speeds_mps: Float[Array, " S"]
    accelerations_mps2: Float[Array, " S"]
    duration_s: float
    chances_s: Float[Array, " K"]
    """The times at which a draw changed the speed."""

    @staticmethod
    def of(
        stretches_s: Float[Array, " S"],
        speeds_mps: Float[Array, " S"],
        accelerations_mps2: Float[Array, " S"],
        duration_s: float,
        *,
        drawn: bool = False,
    ) -> Schedule:
        """Stretches that last so long, from the start on. `drawn`: each of them begins with a random draw."""
        lengths = speeds_mps * stretches_s + 0.5 * accelerations_mps2 * stretches_s**2
        times = np.concatenate([[0.0], np.cumsum(stretches_s)[:-1]])
        distances = np.concatenate([[0.0], np.cumsum(lengths)[:-1]])
        kept = times < duration_s
        chances = times[kept][1:] if drawn else np.zeros(0)
        return Schedule(times[kept], distances[kept], speeds_mps[kept], accelerations_mps2[kept], duration_s, chances)

    @staticmethod
    def periodic(
        stretches_s: Float[Array, " S"],
        speeds_mps: Float[Array, " S"],
        accelerations_mps2: Float[Array, " S"],
        duration_s: float,
        *,
        phase_s: float,
    ) -> Schedule:
        """The same stretches over and over, the first time from `phase_s` into them."""
        ends = np.cumsum(stretches_s)
        period = ends[-1]
        rounds = int(np.ceil((duration_s + phase_s) / period)) + 1
        lasts, speeds, accelerations = (
            np.tile(column, rounds) for column in (stretches_s, speeds_mps, accelerations_mps2)
        )
        begun = int(np.searchsorted(ends, phase_s, side="right"))
        into = phase_s - (ends[begun] - stretches_s[begun])
        lasts, speeds, accelerations = lasts[begun:], speeds[begun:], accelerations[begun:]
        lasts[0] -= into
        speeds[0] += accelerations[0] * into
        return Schedule.of(lasts, speeds, accelerations, duration_s)

    @property
    def length_m(self) -> float:
        """The way of the whole duration."""
        return float(self.distance_m(np.array(self.duration_s)))

    def stretch_at(self, t: Float[Array, "*batch"]) -> Int[Array, "*batch"]:
        """Which stretch holds at `t`: at a change of speed, the one that begins."""
        return np.asarray(np.maximum(np.searchsorted(self.times_s, t, side="right") - 1, 0))

    def distance_m(self, t: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """`s(t)`."""
        return self.distance_in(self.stretch_at(t), t)

    def distance_in(self, stretch: Int[Array, "*batch"], t: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """`s(t)` by the formula of the given stretch."""
        tau = t - self.times_s[stretch]
        way = self.speeds_mps[stretch] * tau + 0.5 * self.accelerations_mps2[stretch] * tau**2
        return np.asarray(self.distances_m[stretch] + way)

    def time_s(self, distance_m: Float[Array, "*batch"]) -> Float[Array, "*batch"]:
        """When `distance_m` has been travelled for the first time: the inverse of `s`, in closed form.

        `tau = 2u / (v + sqrt(v^2 + 2au))`, the root of `v tau + a tau^2 / 2 = u` in the form that allows `a = 0`.
        """
        stretch = np.maximum(np.searchsorted(self.distances_m, distance_m, side="left") - 1, 0)
        u = distance_m - self.distances_m[stretch]
        v, a = self.speeds_mps[stretch], self.accelerations_mps2[stretch]
        divisor = v + np.sqrt(np.maximum(v**2 + 2 * a * u, 0.0))
        tau = np.divide(2 * u, divisor, out=np.zeros_like(u), where=divisor > 0.0)
        return np.asarray(np.minimum(self.times_s[stretch] + tau, self.duration_s))
