from __future__ import annotations

import dataclasses
from typing import Any

import torch
from hypothesis import given
from hypothesis import strategies as st

from sido.augment import Counterfactual, Saturation
from sido.demos.action_spec import ACTION_SPECS

RELATIVE = ACTION_SPECS["osc-delta"]


def displaced(batch: Any, rows: int) -> Any:
    displacement = batch.displacement.clone()
    displacement[:rows, 1] = 0.01
    return dataclasses.replace(batch, displacement=displacement)


@given(seed=st.integers(0, 1000), speed=st.floats(0.0, 0.02))
def test_agrees_with_counting(make_batch: Any, seed: int, speed: float) -> None:
    batch = make_batch(seed, spec=RELATIVE, size=8)
    batch.action_is_pad[3, 12:] = True
    after = Counterfactual(step_speed_m=speed, relative_gain=0.25)(batch, torch.Generator().manual_seed(seed))
    steps = saturated = 0
    for sample in range(8):
        for step in range(16):
            if any(after.displacement[sample].tolist()) and not after.action_is_pad[sample, step]:
                steps += 1
                saturated += any(abs(value) > 1.0001 for value in after.actions[sample, step, :3].tolist())
    assert Saturation.of(after) == Saturation(steps, saturated)


def test_only_position_commands_of_displaced_chunks_count(make_batch: Any) -> None:
    batch = make_batch(spec=RELATIVE, size=4)
    batch.actions[:] = 0.0
    batch.actions[..., 3:] = 9.0  # rotation and gripper
    batch.actions[0, 0, 2] = -1.5
    batch.actions[1, :2, 0] = 1.00001  # a hair, as float32 leaves it
    batch.actions[3, :, 0] = 2.0  # demonstrated so, not displaced
    assert Saturation.of(displaced(batch, 3)) == Saturation(48, 1)
    assert Saturation.of(batch) == Saturation(0, 0)


def test_absolute_actions_do_not_saturate(make_batch: Any) -> None:
    batch = make_batch()
    batch.actions[:] = 5.0
    assert Saturation.of(displaced(batch, 2)) == Saturation(32, 0)


def test_counts_add_up_and_read_well() -> None:
    total = sum([Saturation(90, 2), Saturation(10, 1)], Saturation())
    assert total == Saturation(100, 3)
    assert total.share == 0.03
    assert Saturation().share == 0.0
    assert str(total) == "3 of 100 displaced steps (3 %) saturate the controller"
