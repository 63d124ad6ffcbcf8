"""What every refinement must satisfy."""

from __future__ import annotations

import torch

from sido.augment.dynamics import DynamicsModel
from sido.augment.refine import Reaching, Refined, Refiner, reaching_cost

__all__ = ["check_refiner"]


def check_refiner(refiner: Refiner, model: DynamicsModel, task: Reaching) -> Refined:
    """Raise AssertionError where the contract is broken; the first chunk of the task must not be displaced."""
    assert (task.displacement[:, 0] == 0).all(), "the task must have a chunk that stays"
    before = task.seed.clone()
    refined = refiner(model, task, torch.Generator().manual_seed(0))
    assert torch.equal(task.seed, before), "the seed is written to"
    assert refined.positions.shape == task.seed[:, :3].shape, "shape"
    seed_cost = reaching_cost(model, task, task.seed[:, :3])
    cost = reaching_cost(model, task, refined.positions)
    torch.testing.assert_close(refined.seed_cost, seed_cost, rtol=1e-4, atol=1e-12, msg="the seed's cost")
    torch.testing.assert_close(refined.cost, cost, rtol=1e-3, atol=1e-11, msg="the cost is not that of the chunk")
    assert (cost <= seed_cost * (1 + 1e-4) + 1e-12).all(), "worse than the seed"
    assert torch.equal(refined.positions[..., 0], task.seed[:, :3, 0]), "a chunk without displacement is changed"
    again = refiner(model, task, torch.Generator().manual_seed(0))
    assert torch.equal(again.positions, refined.positions), "equal generators give other chunks"
    return refined
