"""The place that most tests of this room use."""

from __future__ import annotations

import numpy as np
import pytest

from sido.motion import Region


@pytest.fixture
def region() -> Region:
    return Region(centre_m=(0.56, 0.02))


@pytest.fixture
def start() -> np.ndarray:
    return np.array([0.60, -0.03, -0.08])
