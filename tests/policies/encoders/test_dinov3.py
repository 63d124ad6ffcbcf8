"""DINOv3 on a tiny random backbone: frozen and trained, its preprocessing, and what may be wrong with its weights."""

from __future__ import annotations

import importlib
import json
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import Tensor

from sido.errors import DataError, MissingExtraError, SettingError
from sido.policies import CameraConfig, DinoV3Config
from sido.policies.encoders import Encoder, build_encoder
from sido.policies.encoders.dinov3 import DinoV3, preprocess

Cameras = tuple[CameraConfig, ...]
Pictures = dict[str, Tensor]


@pytest.fixture(scope="module")
def weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import transformers

    settings = transformers.DINOv3ViTConfig(
        hidden_size=24, intermediate_size=48, num_hidden_layers=2, num_attention_heads=3, num_register_tokens=4
    )
    torch.manual_seed(0)
    model = transformers.DINOv3ViTModel(settings)
    for layer in model.modules():  # as pretrained ones, whose layers do more than 1e-5 of their share
        if layer.__class__.__name__ == "DINOv3ViTLayerScale":
            torch.nn.init.constant_(layer.lambda1, 1.0)
    folder = tmp_path_factory.mktemp("dinov3")
    model.save_pretrained(folder)
    return folder


def encoder_of(weights: Path, cameras: Cameras, *, trained: bool = False) -> Encoder:
    torch.manual_seed(1)
    return build_encoder(DinoV3Config(str(weights), trained=trained, image_size=48, features=7), cameras)


def test_features(weights: Path, images: Pictures, cameras: Cameras):
    encoder = encoder_of(weights, cameras)
    assert encoder.features == 14
    features = encoder(images, torch.Generator().manual_seed(0))
    assert features.shape == (3, 2, 14)
    assert torch.equal(features, encoder(images, None))
    one = encoder({name: tensor[1:2, 1:] for name, tensor in images.items()}, None)
    torch.testing.assert_close(features[1:2, 1:], one, atol=1e-5, rtol=1e-5)


def test_they_are_the_cls_token_after_the_last_norm(weights: Path, images: Pictures, cameras: Cameras):
    import transformers

    encoder = encoder_of(weights, cameras)
    assert isinstance(encoder, DinoV3)
    model = transformers.DINOv3ViTModel.from_pretrained(weights)
    for index, camera in enumerate(cameras):
        with torch.no_grad():
            tokens = model(pixel_values=preprocess(images[camera.name].flatten(0, 1), 48)).last_hidden_state
            expected = encoder.heads[index](tokens[:, 0]).view(3, 2, 7)
        assert tokens.shape[1] == 1 + 4 + 9
        found = encoder(images, None)[..., 7 * index : 7 * (index + 1)]
        torch.testing.assert_close(found, expected, atol=1e-5, rtol=1e-5)


def test_frozen_means_frozen(weights: Path, images: Pictures, cameras: Cameras):
    encoder = encoder_of(weights, cameras).train()
    assert isinstance(encoder, DinoV3)
    assert not encoder.backbone.training
    encoder(images, None).sum().backward()
    assert all(weight.grad is None for weight in encoder.backbone.parameters())
    assert all(weight.grad is not None for weight in encoder.heads.parameters())


def test_trained_means_trained(weights: Path, images: Pictures, cameras: Cameras):
    encoder = encoder_of(weights, cameras, trained=True)
    assert isinstance(encoder, DinoV3)
    assert encoder.backbone.training
    assert not encoder.eval().backbone.training
    encoder(images, None).square().sum().backward()
    learning = [name for name, weight in encoder.backbone.named_parameters() if weight.grad is not None]
    assert len(learning) >= len(list(encoder.backbone.parameters())) - 1  # all but the token of masked patches
    with torch.no_grad():
        assert not encoder(images, None).requires_grad


def test_the_state_dict_has_it_all(weights: Path, images: Pictures, cameras: Cameras):
    first, second = encoder_of(weights, cameras), encoder_of(weights, cameras)
    with torch.no_grad():
        for weight in first.parameters():
            weight.add_(0.1 * torch.randn_like(weight))
    assert not torch.equal(first(images, None), second(images, None))
    second.load_state_dict(first.state_dict())
    assert torch.equal(first(images, None), second(images, None))


@pytest.mark.parametrize(("height", "width", "side"), [(84, 84, 224), (96, 96, 48), (60, 90, 32)])
def test_preprocessing_agrees_with_pillow(height: int, width: int, side: int):
    image = np.random.default_rng(0).integers(0, 256, (height, width, 3), dtype=np.uint8)
    resized = Image.fromarray(image).resize((side, side), Image.Resampling.BILINEAR)
    expected = (np.asarray(resized) / 255 - (0.485, 0.456, 0.406)) / (0.229, 0.224, 0.225)
    found = preprocess(torch.from_numpy(image)[None], side)[0].permute(1, 2, 0).numpy()
    np.testing.assert_allclose(found, expected, atol=1.01 / 255 / 0.224)  # Pillow rounds to whole numbers, twice


def test_an_image_of_the_right_size_is_only_normalised():
    image = torch.randint(0, 256, (1, 16, 16, 3), dtype=torch.uint8)
    expected = (image.double() / 255 - torch.tensor([0.485, 0.456, 0.406])) / torch.tensor([0.229, 0.224, 0.225])
    torch.testing.assert_close(preprocess(image, 16).double(), expected.permute(0, 3, 1, 2), atol=1e-6, rtol=1e-6)


def refused(weights: Path | str, cameras: Cameras, **settings: int) -> str:
    with pytest.raises((DataError, SettingError)) as raised:
        build_encoder(DinoV3Config(str(weights), **settings), cameras)
    assert "\n" not in str(raised.value)
    return str(raised.value)


