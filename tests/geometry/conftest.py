"""Rotations to draw from, where formulas break: at no turn, at half a turn, beside them, and about every axis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

TINY = (0.0, 1e-300, 1e-162, 1e-20, 1e-12, 1e-9, 1e-8, 1e-6, 1e-4, 1e-3)
ANGLES_RAD = (*TINY, 1.0, np.pi / 2, *(np.pi - tiny for tiny in TINY))
AXES = tuple(np.array(axis) for axis in np.ndindex(3, 3, 3) if axis != (1, 1, 1))


def _unit(vector: np.ndarray) -> np.ndarray:
    return vector / np.linalg.norm(vector)


@pytest.fixture(scope="session")
def axis_angles() -> SearchStrategy[np.ndarray]:
    """Rotation vectors with angles in [0, pi]."""
    coordinates = st.tuples(*[st.floats(-1, 1)] * 3).map(np.array).filter(lambda v: np.linalg.norm(v) > 0.1)
    axes = st.one_of(st.sampled_from([_unit(axis - 1.0) for axis in AXES]), coordinates.map(_unit))
    angles = st.one_of(st.sampled_from(ANGLES_RAD), st.floats(0, np.pi))
    return st.builds(lambda axis, angle: axis * angle, axes, angles)


@pytest.fixture(scope="session")
def points() -> SearchStrategy[np.ndarray]:
    """Points in metres, within a room."""
    return st.tuples(*[st.floats(-3, 3)] * 3).map(np.array)


@pytest.fixture(scope="session")
def hard_axis_angles() -> np.ndarray:
    """Every hard angle about every axis, in one batch: `[angles * axes, 3]`."""
    axes = np.stack([_unit(axis - 1.0) for axis in AXES])
    return (np.array(ANGLES_RAD)[:, None, None] * axes).reshape(-1, 3)
