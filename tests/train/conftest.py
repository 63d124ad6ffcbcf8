"""Twelve demonstrations made by arithmetic, and a run that takes a second."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
import torch

from sido.augment import Counterfactual
from sido.cli.main import main
from sido.policies import (
    CameraConfig,
    DiffusionPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    SmallCnnConfig,
)
from sido.train import AdamWConfig, DataConfig, Steps, TrainConfig

torch.set_num_threads(1)

CAMERAS = (CameraConfig("agentview", 16, 16), CameraConfig("robot0_eye_in_hand", 16, 16))


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Without images."""
    path = tmp_path_factory.mktemp("data") / "stack.hdf5"
    assert main(["synthesize", str(path), "--demos", "12"]) == 0
    return path


@pytest.fixture(scope="session")
def filmed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With images of 16 x 16 pixels."""
    path = tmp_path_factory.mktemp("data") / "filmed.hdf5"
    assert main(["synthesize", str(path), "--demos", "4", "--image-size", "16"]) == 0
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIDO_CACHE", str(tmp_path / "cache"))


def tiny(path: Path, *, images: bool = False, **changes) -> TrainConfig:
    """A run of 12 updates: counterfactuals, two parts, two draws, checkpoints every 4."""
    observation = ObservationConfig(cameras=CAMERAS if images else ())
    config = TrainConfig(
        DataConfig(str(path)),
        DiffusionPolicyConfig(
            observation, SmallCnnConfig((4,), 4, crop=12) if images else None, MlpConfig(16, 1), FlowMatchingConfig(2)
        ),
        Counterfactual(),
        batch_size=16,
        draws=2,
        parts=2,
        duration=Steps(12),
        optimiser=AdamWConfig(1e-3, warmup_steps=2, longest_gradient=1.0),
        validation_share=0.25,
        log_every=1,
        validate_every=3,
        save_every=4,
    )
    return dataclasses.replace(config, **changes)
