"""Positions that a policy reads off its images: taught in training, standing in for what it is not told."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from policy_batches import LOW, policy_batch, policy_statistics
from sido.demos import ACTION_SPECS, ChunkBatch
from sido.errors import SettingError
from sido.policies import (
    CameraConfig,
    DiffusionPolicy,
    DiffusionPolicyConfig,
    EquivariantPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    ObservationWindow,
    SmallCnnConfig,
    build_policy,
    policy_config_from_json,
)

torch.set_num_threads(1)

ABSOLUTE = ACTION_SPECS["osc-absolute"]
CAMERAS = (CameraConfig("agentview", 24, 24),)
SPOTTING = ObservationConfig("current", 1, CAMERAS, spotted=("cubeB",))
TOLD = ObservationConfig("current", 1, CAMERAS, landmarks=("cubeB",))


def policy_of(observation: ObservationConfig) -> DiffusionPolicy:
    torch.manual_seed(0)
    config = DiffusionPolicyConfig(observation, SmallCnnConfig((8, 16), 16), MlpConfig(16, 1), FlowMatchingConfig(2))
    policy = build_policy(config, policy_statistics(TOLD, ABSOLUTE), ABSOLUTE)
    assert isinstance(policy, DiffusionPolicy)
    return policy


def without_landmarks(batch: ChunkBatch) -> ChunkBatch:
    kept = {name: values for name, values in batch.observations.items() if not name.startswith("landmark.")}
    return dataclasses.replace(batch, observations=kept)


def test_who_reads_rightly_acts_as_if_told(monkeypatch: pytest.MonkeyPatch):
    spotting, told, batch = policy_of(SPOTTING), policy_of(TOLD), policy_batch(TOLD, ABSOLUTE)
    weights = {name: value for name, value in spotting.state_dict().items() if not name.startswith("spotter.")}
    told.load_state_dict(weights)
    truth = {"landmark.cubeB": batch.observations["landmark.cubeB"]}
    monkeypatch.setattr(spotting.spotter, "forward", lambda *_: truth)
    seen = ObservationWindow.of(without_landmarks(batch))
    chunks = [
        policy.predict(window, torch.Generator().manual_seed(1))
        for policy, window in ((spotting, seen), (told, ObservationWindow.of(batch)))
    ]
    assert torch.equal(*chunks)


def test_it_learns_to_read_positions_off_pictures():
    """A bright spot in the picture says where the thing is."""
    policy, rng = policy_of(SPOTTING), torch.Generator().manual_seed(0)
    assert policy.spotter is not None
    optimiser = torch.optim.Adam(policy.parameters(), lr=3e-3)

    def shown(seed: int) -> ChunkBatch:
        batch = policy_batch(TOLD, ABSOLUTE, size=64, seed=seed)
        pixels = torch.randint(2, 22, (64, 2), generator=rng)
        image = torch.zeros(64, 1, 24, 24, 3, dtype=torch.uint8)
        for down in (-1, 0, 1):
            for across in (-1, 0, 1):
                image[torch.arange(64), 0, pixels[:, 0] + down, pixels[:, 1] + across] = 255
        place = torch.cat([pixels / 24 * 0.3, torch.zeros(64, 1)], dim=1) + LOW
        changes = {"landmark.cubeB": place[:, None], "image.agentview": image}
        return dataclasses.replace(batch, observations={**batch.observations, **changes})

    for step in range(150):
        policy.loss([shown(step)], rng).backward()
        optimiser.step()
        optimiser.zero_grad()
    batch = shown(1000)
    images = policy.encoder({"agentview": batch.observations["image.agentview"]}, None)
    spotted = policy.spotter(images, policy.normaliser, batch.observations)["landmark.cubeB"]
    errors_m = (spotted - batch.observations["landmark.cubeB"]).norm(dim=-1)
    spread_m = batch.observations["landmark.cubeB"].std(dim=0).norm()
    assert errors_m.median() < 0.2 * spread_m


def test_only_training_is_taught():
    policy, batch = policy_of(SPOTTING), policy_batch(TOLD, ABSOLUTE)
    elsewhere = {**batch.observations, "landmark.cubeB": batch.observations["landmark.cubeB"] + 0.1}
    moved = dataclasses.replace(batch, observations=elsewhere)

    def loss(one: ChunkBatch) -> float:
        return float(policy.loss([one], torch.Generator().manual_seed(0)).detach())

    assert loss(batch) != loss(moved)
    policy.eval()
    assert loss(batch) == loss(moved) == loss(without_landmarks(batch))


def test_settings_are_kept_and_checked():
    config = policy_of(SPOTTING).config
    assert policy_config_from_json(config.to_json()) == config
    with pytest.raises(SettingError, match=r"spotted: a landmark is either told or read off the images; .*cubeB"):
        dataclasses.replace(TOLD, spotted=("cubeB",))
    with pytest.raises(SettingError, match=r"spotted: positions are read off images; .*expected cameras"):
        ObservationConfig(spotted=("cubeB",))
    with pytest.raises(SettingError, match="an equivariant policy reads no positions off its images"):
        EquivariantPolicyConfig(SPOTTING, "agentview", crop=20)
