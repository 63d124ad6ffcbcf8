"""Objects held off their middle: the hand goes elsewhere, and what happens to the object stays."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from memory_source import memory_dataset, synthetic_demos
from sido.augment import OffCentre
from sido.demos import ACTION_SPECS, ChunkBatch, ChunkSampler, to_absolute
from sido.errors import SettingError


def seeded(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def as_is(batch: ChunkBatch, other: ChunkBatch, rows: torch.Tensor) -> bool:
    pairs = [(batch.actions, other.actions), (batch.object_position, other.object_position)]
    pairs += [(values, other.observations[name]) for name, values in batch.observations.items()]
    return all(torch.equal(mine[rows], theirs[rows]) for mine, theirs in pairs)


@pytest.mark.parametrize("spec", ["osc-absolute", "rot6d-absolute", "droid"])
def test_hand_and_goals_go_together_and_the_object_stays(make_batch, spec: str):
    batch = make_batch(size=400, spec=ACTION_SPECS[spec])
    moved = OffCentre(share=1.0)(batch, seeded())
    ways = batch.actions[..., :3] - batch.observations["eef_position"][:, -1:]
    there = moved.actions[..., :3] - moved.observations["eef_position"][:, -1:]
    torch.testing.assert_close(there, ways, rtol=0, atol=1e-12)
    assert torch.equal(moved.object_position, batch.object_position)
    assert torch.equal(moved.actions[..., 3:], batch.actions[..., 3:])
    assert moved.observations["image.agentview"] is batch.observations["image.agentview"]
    assert as_is(batch, moved, ~batch.held)
    e = (moved.observations["eef_position"] - batch.observations["eef_position"])[batch.held]
    assert torch.allclose(e[:, 0], e[:, -1]), "one for the whole window"
    spread = e[:, 0].std(dim=0)
    torch.testing.assert_close(spread, torch.tensor([0.008, 0.008, 0.004]).to(spread), rtol=0.35, atol=0)


def test_increments_stay_and_the_hand_goes(make_batch):
    batch = make_batch(size=40, spec=ACTION_SPECS["osc-delta"])
    moved = OffCentre(share=1.0)(batch, seeded())
    assert torch.equal(moved.actions, batch.actions)
    hands = moved.observations["eef_position"] != batch.observations["eef_position"]
    assert torch.equal(hands.any(dim=2).any(dim=1), batch.held)


def test_a_share_of_them_and_the_same_for_the_same_seed(make_batch):
    batch = make_batch(size=4000)
    first, again = (OffCentre(share=0.25)(batch, seeded(3)) for _ in range(2))
    assert as_is(first, again, torch.ones(len(batch), dtype=torch.bool))
    changed = (first.actions != batch.actions).flatten(1).any(dim=1)
    assert changed.sum() / batch.held.sum() == pytest.approx(0.25, abs=0.05)
    assert as_is(batch, OffCentre(share=0.0)(batch, seeded()), torch.ones(len(batch), dtype=torch.bool))


def test_held_is_from_closed_fingers_until_they_are_told_to_open():
    demos = [to_absolute(demo) for demo in synthetic_demos(3)]
    dataset = memory_dataset(demos)
    sampler = ChunkSampler(dataset)
    batch = sampler.batch(torch.arange(len(sampler)))
    for number, demo in enumerate(dataset):
        closes, expected, step = demo.action_spec.closes(demo.actions), [], demo.grasp.index
        while step < len(demo) and closes[step]:  # the obvious loop
            expected += [step] if step >= demo.grasp.index + 8 else []
            step += 1
        mine = batch.step[(batch.demo_index == number) & batch.held]
        assert mine.tolist() == [step for step in expected if step <= batch.step[batch.demo_index == number].max()]
        assert not (batch.held & batch.eligible).any()


def test_what_it_cannot_mean_is_refused(make_batch):
    with pytest.raises(SettingError, match=r"OffCentre.share: cannot be used; found 2.0; expected 0 to 1"):
        OffCentre(share=2.0)
    with pytest.raises(SettingError, match=r"OffCentre.planar_m: .*found nan"):
        OffCentre(planar_m=float("nan"))
    world = dataclasses.replace(
        make_batch(), action_spec=dataclasses.replace(ACTION_SPECS["osc-absolute"], frame="world")
    )
    with pytest.raises(SettingError, match="goals move with the hand where both are in the base frame; found 'world'"):
        OffCentre()(world, seeded())
