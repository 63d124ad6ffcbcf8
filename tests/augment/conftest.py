"""Batches to augment."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from sido.demos.action_spec import ACTION_SPECS, ActionSpec
from sido.demos.chunks import ChunkBatch

torch.set_num_threads(1)

MakeBatch = Callable[..., ChunkBatch]


def _batch(
    seed: int = 0,
    *,
    size: int = 32,
    horizon: int = 16,
    spec: ActionSpec = ACTION_SPECS["osc-absolute"],
    dtype: torch.dtype = torch.float64,
    eligible_share: float = 0.75,
) -> ChunkBatch:
    """A batch of the right form, whose numbers mean nothing: every law must hold for it all the same."""
    rng = torch.Generator().manual_seed(seed)

    def uniform(*shape: int) -> torch.Tensor:
        return (2 * torch.rand(*shape, generator=rng, dtype=torch.float64) - 1).to(dtype)

    return ChunkBatch(
        observations={
            "eef_position": uniform(size, 2, 3),
            "image.agentview": torch.randint(256, (size, 2, 4, 4, 3), generator=rng, dtype=torch.uint8),
        },
        object_position=uniform(size, 1, 3).expand(size, 2, 3).clone(),
        actions=uniform(size, horizon, spec.dim) * 0.9,
        observation_is_pad=torch.zeros(size, 2, dtype=torch.bool),
        action_is_pad=torch.zeros(size, horizon, dtype=torch.bool),
        eligible=(eligible := torch.rand(size, generator=rng) < eligible_share),
        held=~eligible & (torch.arange(size) % 2 == 0),
        displacement=torch.zeros(size, 3, dtype=dtype),
        demo_index=torch.arange(size),
        step=torch.arange(size),
        action_spec=spec,
    )


@pytest.fixture(scope="session")
def make_batch() -> MakeBatch:
    return _batch
