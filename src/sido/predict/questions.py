"""Questions drawn from tracks: what a predictor is taught on."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import final

import numpy as np
from jaxtyping import Float, Int

from sido.arrays import Array
from sido.errors import DataError, SettingError
from sido.motion.settings import require_above, require_at_least
from sido.predict.history import History
from sido.predict.track import Track
from sido.predict.watching import Question

__all__ = ["Augmentation", "Questions"]

_SPARE_LOOKS = 4


@final
@dataclass(frozen=True)
class Augmentation:
    """How much worse than in the tracks the object may be seen; drawn anew for every question, from nothing up to it.

    So one network learns clean poses and noisy ones, and to tell them apart.
    """

    noise_m: float = 0.003
    """Standard deviation of a pose, along each axis, beside what noise the tracks have."""
    latency_s: float = 0.1
    dropout: float = 0.2
    """Probability that a look is lost."""
    jitter_s: float = 0.01
    """By how much looks are off regular times."""
    short: float = 0.1
    """In what share of the questions the object has only just come into sight."""
    turned: bool = True
    """Turn each question about the vertical by any angle, and mirror half of them: what is learnt of one direction
    holds for all."""

    def __post_init__(self) -> None:
        for name in ("noise_m", "latency_s", "jitter_s"):
            require_at_least(0.0, getattr(self, name), f"Augmentation.{name}")
        for name in ("dropout", "short"):
            if not 0.0 <= getattr(self, name) < 1.0:
                raise SettingError(
                    "not a probability",
                    field=f"Augmentation.{name}",
                    found=getattr(self, name),
                    expected="0 or more, below 1",
                )

    @staticmethod
    def none() -> Augmentation:
        """The tracks as they are."""
        return Augmentation(0.0, 0.0, 0.0, 0.0, 0.0, turned=False)


@final
class Questions:
    """Any number of them, each at a random time of a random track (the longer, the likelier).

    A look shows the newest pose of the track at its time, with that pose's own stamp: what was recorded, not something
    between two records. What comes is interpolated.

    Args:
        tracks: At least one that is longer than the longest horizon.
        rate_hz: Of the looks.
        horizon_s: `T_p`. Half of the questions ask for it; the others for anything up to half as much again.
        observations: How many the predictor looks at.
        augmentation: How they are seen.
    """

    def __init__(
        self,
        tracks: Sequence[Track],
        *,
        rate_hz: float,
        horizon_s: float,
        observations: int,
        augmentation: Augmentation,
    ) -> None:
        require_above(0.0, rate_hz, "rate_hz")
        require_above(0.0, horizon_s, "horizon_s")
        self._tracks = [track for track in tracks if track.duration_s > self._longest(horizon_s) + 2.0 / rate_hz]
        if not self._tracks:
            raise DataError(
                "no track is long enough to learn from",
                found=f"{len(tracks)} tracks, {max((track.duration_s for track in tracks), default=0.0):.3g} s at most",
                expected=f"more than {self._longest(horizon_s) + 2.0 / rate_hz:.3g} s",
            )
        self.rate_hz, self.horizon_s, self.observations = rate_hz, horizon_s, observations
        self.augmentation = augmentation
        weights = np.array([track.duration_s for track in self._tracks])
        self._share = weights / weights.sum()

    def draw(self, rng: np.random.Generator, count: int) -> Question:
        """So many, at random."""
        which = np.sort(rng.choice(len(self._tracks), count, p=self._share))
        parts = [
            self._of(self._tracks[i], rng, int(n)) for i, n in zip(*np.unique(which, return_counts=True), strict=True)
        ]
        positions, stamps, now, seen, horizon, truth = (np.concatenate(column) for column in zip(*parts, strict=True))
        if self.augmentation.turned:
            turn = _turns(rng, count)
            here = positions[:, -1:].copy()
            positions = (positions - here) @ turn + here
            truth = ((truth - here[:, 0])[:, None] @ turn)[:, 0] + here[:, 0]
        history = History.of(positions, stamps, now, seen)
        return Question(history.newest(self.observations), horizon, truth)

    @staticmethod
    def _longest(horizon_s: float) -> float:
        return 1.5 * horizon_s

    def _of(self, track: Track, rng: np.random.Generator, count: int) -> tuple[Array, ...]:
        chances = self.augmentation
        horizon = self.horizon_s * np.where(rng.random(count) < 0.5, 1.0, rng.uniform(0.0, 1.5, count))
        begin, end = track.times_s[0], track.times_s[-1] - horizon
        now = rng.uniform(begin + 2.0 / self.rate_hz, end)
        now = track.times_s[_newest(track, now)] + 1e-9  # the agent asks when a pose has come in
        looks = self.observations + _SPARE_LOOKS
        ages = np.arange(looks - 1, -1, -1) / self.rate_hz + chances.jitter_s * rng.uniform(0.0, 1.0, (count, looks))
        at = (now - chances.latency_s * rng.uniform(0.0, 1.0, count))[:, None] - ages
        seen = (at >= begin) & (rng.random((count, looks)) >= chances.dropout * rng.uniform(0.0, 1.0, (count, 1)))
        begun = np.where(rng.random(count) < chances.short, rng.integers(1, self.observations + 1, count), looks)
        seen &= np.arange(looks, 0, -1) <= begun[:, None]
        index = _newest(track, at)
        noise = chances.noise_m * rng.uniform(0.0, 1.0, (count, 1, 1)) * rng.standard_normal((count, looks, 3))
        poses = track.positions[index] + noise
        seen[:, -1] |= ~seen.any(axis=1)
        return poses, track.times_s[index], now, seen, horizon, track.at(now + horizon)


def _newest(track: Track, at: Float[Array, "*batch"]) -> Int[Array, "*batch"]:
    return np.maximum(np.searchsorted(track.times_s, at + 1e-6, side="right") - 1, 0)


def _turns(rng: np.random.Generator, count: int) -> Float[Array, "B 3 3"]:
    """About the vertical, by any angle, mirrored in half of all cases."""
    angle, sense = rng.uniform(0.0, 2.0 * np.pi, count), np.where(rng.random(count) < 0.5, 1.0, -1.0)
    turn = np.zeros((count, 3, 3))
    turn[:, 0, 0], turn[:, 0, 1] = np.cos(angle), np.sin(angle)
    turn[:, 1, 0], turn[:, 1, 1] = -sense * np.sin(angle), sense * np.cos(angle)
    turn[:, 2, 2] = 1.0
    return turn
