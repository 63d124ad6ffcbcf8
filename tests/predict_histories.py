"""Histories for the tests of this room."""

from __future__ import annotations

import numpy as np

from sido.predict import History

STEP_S = 0.05


def straight(
    rng: np.random.Generator,
    batch: int,
    steps: int,
    *,
    speed_mps: float = 0.03,
    noise_m: float = 0.0,
    regular: bool = False,
    missing: float = 0.0,
) -> tuple[History, np.ndarray, np.ndarray]:
    """Objects that go straight on in any direction: their histories, where they truly are now, their velocities."""
    gaps = np.ones((batch, steps)) if regular else rng.uniform(0.4, 1.6, (batch, steps))
    ages = np.cumsum(gaps * STEP_S, axis=1)[:, ::-1]
    angles = rng.uniform(0.0, 2.0 * np.pi, batch)
    velocity = speed_mps * np.stack([np.cos(angles), np.sin(angles), np.zeros(batch)], axis=1)
    here = rng.uniform(-0.5, 0.5, (batch, 3))
    noise = noise_m * rng.standard_normal((batch, steps, 3))
    valid = rng.random((batch, steps)) >= missing
    return History.of(here[:, None] - ages[..., None] * velocity[:, None] + noise, -ages, 0.0, valid), here, velocity
