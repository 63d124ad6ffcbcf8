"""Encoders from their configs."""

from __future__ import annotations

from collections.abc import Sequence

from sido.policies.config import CameraConfig, DinoV3Config, EncoderConfig, ResNet18Config, SmallCnnConfig
from sido.policies.encoders.encoder import Encoder
from sido.policies.encoders.resnet18 import resnet18_encoder
from sido.policies.encoders.small_cnn import small_cnn_encoder

__all__ = ["build_encoder"]


def build_encoder(config: EncoderConfig, cameras: Sequence[CameraConfig]) -> Encoder:
    """The encoder of a config, for the images of these cameras, with random weights where none are pretrained."""
    match config:
        case SmallCnnConfig():
            return small_cnn_encoder(config, cameras)
        case ResNet18Config():
            return resnet18_encoder(config, cameras)
        case DinoV3Config():
            from sido.policies.encoders.dinov3 import DinoV3  # loads transformers

            return DinoV3(config, cameras)