def test_weights_that_are_not_there(weights: Path, cameras: Cameras, tmp_path: Path):
    text = refused(tmp_path / "nowhere", cameras)
    assert "DinoV3Config.weights: no weights of DINOv3" in text
    assert "nowhere" in text
    (tmp_path / "config.json").write_text((weights / "config.json").read_text())
    assert "no weights of DINOv3" in refused(tmp_path, cameras)


def test_a_hub_that_cannot_be_reached(cameras: Cameras, tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    constants = importlib.import_module("huggingface_hub.constants")
    monkeypatch.setattr(constants, "HF_HUB_OFFLINE", True)
    monkeypatch.setattr(constants, "HF_HUB_CACHE", str(tmp_path))
    text = refused("facebook/dinov3-vits16-pretrain-lvd1689m", cameras)
    assert "no weights of DINOv3; found 'facebook/dinov3-vits16-pretrain-lvd1689m' (" in text
    assert "accept the licence" in text


def test_weights_of_something_else(weights: Path, cameras: Cameras, tmp_path: Path):
    settings = json.loads((weights / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps(settings | {"model_type": "bert"}))
    assert "model_type: not a DINOv3 vision transformer; found 'bert'; exp" in refused(tmp_path, cameras)


def test_weights_with_a_hole(weights: Path, cameras: Cameras, tmp_path: Path):
    (tmp_path / "config.json").write_text((weights / "config.json").read_text())
    tensors = load_file(weights / "model.safetensors")
    name = next(name for name in tensors if "mlp" in name)
    save_file(
        {key: value for key, value in tensors.items() if key != name}, tmp_path / "model.safetensors", {"format": "pt"}
    )
    assert "weights are missing; found none for [" in refused(tmp_path, cameras)


def test_weights_cut_short(weights: Path, cameras: Cameras, tmp_path: Path):
    (tmp_path / "config.json").write_text((weights / "config.json").read_text())
    (tmp_path / "model.safetensors").write_bytes((weights / "model.safetensors").read_bytes()[:3000])
    assert "no weights of DINOv3" in refused(tmp_path, cameras)


def test_another_patch_size(weights: Path, cameras: Cameras, tmp_path: Path):
    import transformers

    settings = transformers.DINOv3ViTConfig.from_pretrained(weights)
    settings.patch_size = 14
    transformers.DINOv3ViTModel(settings).save_pretrained(tmp_path)
    text = refused(tmp_path, cameras, image_size=224 + 16)
    assert "image_size: not a multiple of the patch size; found 240; expected a multiple of 14" in text


def test_without_the_extra(cameras: Cameras, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(importlib.import_module("sys").modules, "transformers", None)
    with pytest.raises(MissingExtraError, match=r"DINOv3 needs the package 'transformers'.*sido\[vision\]"):
        build_encoder(DinoV3Config(), cameras)


def cached_encoder(weights: Path, cameras: Cameras) -> DinoV3:
    torch.manual_seed(1)
    encoder = build_encoder(DinoV3Config(str(weights), image_size=48, features=7, cached=True), cameras)
    assert isinstance(encoder, DinoV3)
    return encoder


def test_kept_tokens_are_the_backbones(weights: Path, images: Pictures, cameras: Cameras):
    plain, encoder = encoder_of(weights, cameras), cached_encoder(weights, cameras)
    seen: list[int] = []
    encoder.backbone.register_forward_pre_hook(
        lambda _module, _args, kwargs: seen.append(len(kwargs["pixel_values"])), with_kwargs=True
    )
    first = encoder(images, None)
    torch.testing.assert_close(first, plain(images, None), atol=1e-5, rtol=1e-5)
    assert seen == [1] * 12, "three windows of two steps, two cameras: each image alone"
    assert torch.equal(encoder(images, None), first)
    some = {name: tensor[[2, 0]] for name, tensor in images.items()}
    assert torch.equal(encoder(some, None), first[[2, 0]]), "to the last bit, whatever the batch"
    assert len(seen) == 12, "nothing goes through twice"
    changed = {name: tensor.clone() for name, tensor in images.items()}
    changed["agentview"][1, 1, 5, 6, 2] ^= 1
    encoder(changed, None)
    assert len(seen) == 13, "one pixel makes another image"


def test_kept_tokens_let_the_heads_learn(weights: Path, images: Pictures, cameras: Cameras):
    encoder = cached_encoder(weights, cameras)
    for _ in range(2):
        encoder.zero_grad()
        encoder(images, None).square().sum().backward()
        assert all(weight.grad is not None and weight.grad.any() for weight in encoder.heads.parameters())
    assert all(weight.grad is None for weight in encoder.backbone.parameters())


def test_nothing_is_kept_in_deployment_nor_of_other_weights(weights: Path, images: Pictures, cameras: Cameras):
    encoder = cached_encoder(weights, cameras)
    assert encoder._cache is not None
    encoder.eval()(images, None)
    assert len(encoder._cache) == 0
    before = encoder.train()(images, None)
    assert len(encoder._cache) == 12
    state = {name: 1.1 * tensor for name, tensor in encoder.state_dict().items()}
    torch.nn.ModuleList([encoder]).load_state_dict({f"0.{name}": tensor for name, tensor in state.items()})
    assert len(encoder._cache) == 0
    assert not torch.allclose(encoder(images, None), before)


def test_what_is_trained_is_not_kept():
    with pytest.raises(SettingError, match=r"DinoV3Config.cached: what a backbone makes of an image changes"):
        DinoV3Config(trained=True, cached=True)
