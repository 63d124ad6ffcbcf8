"""What every encoder does; the sizes of ResNet18; keypoints."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor

from sido.errors import SettingError
from sido.policies import CameraConfig, ResNet18Config, SmallCnnConfig
from sido.policies.config import EncoderConfig
from sido.policies.encoders import Encoder, build_encoder
from sido.policies.encoders.resnet18 import resnet18_trunk
from sido.policies.encoders.spatial_softmax import SpatialSoftmax

Cameras = tuple[CameraConfig, ...]
Pictures = dict[str, Tensor]

CONFIGS: dict[str, EncoderConfig] = {
    "small": SmallCnnConfig(features=24),
    "small, keypoints": SmallCnnConfig(features=24, keypoints=12),
    "small, cropped": SmallCnnConfig(channels=(8, 8), features=24, crop=51),
    "resnet18": ResNet18Config(keypoints=12, crop=40),
}


@pytest.fixture(params=CONFIGS)
def name(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def encoder(name: str, cameras: Cameras) -> Encoder:
    torch.manual_seed(0)
    return build_encoder(CONFIGS[name], cameras)


def test_features_are_as_many_as_it_says_and_finite(encoder: Encoder, images: Pictures, cameras: Cameras):
    assert encoder.cameras == tuple(camera.name for camera in cameras)
    assert encoder.features == 2 * 24
    features = encoder(images, torch.Generator().manual_seed(0))
    assert features.shape == (3, 2, 48)
    assert features.isfinite().all()
    assert features.std(dim=(0, 1)).min() > 0


@torch.no_grad()
def test_every_image_is_for_itself(encoder: Encoder, images: Pictures, cameras: Cameras):
    whole = encoder(images, None)
    one = encoder({name: tensor[1:2, 1:] for name, tensor in images.items()}, None)
    torch.testing.assert_close(whole[1:2, 1:], one, atol=1e-5, rtol=1e-5)
    blind = copy.copy(images)
    blind[cameras[1].name] = torch.zeros_like(images[cameras[1].name])
    features = encoder(blind, None)
    torch.testing.assert_close(features[..., :24], whole[..., :24])
    assert not torch.allclose(features[..., 24:], whole[..., 24:])


@torch.no_grad()
def test_randomness_comes_from_the_generator_only(name: str, encoder: Encoder, images: Pictures):
    assert torch.equal(encoder(images, None), encoder(images, None))
    first, again, other = (encoder(images, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert torch.equal(first, other) == (CONFIGS[name].crop is None)


def test_all_weights_learn(encoder: Encoder, images: Pictures):
    encoder(images, None).square().sum().backward()
    for name, weight in encoder.named_parameters():
        assert weight.grad is not None, name
        assert weight.grad.abs().sum() > 0, name


def test_resnet18_has_the_weights_of_torchvisions():
    """Of torchvision's 11,689,512 the last layer's 513,000 are gone; BatchNorm's and GroupNorm's are as many."""
    trunk = resnet18_trunk()
    assert sum(weight.numel() for weight in trunk.parameters()) == 11_176_512
    assert trunk(torch.zeros(1, 3, 76, 76)).shape == (1, 512, 3, 3)
    assert sum(isinstance(module, torch.nn.Conv2d) for module in trunk.modules()) == 20


def test_equidiffs_wrist_encoder_has_no_norms():
    """Its 9,600 scales and shifts are gone, and 64 keypoints are 128 numbers."""
    encoder = build_encoder(ResNet18Config(64, normalised=False), (CameraConfig("wrist", 84, 84),))
    assert not any(isinstance(module, torch.nn.GroupNorm) for module in encoder.modules())
    keypoints, mix = 64 * 512 + 64, 128 * 128 + 128
    assert sum(weight.numel() for weight in encoder.parameters()) == 11_176_512 - 9_600 + keypoints + mix
    assert encoder.features == 128


def test_its_original_size():
    encoder = build_encoder(ResNet18Config(), (CameraConfig("agentview", 84, 84),))
    keypoints, mix = 32 * 512 + 32, 64 * 64 + 64
    assert sum(weight.numel() for weight in encoder.parameters()) == 11_176_512 + keypoints + mix
    assert encoder.features == 64


def test_keypoints_are_where_the_maps_are_bright():
    softmax = SpatialSoftmax(2, 2)
    with torch.no_grad():
        softmax.maps.weight.copy_(torch.eye(2)[:, :, None, None])
        softmax.maps.bias.zero_()
    maps = torch.full((1, 2, 5, 9), -50.0)
    maps[0, 0, 0, 8] = maps[0, 1, 4, 2] = 50.0
    torch.testing.assert_close(softmax(maps), torch.tensor([[[1.0, -1.0], [-0.5, 1.0]]]))
    torch.testing.assert_close(softmax(torch.zeros_like(maps)), torch.zeros(1, 2, 2), atol=1e-6, rtol=0)


def test_keypoints_agree_with_a_slow_loop():
    torch.manual_seed(3)
    softmax, features = SpatialSoftmax(3, 2), torch.randn(2, 3, 4, 6)
    found, maps = softmax(features).detach(), softmax.maps(features).detach()
    for sample in range(2):
        for keypoint in range(2):
            weights = [[float(maps[sample, keypoint, row, column].exp()) for column in range(6)] for row in range(4)]
            total = sum(map(sum, weights))
            x = sum(weights[row][column] * (2 * column / 5 - 1) for row in range(4) for column in range(6)) / total
            y = sum(weights[row][column] * (2 * row / 3 - 1) for row in range(4) for column in range(6)) / total
            assert found[sample, keypoint].tolist() == pytest.approx([x, y], abs=1e-5)


def test_images_too_small_are_refused():
    with pytest.raises(SettingError, match=r"too small for ResNet18.*found 32 x 32; expected at least 33 x 33"):
        build_encoder(ResNet18Config(crop=32), (CameraConfig("a", 64, 64),))
    with pytest.raises(SettingError, match="crop of camera 'a': the crop is larger than the image; found 76"):
        build_encoder(ResNet18Config(), (CameraConfig("a", 64, 64),))
