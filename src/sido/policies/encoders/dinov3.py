"""DINOv3, the pretrained vision transformer of Meta AI, through `transformers`."""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from typing import Any, final

import torch
from jaxtyping import Float, UInt8
from safetensors import SafetensorError
from torch import Tensor, nn
from torch.nn import functional

from sido.errors import DataError, MissingExtraError, SettingError
from sido.policies.config import CameraConfig, DinoV3Config
from sido.policies.encoders.encoder import Encoder, Images
from sido.policies.encoders.token_cache import TokenCache

__all__ = ["DinoV3", "preprocess"]

_MEAN, _STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)  # of ImageNet's colours, in [0, 1]
_KIND = "dinov3_vit"


@final
class DinoV3(Encoder):
    """One backbone for all cameras, and a linear layer of its own on each camera's CLS token.

    The backbone sees whole images, resized; nothing is cropped. Unless `trained`, it has no gradients and stays in
    evaluation mode; then tokens may be `cached`, and every image goes through it once. Its weights are part of the
    state dict either way.
    """

    def __init__(self, config: DinoV3Config, cameras: Sequence[CameraConfig]) -> None:
        super().__init__()
        self.cameras = tuple(camera.name for camera in cameras)
        self.features = config.features * len(cameras)
        self._side, self._trained = config.image_size, config.trained
        self.backbone = backbone = _pretrained(config)
        self.backbone.requires_grad_(config.trained)
        size: int = backbone.config.hidden_size
        self.heads = nn.ModuleList(nn.Linear(size, config.features) for _ in cameras)
        self._cache = TokenCache(self._tokens) if config.cached else None
        self.register_load_state_dict_post_hook(_forget)
        self.train()

    def train(self, mode: bool = True) -> DinoV3:
        """As any module, but a frozen backbone stays in evaluation mode."""
        super().train(mode)
        self.backbone.train(mode and self._trained)
        return self

    def forward(self, images: Images, generator: torch.Generator | None) -> Float[Tensor, "B O features"]:
        """All cameras' images through the backbone at once; no randomness, so the generator is left alone."""
        del generator
        seen = [images[camera].flatten(0, 1) for camera in self.cameras]
        if self._cache is not None and self.training:
            tokens = torch.cat([self._cache(part) for part in seen])
        else:
            tokens = self._tokens(*seen)
        shares = tokens.unflatten(0, (len(self.cameras), *images[self.cameras[0]].shape[:2]))
        return torch.cat([head(share) for head, share in zip(self.heads, shares, strict=True)], dim=-1)

    def _tokens(self, *images: UInt8[Tensor, "_ _ _ 3"]) -> Float[Tensor, "N size"]:
        """The backbone's CLS tokens."""
        pixels = torch.cat([preprocess(part, self._side) for part in images])
        with torch.set_grad_enabled(self._trained and torch.is_grad_enabled()):
            return self.backbone(pixel_values=pixels).pooler_output

    def forget(self) -> None:
        """Throw away what was kept of images: the backbone's weights are others now."""
        if self._cache is not None:
            self._cache.clear()


def _forget(encoder: nn.Module, _keys: Any) -> None:
    assert isinstance(encoder, DinoV3)
    encoder.forget()


def preprocess(images: UInt8[Tensor, "N height width 3"], side: int) -> Float[Tensor, "N 3 side side"]:
    """What the backbone was trained on: RGB in [0, 1], resized, normalised with the statistics of ImageNet."""
    colours = images.permute(0, 3, 1, 2) / 255
    if colours.shape[-2:] != (side, side):
        colours = functional.interpolate(colours, size=(side, side), mode="bilinear", antialias=True)
    mean, std = (torch.tensor(values, device=images.device)[:, None, None] for values in (_MEAN, _STD))
    return (colours - mean) / std


def _pretrained(config: DinoV3Config) -> Any:
    """The backbone (`transformers` leaves its type open), or one line about why not."""
    transformers: Any = _import_transformers()
    weights = config.weights
    try:
        settings: dict[str, Any] = transformers.DINOv3ViTConfig.get_config_dict(weights)[0]
        if settings.get("model_type") != _KIND:
            raise DataError(
                "not a DINOv3 vision transformer",
                file=weights,
                field="model_type",
                found=repr(settings.get("model_type")),
                expected=repr(_KIND),
            )
        backbone, loading = transformers.DINOv3ViTModel.from_pretrained(
            weights, dtype=torch.float32, use_safetensors=True, output_loading_info=True
        )
    except (OSError, SafetensorError) as error:
        raise DataError(
            "no weights of DINOv3",
            field="DinoV3Config.weights",
            found=f"{weights!r} ({str(error).strip().splitlines()[0]})",
            expected="a folder with config.json and model.safetensors, or a name on the Hugging Face Hub",
            fix="accept the licence on the model's page and log in with 'hf auth login', or copy the folder here",
        ) from error
    if loading["missing_keys"]:
        raise DataError("weights are missing", file=weights, found=f"none for {sorted(loading['missing_keys'])[:3]}")
    if config.image_size % (patch := backbone.config.patch_size):
        raise SettingError(
            "not a multiple of the patch size",
            field="DinoV3Config.image_size",
            found=config.image_size,
            expected=f"a multiple of {patch}",
        )
    return backbone


def _import_transformers() -> Any:
    try:
        return importlib.import_module("transformers")
    except ImportError as error:
        raise MissingExtraError("DINOv3", "transformers", "vision") from error
