"""A film is of the episode that it is said to be of."""

from __future__ import annotations

import io

import av
import numpy as np

from sido.evaluate import Setting
from sido.experiments.films import film_rollout
from sources import Reaching, short_episodes


def test_a_film_shows_the_whole_episode():
    with short_episodes():
        film = film_rollout(Reaching()(), Setting(motion="x", speed_mps=0.06), 3, size=48)
    with av.open(io.BytesIO(film)) as container:
        frames = [frame.to_ndarray(format="rgb24") for frame in container.decode(video=0)]
    assert len(frames) == 24 // 2 + 8
    assert frames[0].shape == (48, 48, 3)
    assert np.ptp(frames[0]) > 60
    assert np.abs(frames[0].astype(int) - frames[11]).max() > 30
