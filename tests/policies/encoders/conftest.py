"""Cameras and images that all encoders are tested with."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor

from sido.policies import CameraConfig

AGENT, WRIST = CameraConfig("agentview", 64, 64), CameraConfig("observation.images.wrist", 56, 72)


@pytest.fixture
def cameras() -> tuple[CameraConfig, CameraConfig]:
    return AGENT, WRIST


@pytest.fixture
def images() -> dict[str, Tensor]:
    generator = torch.Generator().manual_seed(5)

    def noise(camera: CameraConfig) -> Tensor:
        return torch.randint(0, 256, (3, 2, camera.height, camera.width, 3), dtype=torch.uint8, generator=generator)

    return {camera.name: noise(camera) for camera in (AGENT, WRIST, CameraConfig("unseen", 8, 8))}
