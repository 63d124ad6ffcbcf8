"""Configs are data: they survive JSON, and refuse what cannot be built."""

from __future__ import annotations

import json

import pytest

from sido.errors import DataError, SettingError
from sido.policies import (
    CameraConfig,
    DiffusionConfig,
    DiffusionPolicyConfig,
    DinoV3Config,
    EquivariantPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    PolicyConfig,
    ResNet18Config,
    SmallCnnConfig,
    UnetConfig,
    policy_config_from_json,
)

AGENT, WRIST = CameraConfig("agentview", 84, 84), CameraConfig("robot0_eye_in_hand", 64, 96)
SEEING = ObservationConfig("none", 1, (AGENT, WRIST), 6, ("cubeB", "peg"), offset_features=False)

CONFIGS: dict[str, PolicyConfig] = {
    "state": DiffusionPolicyConfig(),
    "images": DiffusionPolicyConfig(SEEING, SmallCnnConfig(crop=58), MlpConfig(128, 2), FlowMatchingConfig(4)),
    "original": DiffusionPolicyConfig(SEEING, ResNet18Config(), UnetConfig(), DiffusionConfig("ddim", 50, 10), 32),
    "dinov3": DiffusionPolicyConfig(SEEING, DinoV3Config("folder", trained=True, image_size=96)),
    "equivariant": EquivariantPolicyConfig(),
    "equivariant images": EquivariantPolicyConfig(SEEING, "agentview", wrist_encoder=ResNet18Config(crop=None)),
}


@pytest.mark.parametrize("name", CONFIGS)
def test_json_gives_the_same_back(name: str):
    config = CONFIGS[name]
    assert type(config).from_json(config.to_json()) == config
    assert policy_config_from_json(config.to_json()) == config
    assert policy_config_from_json(config.to_json().encode()) == config


def changed(config: PolicyConfig, **entries: object) -> str:
    return json.dumps(json.loads(config.to_json()) | entries)


@pytest.mark.parametrize(
    ("text", "match"),
    [
        ("{", "policy: not JSON"),
        ("[]", "policy: not what is expected here; found \\[\\]; expected an object"),
        (changed(DiffusionPolicyConfig(), kind="transformer"), "kind.*'transformer'.*'diffusion_policy', 'equivariant"),
        (changed(DiffusionPolicyConfig(), horizon=8), "policy > horizon.*expected only observation, encoder"),
        (changed(DiffusionPolicyConfig(), denoiser={"kind": "cnn"}), "policy > denoiser > kind.*one of 'mlp', 'unet'"),
        (changed(DiffusionPolicyConfig(), denoiser={"kind": "mlp", "width": 2}), "policy > denoiser.*'blocks'"),
        (changed(DiffusionPolicyConfig(), prediction_horizon=16.5), "prediction_horizon.*16.5.*a whole number"),
        (changed(DiffusionPolicyConfig(), denoiser=None), "policy > denoiser.*found None"),
        (changed(EquivariantPolicyConfig(), turned_camera=3), "turned_camera.*found 3; expected text"),
    ],
)
def test_json_that_is_no_config_is_refused(text: str, match: str):
    with pytest.raises(DataError, match=match):
        policy_config_from_json(text)


@pytest.mark.usefixtures("as_user")
@pytest.mark.parametrize(
    ("make", "match"),
    [
        (
            lambda: ObservationConfig(pose_channel="past"),
            "pose_channel: unknown value; found 'past'; expected one of n",
        ),  # type: ignore
        (lambda: ObservationConfig(observation_steps=0), "ObservationConfig.observation_steps: too small; found 0"),
        (lambda: ObservationConfig(cameras=(AGENT, AGENT)), "a camera is named twice"),
        (lambda: ObservationConfig(cameras=(CameraConfig("a", 4, 64),)), "CameraConfig.height: too small"),
        (lambda: DiffusionPolicyConfig(SEEING), "encoder: cameras and an encoder go together; found no encoder, 2 cam"),
        (lambda: DiffusionPolicyConfig(encoder=SmallCnnConfig()), "found an encoder, 0 cameras"),
        (lambda: DiffusionPolicyConfig(denoiser=UnetConfig(), prediction_horizon=18), "horizon.*18.*a multiple of 4"),
        (lambda: UnetConfig(widths=(60, 128)), "UnetConfig.widths: not a multiple of the groups; found \\(60, 128\\)"),
        (lambda: UnetConfig(kernel_size=4), "kernel must be odd"),
        (lambda: DiffusionConfig("ddim", 50, 51), "sampling_steps: more steps than trained for; found 51; exp.*= 50"),
        (lambda: DiffusionConfig("euler"), "sampler: unknown value"),  # type: ignore
        (lambda: FlowMatchingConfig(0), "FlowMatchingConfig.sampling_steps: too small"),
        (lambda: DinoV3Config(image_size=84), "DinoV3Config.image_size: not a multiple of the patch size; found 84"),
        (lambda: EquivariantPolicyConfig(turned_camera="top"), "turned_camera: unknown camera; found top"),
        (lambda: EquivariantPolicyConfig(SEEING, "agentview"), "wrist_encoder.*no encoder, cameras \\['robot0_eye"),
    ],
)
def test_settings_that_cannot_be_built_are_refused(make, match: str):
    with pytest.raises(SettingError, match=match):
        make()
