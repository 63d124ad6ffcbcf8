from __future__ import annotations

import dataclasses
from typing import Any

import pytest
import torch

from sido.augment import commanded_path, hand_object_offset, invariant_residual
from sido.demos.action_spec import ACTION_SPECS
from sido.errors import DataError, SettingError

RELATIVE = ACTION_SPECS["osc-delta"]


def test_absolute_waypoints_are_the_actions(make_batch: Any) -> None:
    batch = make_batch()
    assert commanded_path(batch).equal(batch.actions[..., :3])


@pytest.mark.parametrize("gain", [1.0, 0.25])
def test_relative_waypoints_add_up_from_the_hand(make_batch: Any, gain: float) -> None:
    batch = make_batch(size=4, spec=RELATIVE)
    path = commanded_path(batch, relative_gain=gain)
    for sample in range(4):
        hand = batch.observations["eef_position"][sample, -1].clone()
        for step in range(16):
            hand += gain * 0.05 * batch.actions[sample, step, :3]
            torch.testing.assert_close(path[sample, step], hand, rtol=0, atol=1e-12)


def test_offsets_are_at_the_two_horizons_and_from_the_latest_object(make_batch: Any) -> None:
    batch = make_batch()
    batch.object_position[:, 0] = 100.0  # an older observation
    offset = hand_object_offset(batch, 8)
    assert offset.at_action_horizon.equal(batch.actions[:, 7, :3] - batch.object_position[:, 1])
    assert offset.at_prediction_horizon.equal(batch.actions[:, 15, :3] - batch.object_position[:, 1])


@pytest.mark.parametrize("moved", ["object", "actions"])
def test_the_residual_sees_a_pair_that_breaks_the_invariant(make_batch: Any, moved: str) -> None:
    """What proves the law elsewhere must itself be able to fail."""
    batch = make_batch()
    step = torch.tensor([0.0, 0.003, 0.0], dtype=torch.float64)
    if moved == "object":
        broken, sign = dataclasses.replace(batch, object_position=batch.object_position + step), -1.0
    else:
        actions = batch.actions.clone()
        actions[..., :3] += step
        broken, sign = dataclasses.replace(batch, actions=actions), 1.0
    residual = invariant_residual(batch, broken, 8)
    for offset in (residual.at_action_horizon, residual.at_prediction_horizon):
        torch.testing.assert_close(offset, (sign * step).expand(32, 3), rtol=0, atol=1e-12)


def test_half_precision_paths_are_summed_in_float32(make_batch: Any) -> None:
    batch = make_batch(spec=RELATIVE, dtype=torch.float16)
    assert commanded_path(batch).dtype == torch.float32


def test_says_what_is_missing(make_batch: Any) -> None:
    batch = dataclasses.replace(make_batch(spec=RELATIVE), observations={})
    with pytest.raises(DataError, match=r"observations: .* found \[\]; expected eef_position among them"):
        commanded_path(batch)
    for action_horizon in (0, 17):
        with pytest.raises(SettingError, match=f"action_horizon: .* found {action_horizon}; expected 1 to 16"):
            hand_object_offset(make_batch(), action_horizon)
