"""The paces: steady, drawn anew from a few, surging, stop and go."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass

import numpy as np

from sido.errors import SettingError
from sido.motion.schedule import Schedule
from sido.motion.settings import require_above, require_at_least

__all__ = ["Resampled", "Steady", "StopAndGo", "Surging"]


@dataclass(frozen=True)
class Steady:
    """One speed throughout."""

    mean_speed_mps: float = 0.02

    def __post_init__(self) -> None:
        require_at_least(0.0, self.mean_speed_mps, "speed_mps")

    @property
    def peak_speed_mps(self) -> float:
        """The one speed."""
        return self.mean_speed_mps

    def at_speed(self, mean_speed_mps: float) -> Steady:
        """The same pace, with another mean speed."""
        return Steady(mean_speed_mps)

    def schedule(self, _rng: np.random.Generator, duration_s: float) -> Schedule:
        """`s = vt`."""
        once = np.ones(1)
        return Schedule.of(duration_s * once, self.mean_speed_mps * once, 0.0 * once, duration_s)


@dataclass(frozen=True)
class Resampled:
    """A speed drawn from `speeds_mps` for every `every_m` of travel (appendix, Varying Object Velocity).

    Each speed lasts for the same way, so the mean over time is the harmonic mean of the speeds; over a minute it is
    that of the few that were drawn.
    """

    speeds_mps: tuple[float, ...] = (0.015, 0.030, 0.045)
    every_m: float = 0.31

    def __post_init__(self) -> None:
        if not self.speeds_mps:
            raise SettingError("no speed to draw from", field="Resampled.speeds_mps")
        for speed in self.speeds_mps:
            require_above(0.0, speed, "speed_mps")
        require_above(0.0, self.every_m, "Resampled.every_m")

    @property
    def mean_speed_mps(self) -> float:
        """The harmonic mean."""
        return len(self.speeds_mps) / sum(1.0 / speed for speed in self.speeds_mps)

    @property
    def peak_speed_mps(self) -> float:
        """The highest."""
        return max(self.speeds_mps)

    def at_speed(self, mean_speed_mps: float) -> Resampled | Steady:
        """All speeds scaled alike; steady where that leaves nothing to draw from."""
        require_at_least(0.0, mean_speed_mps, "speed_mps")
        if mean_speed_mps == 0.0:
            return Steady(0.0)
        scale = mean_speed_mps / self.mean_speed_mps
        return dataclasses.replace(self, speeds_mps=tuple(scale * speed for speed in self.speeds_mps))

    def schedule(self, rng: np.random.Generator, duration_s: float) -> Schedule:
        """Constant speeds, one after the other."""
        speeds: list[float] = []
        elapsed = 0.0
        while not speeds or elapsed < duration_s:
            speeds.append(self.speeds_mps[int(rng.integers(len(self.speeds_mps)))])
            elapsed += self.every_m / speeds[-1]
        drawn = np.array(speeds)
        return Schedule.of(self.every_m / drawn, drawn, np.zeros(len(drawn)), duration_s, drawn=True)


@dataclass(frozen=True)
class Surging:
    """Accelerating and decelerating in turn, at a constant rate.

    The speed goes up and down on straight lines between `(1 - swing)` and `(1 + swing)` times the mean, once a
    period, from a phase that is drawn.
    """

    mean_speed_mps: float = 0.02
    swing: float = 0.5
    period_s: float = 4.0

    def __post_init__(self) -> None:
        require_at_least(0.0, self.mean_speed_mps, "speed_mps")
        require_above(0.0, self.period_s, "Surging.period_s")
        if not 0.0 < self.swing <= 1.0:
            raise SettingError("not a share of the speed", field="Surging.swing", found=self.swing, expected="0 to 1")

    @property
    def peak_speed_mps(self) -> float:
        """`(1 + swing)` times the mean."""
        return self.mean_speed_mps * (1.0 + self.swing)

    def at_speed(self, mean_speed_mps: float) -> Surging:
        """The same pace, with another mean speed."""
        return dataclasses.replace(self, mean_speed_mps=mean_speed_mps)

    def schedule(self, rng: np.random.Generator, duration_s: float) -> Schedule:
        """Half a period up, half a period down."""
        half = self.period_s / 2
        low, high = self.mean_speed_mps * (1.0 - self.swing), self.peak_speed_mps
        rate = (high - low) / half
        return Schedule.periodic(
            np.array([half, half]), np.array([low, high]), np.array([rate, -rate]), duration_s,
            phase_s=rng.uniform(0.0, self.period_s),
        )  # fmt: skip


@dataclass(frozen=True)
class StopAndGo:
    """Going for `go_s`, standing for `stop_s`, in turn, with ramps of `ramp_s` at both ends of the going.

    It goes faster than its mean, so that the mean over a period is the one commanded:
    `peak = mean (go + stop) / (go - ramp)`. The phase is drawn.
    """

    mean_speed_mps: float = 0.02
    go_s: float = 2.0
    stop_s: float = 1.0
    ramp_s: float = 0.2

    def __post_init__(self) -> None:
        require_at_least(0.0, self.mean_speed_mps, "speed_mps")
        require_above(0.0, self.stop_s, "StopAndGo.stop_s")
        require_above(0.0, self.ramp_s, "StopAndGo.ramp_s")
        require_above(2.0 * self.ramp_s, self.go_s, "StopAndGo.go_s")

    @property
    def peak_speed_mps(self) -> float:
        """The speed between the ramps."""
        return self.mean_speed_mps * (self.go_s + self.stop_s) / (self.go_s - self.ramp_s)

    def at_speed(self, mean_speed_mps: float) -> StopAndGo:
        """The same pace, with another mean speed."""
        return dataclasses.replace(self, mean_speed_mps=mean_speed_mps)

    def schedule(self, rng: np.random.Generator, duration_s: float) -> Schedule:
        """Up, on, down, stand."""
        peak = self.peak_speed_mps
        rate = peak / self.ramp_s
        return Schedule.periodic(
            np.array([self.ramp_s, self.go_s - 2.0 * self.ramp_s, self.ramp_s, self.stop_s]),
            np.array([0.0, peak, peak, 0.0]), np.array([rate, 0.0, -rate, 0.0]), duration_s,
            phase_s=rng.uniform(0.0, self.go_s + self.stop_s),
        )  # fmt: skip
