"""Networks that were taught for a moment: enough for laws about what they do, not for how good they are."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from sido.motion import Region, motion_named
from sido.predict import FERNN, MLP, simulated_tracks
from sido.predict.fitting import FitSettings, fit
from sido.predict.questions import Augmentation

GANTRY = Region((0.5, 0.0), (0.23, 0.43))


@pytest.fixture(scope="session")
def taught() -> dict[str, MLP | FERNN]:
    """On 1.5 cm/s, clean poses, late and lost ones included."""
    torch.set_num_threads(1)
    tracks = list(simulated_tracks(motion_named("gantry"), GANTRY, np.random.default_rng(0), name="gantry"))
    augmentation = Augmentation(noise_m=0.0, latency_s=0.1, dropout=0.2)
    return {
        network: fit(tracks, FitSettings(network=network, augmentation=augmentation, batch=64, steps=steps)).predictor
        for network, steps in (("mlp", 600), ("fernn", 250))
    }
