"""What learned predictors are usually taught on: minutes of simulated motion."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sido.motion import TABLETOP_SIZE_M, Region, motion_named
from sido.predict.track import Track, simulated_tracks

__all__ = ["lessons", "usual_region"]

_SIZES_M = {"gantry": (0.23, 0.43), "variable-speed": (0.23, 0.43), "peachtree": (0.25, 0.43)}


def usual_region(motion: str) -> Region:
    """Where an object of this motion is kept. Predictors are indifferent to where that is, but not to how large."""
    return Region((0.5, 0.0), _SIZES_M.get(motion, TABLETOP_SIZE_M))


def lessons(cases: Sequence[tuple[str, float | None]], minutes: float, rng: np.random.Generator) -> list[Track]:
    """One track of each motion at each speed (None: its own), so many minutes in all."""
    lasts_s = 60.0 * minutes / len(cases)
    return [
        track
        for name, speed_mps in cases
        for track in simulated_tracks(
            motion_named(name, speed_mps), usual_region(name), rng, name=name, duration_s=lasts_s
        )
    ]
