"""A hand that goes where it is told follows the channel, and no pixel."""

from __future__ import annotations

import numpy as np
import pytest

from acting import Reacher
from sido.demos import ACTION_SPECS
from sido.errors import SettingError
from sido.evaluate import Setting, Stage, probe, shares
from sido.evaluate.probe import Response


def test_a_reacher_follows_the_channel_and_not_the_pixels(quick: None):
    found = list(probe(Reacher(cameras=("agentview",)), seeds=[4]))
    assert {response.change for response in found} == {"channel", "pixels", "both"}
    for response in found:
        follows = response.change != "pixels"
        # 16 steps of 2 cm are enough to arrive.
        assert response.at_prediction_horizon == pytest.approx(float(follows), abs=1e-4)
        assert 0.0 - 1e-6 <= response.at_action_horizon <= follows + 1e-4
    assert [share.mean for (change, _near), share in shares(found).items() if change == "pixels"] == [0.0] * len(
        {response.near for response in found}
    )


def test_a_displaced_object_is_seen_elsewhere():
    stage = Stage(Reacher(cameras=("agentview",)), Setting(), envs=1, rows_per_call=1)
    stage.world.reset([4])
    here = stage.pictures_displaced(0, np.zeros(3))["agentview"].astype(int)
    there = stage.pictures_displaced(0, np.array([0.0, 0.06, 0.0]))["agentview"].astype(int)
    changed = np.abs(there - here).max(axis=-1) > 30
    assert 10 < changed.sum() < 500
    np.testing.assert_array_equal(stage.pictures_displaced(0, np.zeros(3))["agentview"], here)
    stage.close()


def test_episodes_count_alike():
    found = [Response(seed, 0.0, 0.05, "channel", share, 1.0) for seed, share in ((1, 1.0), (1, 0.0), (2, 0.0))]
    share = shares(found)["channel", True]
    assert (share.mean, share.questions) == (0.25, 3)
    assert share.error == pytest.approx(0.25)


def test_increments_are_not_probed():
    with pytest.raises(SettingError, match="only absolute goals"):
        list(probe(Reacher(action_spec=ACTION_SPECS["osc-delta"]), seeds=[1]))
