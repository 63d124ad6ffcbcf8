"""Goals that the network says as ways from the hand: the same policy to everybody else."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from memory_source import memory_dataset, synthetic_demos
from policy_batches import policy_batch, policy_statistics
from sido.demos import ACTION_SPECS, ActionSpec, ChunkSampler, to_absolute
from sido.errors import SettingError
from sido.policies import (
    DiffusionPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    Normaliser,
    ObservationConfig,
    ObservationWindow,
    Statistics,
    build_policy,
)

torch.set_num_threads(1)

ABSOLUTE = ACTION_SPECS["osc-absolute"]
SIGHT = ObservationConfig("current", 1, offset_features=True, landmarks=("cubeB",))


def policy_of(from_hand: bool, spec: ActionSpec = ABSOLUTE):
    torch.manual_seed(0)
    config = DiffusionPolicyConfig(SIGHT, None, MlpConfig(16, 1), FlowMatchingConfig(2), goals_from_hand=from_hand)
    return build_policy(config, policy_statistics(SIGHT, spec), spec)


def moved(batch, by: torch.Tensor):
    """The whole scene, elsewhere on the table."""
    seen = {
        name: values + by if name.endswith("position") or name.startswith("landmark.") else values
        for name, values in batch.observations.items()
    }
    actions = torch.cat([batch.actions[..., :3] + by, batch.actions[..., 3:]], dim=-1)
    return dataclasses.replace(batch, observations=seen, object_position=batch.object_position + by, actions=actions)


def deaf_to_places(policy) -> None:
    """A network that hears of the ways only, not of where things are in the workspace."""
    with torch.no_grad():
        weights = policy.denoiser.hear.weight
        weights[:, :3] = 0.0  # the hand
        weights[:, 11:17] = 0.0  # object and landmark


@pytest.mark.parametrize("from_hand", [True, False])
def test_what_is_learnt_in_one_place_holds_in_the_others(from_hand: bool):
    policy = policy_of(from_hand)
    deaf_to_places(policy)
    batch, by = policy_batch(SIGHT, ABSOLUTE), torch.tensor([0.03, -0.02, 0.01])
    here = policy.predict(ObservationWindow.of(batch), torch.Generator().manual_seed(1))
    there = policy.predict(ObservationWindow.of(moved(batch, by)), torch.Generator().manual_seed(1))
    assert torch.allclose(there[..., :3], here[..., :3] + by, atol=1e-5) == from_hand
    losses = [float(policy.loss([one], torch.Generator().manual_seed(2)).detach()) for one in (batch, moved(batch, by))]
    assert (losses[0] == pytest.approx(losses[1], rel=1e-4)) == from_hand


def test_the_range_of_ways_is_that_of_a_slow_loop():
    dataset = memory_dataset([to_absolute(demo) for demo in synthetic_demos(3)])
    sampler = ChunkSampler(dataset)
    ways = []
    for k in range(len(sampler)):
        sample = sampler.batch(torch.tensor([k]))
        hand = sample.observations["eef_position"][0, -1]
        ways += [action[:3] - hand for action in sample.actions[0]]
    low, high = Statistics.fit(sampler, longest_displacement_m=0.016).ranges["goal_ways"]
    reach = torch.tensor([0.016, 0.016, 0.0])
    assert torch.equal(low, torch.stack(ways).amin(dim=0) - reach)
    assert torch.equal(high, torch.stack(ways).amax(dim=0) + reach)


def test_increments_are_from_the_hand_already():
    spec = ACTION_SPECS["osc-delta"]
    batch = policy_batch(SIGHT, spec)
    chunks = [
        policy_of(each, spec).predict(ObservationWindow.of(batch), torch.Generator().manual_seed(1))
        for each in (True, False)
    ]
    assert torch.equal(*chunks)


def test_another_frame_is_refused():
    world = dataclasses.replace(ABSOLUTE, frame="world")
    with pytest.raises(SettingError, match=r"goals_from_hand: goals can be told from the hand where .* world frame"):
        policy_of(True, world)


def test_ways_have_a_range_of_their_own():
    statistics = policy_statistics(SIGHT, ABSOLUTE)
    ways = Normaliser(SIGHT, ABSOLUTE, goals_from_hand=True).fit(statistics)
    low, high = statistics.ranges["goal_ways"]
    edge = torch.cat([high, torch.ones(7)])
    torch.testing.assert_close(ways.normalise("actions", edge)[:3], torch.ones(3))
    torch.testing.assert_close(ways.normalise("actions", torch.cat([low, edge[3:]]))[:3], -torch.ones(3))
