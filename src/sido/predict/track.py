"""Where objects were, over time: what predictors learn from, and what they are judged on."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array, read_only
from sido.errors import DataError
from sido.motion import Motion, NoRoomError, Region, Trajectory

__all__ = ["Track", "simulated_tracks", "turns_of"]

_SAMPLES_HZ = 100.0
_TURN = 1e-6
_MOST_STARTS = 100


@final
@dataclass(frozen=True)
class Track:
    """One object, from the first of `times_s` to the last, without a gap; between them it went straight."""

    times_s: Float[Array, " N"]
    """Rising."""
    positions: Float[Array, "N 3"]
    """Metres."""
    motion: str = "recorded"
    speed_mps: float | None = None
    """As commanded, where it is known."""
    turns_s: Float[Array, " K"] = field(default_factory=lambda: np.zeros(0))
    """When its velocity jumped, where it is known."""

    def __post_init__(self) -> None:
        if self.positions.shape != (len(self.times_s), 3) or len(self.times_s) < 2:
            raise DataError(
                "not a track",
                field=self.motion,
                found=f"{len(self.times_s)} times, positions {list(self.positions.shape)}",
                expected="[N], [N, 3], N of 2 or more",
            )
        if not (np.isfinite(self.positions).all() and (np.diff(self.times_s) > 0.0).all()):
            raise DataError("not finite positions at rising times", field=self.motion)
        for name in ("times_s", "positions", "turns_s"):
            object.__setattr__(self, name, read_only(getattr(self, name)))

    @property
    def duration_s(self) -> float:
        return float(self.times_s[-1] - self.times_s[0])

    def at(self, t: Float[Array, "*batch"]) -> Float[Array, "*batch 3"]:
        """Where the object was; before the track and after it, at its ends."""
        return np.stack([np.interp(t, self.times_s, self.positions[:, axis]) for axis in range(3)], axis=-1)


def simulated_tracks(
    motion: Motion,
    region: Region,
    rng: np.random.Generator,
    *,
    name: str,
    tracks: int = 1,
    duration_s: float = 300.0,
) -> Iterator[Track]:
    """A motion from `tracks` random starts, `duration_s` each."""
    times = np.linspace(0.0, duration_s, round(duration_s * _SAMPLES_HZ) + 1)
    for _ in range(tracks):
        plan = _planned(motion, region, rng, duration_s)
        yield Track(times, plan.position(times), name, motion.speed_mps, turns_of(plan))


def _planned(motion: Motion, region: Region, rng: np.random.Generator, duration_s: float) -> Trajectory:
    """From a random start that leaves the motion room: a circle has none in a corner."""
    refused: NoRoomError | None = None
    for _ in range(_MOST_STARTS):
        start = np.array([*rng.uniform(region.low_m, region.high_m), 0.0])
        try:
            return motion.trajectory(rng, start, region, duration_s)
        except NoRoomError as error:
            refused = error
    raise refused or AssertionError("unreachable")


def turns_of(plan: Trajectory) -> Float[Array, " K"]:
    """When the velocity of a planned motion jumps: at walls, at drawn turns, at changes of speed."""
    table = plan.table
    joints = table[1:, 0]
    if len(joints) == 0:
        return joints
    before = plan.velocity(np.maximum(joints - 1e-9, table[:-1, 0]))
    jump = np.linalg.norm(plan.velocity(joints) - before, axis=-1)
    return joints[jump > _TURN]


def total_s(tracks: Sequence[Track]) -> float:
    """How long they last together."""
    return sum(track.duration_s for track in tracks)
