"""The contract, on every policy; and on broken ones, which it rejects."""

from __future__ import annotations

import dataclasses

import pytest
import torch

from contracts.policy import check_actor, check_policy
from policy_batches import policy_batch, policy_statistics
from sido.demos import ACTION_SPECS, ActionSpec
from sido.policies import (
    CameraConfig,
    DiffusionConfig,
    DiffusionPolicyConfig,
    EquivariantPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    ObservationWindow,
    Policy,
    PolicyConfig,
    SmallCnnConfig,
    UnetConfig,
    build_policy,
)

torch.set_num_threads(1)

CAMERAS = (CameraConfig("agentview", 24, 32), CameraConfig("wrist", 24, 24))
SEEING = ObservationConfig("current", cameras=CAMERAS, landmarks=("cubeB",))
SQUARE = ObservationConfig("future", cameras=(CameraConfig("agentview", 32, 32), CameraConfig("wrist", 24, 24)))
BLIND = ObservationConfig("none", 1, landmarks=("cubeB",))
MLP, FLOW = MlpConfig(32, 1), FlowMatchingConfig(3)
ABSOLUTE, RELATIVE = ACTION_SPECS["osc-absolute"], ACTION_SPECS["osc-delta"]

POLICIES: dict[str, tuple[PolicyConfig, ActionSpec]] = {
    "state": (DiffusionPolicyConfig(denoiser=MLP, process=FLOW), ABSOLUTE),
    "ways from the hand": (DiffusionPolicyConfig(denoiser=MLP, process=FLOW, goals_from_hand=True), ABSOLUTE),
    "relative": (DiffusionPolicyConfig(denoiser=MLP, process=FLOW, prediction_horizon=8), RELATIVE),
    "no pose channel": (DiffusionPolicyConfig(BLIND, denoiser=MLP, process=FLOW), ACTION_SPECS["droid"]),
    "no rotation": (DiffusionPolicyConfig(denoiser=MLP, process=FLOW), ActionSpec("absolute", rotation="none")),
    "images": (DiffusionPolicyConfig(SEEING, SmallCnnConfig((4, 8), 8, crop=20), MLP, FLOW), ABSOLUTE),
    "positions off images": (
        DiffusionPolicyConfig(
            dataclasses.replace(SEEING, landmarks=(), spotted=("cubeB",)), SmallCnnConfig((4, 8), 8), MLP, FLOW
        ),
        ABSOLUTE,
    ),
    "u-net, diffusion": (
        DiffusionPolicyConfig(denoiser=UnetConfig((16, 32), time_features=16), process=DiffusionConfig("ddpm", 20, 5)),
        ACTION_SPECS["rot6d-absolute"],
    ),
    "equivariant": (EquivariantPolicyConfig(fields=16, action_fields=8, denoiser=MLP, process=FLOW), ABSOLUTE),
    "equivariant, relative": (
        EquivariantPolicyConfig(
            BLIND,
            fields=8,
            action_fields=8,
            denoiser=UnetConfig((8, 16), time_features=8),
            process=DiffusionConfig("ddim", 20, 5),
            axis_m=(0.5, 0.0),
        ),
        RELATIVE,
    ),
    "equivariant, images": (
        EquivariantPolicyConfig(
            SQUARE,
            "agentview",
            crop=28,
            fields=8,
            wrist_encoder=SmallCnnConfig((4, 8), 8, crop=20),
            action_fields=8,
            denoiser=MLP,
            process=FLOW,
        ),
        ABSOLUTE,
    ),
}


def built(name: str) -> Policy:
    config, spec = POLICIES[name]
    torch.manual_seed(0)
    return build_policy(config, policy_statistics(config.observation, spec), spec)


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("name", POLICIES)
def test_keeps_the_contract(name: str):
    config, spec = POLICIES[name]
    check_policy(built(name), policy_batch(config.observation, spec, horizon=config.prediction_horizon))


class Broken:
    """A policy with one fault."""

    def __init__(self, fault: str) -> None:
        self._fault, self._sound = fault, built("images")
        self.action_spec, self.cameras = self._sound.action_spec, self._sound.cameras
        self.prediction_horizon, self.observation_steps = 16, 2
        self.config = self._sound.config

    def __getattr__(self, name: str):
        return getattr(self._sound, name)

    @property
    def training(self) -> bool:
        return self._sound.training

    def predict(self, seen: ObservationWindow, generator) -> torch.Tensor:
        if self._fault == "careless":
            seen = ObservationWindow(
                {name: x.nan_to_num(0.5) for name, x in seen.observations.items()}, seen.object_position
            )
        if self._fault == "deaf":
            seen = ObservationWindow(seen.observations, torch.zeros_like(seen.object_position))
        chunk = self._sound.predict(seen, generator)
        if self._fault == "wakes":
            self._sound.eval()
        if self._fault == "writes":
            seen.object_position.mul_(0.5)
        if self._fault == "sleepy" and self._sound.training:
            chunk = 1.001 * chunk
        spoil = {
            "moody": lambda: chunk + 1e-4 * torch.randn(1),
            "crowded": lambda: chunk + 0.01 * chunk.mean(dim=0),
            "short": lambda: chunk[:, 1:],
            "lost": lambda: chunk / 0,
            "attached": lambda: chunk * torch.ones(1, requires_grad=True),
        }
        return spoil[self._fault]() if self._fault in spoil else chunk

    def loss(self, draws, generator) -> torch.Tensor:
        if self._fault == "forgetful":
            return self._sound.loss(draws[:1], generator)
        if self._fault == "detached":
            return self._sound.loss(draws, generator).detach().requires_grad_()
        if self._fault == "certain":
            return self._sound.loss(draws, torch.Generator().manual_seed(0))
        return self._sound.loss(draws, generator)


FAULTS = {
    "moody": "all randomness comes from the generator",
    "crowded": "each sample is for itself",
    "short": "B, H, A",
    "lost": "numbers",
    "attached": "without gradients",
    "writes": "not written to",
    "careless": "the door is open: NaN in eef_position",
    "deaf": "the door is open: an object that was never seen",
    "wakes": "does not change the mode",
    "sleepy": "the same in either mode",
    "forgetful": "every draw counts",
    "detached": "the loss has gradients",
    "certain": "training is noisy",
}


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize("fault", FAULTS)
def test_the_contract_rejects_a_broken_policy(fault: str):
    with pytest.raises((AssertionError, pytest.fail.Exception), match=FAULTS[fault]):
        check_policy(Broken(fault), policy_batch(SEEING, ABSOLUTE))


@pytest.mark.usefixtures("as_user")
def test_the_wrapper_itself_is_sound():
    check_policy(Broken("none"), policy_batch(SEEING, ABSOLUTE))
    check_actor(Broken("none"), policy_batch(SEEING, ABSOLUTE), SEEING)
