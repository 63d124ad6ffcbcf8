"""Seeded numbers: the same seed gives the same counterfactuals, today and after the next change."""

from __future__ import annotations

import pytest
import torch

from golden_files import Golden
from memory_source import memory_dataset, synthetic_demos
from sido import ChunkSampler, Counterfactual
from sido.augment import UniformLength
from sido.demos import ACTION_SPECS

RECIPE = (
    "synthetic_demos(3, spec=osc-{kind}), ChunkSampler(float64).sample(6, seed 5), Counterfactual(step_speed_m=0.002, "
    "length=UniformLength()) with the same generator; first 8 positions of each chunk, micrometres or 1e-6 units"
)


@pytest.mark.parametrize("kind", ["absolute", "delta"])
def test_counterfactuals(kind: str, golden: Golden):
    sampler = ChunkSampler(memory_dataset(synthetic_demos(3, spec=ACTION_SPECS[f"osc-{kind}"])), dtype=torch.float64)
    rng = torch.Generator().manual_seed(5)
    batch = Counterfactual(step_speed_m=0.002, length=UniformLength())(sampler.sample(6, rng), rng)
    value = {
        "transition": torch.stack([batch.demo_index, batch.step], dim=1).tolist(),
        "displacement": (batch.displacement * 1e6).round().long().tolist(),
        "object": (batch.object_position[:, -1] * 1e6).round().long().tolist(),
        "chunk": (batch.actions[:, :8, :3] * 1e6).round().long().tolist(),
    }
    golden.check(f"counterfactual_{kind}", RECIPE.format(kind=kind), value)
