"""The networks: their size, what they hear, and that no sample hears another."""

from __future__ import annotations

import pytest
import torch

from sido.policies import Denoiser, MlpConfig, UnetConfig, build_denoiser
from sido.policies.config import DenoiserConfig
from sido.policies.time_embedding import TimeEmbedding

torch.set_num_threads(1)

ORIGINAL_CONDITION = 2 * (2 * 64 + 9)
"""Two steps of two cameras' 64 keypoint coordinates, and of position, quaternion and two fingers."""

SMALL: dict[str, DenoiserConfig] = {
    "mlp": MlpConfig(32, 2),
    "unet": UnetConfig((16, 32, 64), time_features=16),
    "shallow unet": UnetConfig((16,), kernel_size=3, time_features=16),
}


def small(name: str, horizon: int = 16) -> Denoiser:
    torch.manual_seed(0)
    return build_denoiser(SMALL[name], horizon=horizon, action_size=7, condition_size=11)


@pytest.mark.parametrize(
    ("widths", "millions"), [((512, 1024, 2048), 255.6), ((128, 256, 512), 18.3), ((64, 128, 256), 5.4)]
)
def test_the_unet_has_the_originals_number_of_weights(widths: tuple[int, ...], millions: float):
    with torch.device("meta"):
        unet = build_denoiser(UnetConfig(widths), horizon=16, action_size=10, condition_size=ORIGINAL_CONDITION)
    assert sum(weight.numel() for weight in unet.parameters()) / 1e6 == pytest.approx(millions, abs=0.05)


@pytest.mark.parametrize("name", SMALL)
def test_it_hears_everything_and_no_sample_hears_another(name: str):
    denoiser = small(name)
    noisy, time = torch.randn(4, 16, 7), torch.tensor([0.0, 3.5, 50.0, 99.0])
    condition = torch.randn(4, 11)
    said = denoiser(noisy, time, condition)
    assert said.shape == noisy.shape
    changed = {
        "noisy": (noisy + torch.eye(4)[1][:, None, None], time, condition),
        "time": (noisy, time + 20 * torch.eye(4)[1], condition),
        "condition": (noisy, time, condition + torch.eye(4)[1][:, None]),
    }
    for what, arguments in changed.items():
        moved = (denoiser(*arguments) - said).abs().amax(dim=(1, 2))
        assert moved[1] > 1e-3, what
        assert moved[[0, 2, 3]].max() < 1e-6, what


@pytest.mark.parametrize("name", SMALL)
def test_every_weight_learns(name: str):
    denoiser = small(name, horizon=8)
    denoiser(torch.randn(4, 8, 7), torch.rand(4) * 100, torch.randn(4, 11)).square().mean().backward()
    assert [key for key, weight in denoiser.named_parameters() if weight.grad is None or not weight.grad.any()] == []


def test_time_is_seen_as_sines_and_cosines_of_steps():
    embedding = TimeEmbedding(8)
    embedding.layers = torch.nn.Identity()
    waves = embedding(torch.tensor([0.0, 2.0]))
    turns = [1.0, 10_000 ** (-1 / 3), 10_000 ** (-2 / 3), 1e-4]
    torch.testing.assert_close(waves[0], torch.tensor([0.0] * 4 + [1.0] * 4))
    expected = torch.cat([torch.sin(2 * torch.tensor(turns)), torch.cos(2 * torch.tensor(turns))])
    torch.testing.assert_close(waves[1], expected)
