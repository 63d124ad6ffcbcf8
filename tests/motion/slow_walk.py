"""A slow integrator that knows nothing of how motions are made."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from sido.motion import Region


def slow_walk(
    start: tuple[float, float],
    heading_at: Callable[[int], tuple[float, float] | None],
    region: Region,
    speed_mps: float,
    steps: int,
    dt_s: float,
    obstacle: tuple[float, float, float] | None = None,
) -> np.ndarray:
    """Euler steps, one at a time: over a wall it is folded back; nearing the obstacle within its radius, it turns.

    `heading_at(step)` is the new heading from that step on, or None to keep the old one.
    """
    (x, y), (hx, hy) = start, (1.0, 0.0)
    (x_low, y_low), (x_high, y_high) = region.low_m, region.high_m
    passed = [(x, y)]
    for step in range(steps):
        hx, hy = heading_at(step) or (hx, hy)
        if obstacle is not None:
            dx, dy = obstacle[0] - x, obstacle[1] - y
            if math.hypot(dx, dy) <= obstacle[2] and dx * hx + dy * hy > 0.0:
                hx, hy = -hx, -hy
        x, y = x + speed_mps * dt_s * hx, y + speed_mps * dt_s * hy
        if x > x_high or x < x_low:
            x, hx = 2 * (x_high if x > x_high else x_low) - x, -hx
        if y > y_high or y < y_low:
            y, hy = 2 * (y_high if y > y_high else y_low) - y, -hy
        passed.append((x, y))
    return np.array(passed)
