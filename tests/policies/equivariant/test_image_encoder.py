"""Convolutions and the image encoder: exact by quarters, near by eighths, and of the original's size."""

from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor
from torch.nn import functional

from policies.equivariant.group import ORDER, turned_fields
from sido.errors import SettingError
from sido.policies import CameraConfig
from sido.policies.equivariant.convolution import SteerableConvolution
from sido.policies.equivariant.harmonics import harmonics
from sido.policies.equivariant.image_encoder import EquivariantImageEncoder

torch.set_num_threads(1)


def turned_image(image: Tensor, quarters: int) -> Tensor:
    """Counter-clockwise, as it is displayed: rows go down."""
    return torch.rot90(image, quarters, dims=(-2, -1))


@pytest.mark.parametrize("side", [1, 3, 5])
def test_filters_turn(side: int):
    filters = harmonics(side)
    assert filters.shape == (ORDER, {1: 1, 3: 6, 5: 11}[side], side, side)
    for element in range(ORDER):
        turned = turned_image(filters[element], 1)
        torch.testing.assert_close(turned, filters[(element + 2) % ORDER], atol=1e-6, rtol=0)


def test_a_filter_that_points_right_points_up_after_a_quarter():
    cosine = harmonics(3)[:, 2]  # the centre, then the ring: constant, cosine, sine
    assert cosine[0, 1, 2] > 0.3
    assert cosine[2, 0, 1] > 0.3
    assert cosine[0, 0, 1].abs() < 1e-6
    with pytest.raises(SettingError, match="no middle"):
        harmonics(4)


@pytest.mark.parametrize(("before", "of_scalars"), [(3, True), (2, False)])
@pytest.mark.parametrize("quarters", range(4))
def test_a_convolution_turns(before: int, of_scalars: bool, quarters: int):
    torch.manual_seed(0)
    layer = SteerableConvolution(before, 4, 3, of_scalars=of_scalars, padding=1)
    torch.nn.init.normal_(layer.bias)
    channels = before if of_scalars else ORDER * before
    image = torch.randn(2, channels, 9, 9)
    turned = turned_image(image, quarters)
    if not of_scalars:
        turned = turned_fields(turned.unflatten(1, (ORDER, before)), 2 * quarters, dim=1).flatten(1, 2)
    expected = turned_image(layer(image), quarters).unflatten(1, (ORDER, 4))
    found = layer(turned).unflatten(1, (ORDER, 4))
    torch.testing.assert_close(found, turned_fields(expected, 2 * quarters, dim=1), atol=1e-5, rtol=1e-5)


def test_a_kernel_is_the_sum_that_its_docstring_says():
    layer = SteerableConvolution(2, 3, 3)
    kernel = layer.kernel.view(ORDER, 3, ORDER, 2, 3, 3)
    for h, k in [(0, 0), (1, 6), (5, 2)]:
        for out in range(3):
            for into in range(2):
                terms = [layer.weight[out, (k - h) % ORDER, into, i] * layer.filters[h, i] for i in range(6)]
                torch.testing.assert_close(kernel[h, out, k, into], torch.stack(terms).sum(dim=0))


@pytest.mark.parametrize(("fields", "millions"), [(32, 0.28), (64, 1.13), (128, 4.54)])
def test_the_encoder_has_the_originals_number_of_weights(fields: int, millions: float):
    encoder = EquivariantImageEncoder(CameraConfig("agentview", 84, 84), 76, fields)
    assert sum(weight.numel() for weight in encoder.parameters()) / 1e6 == pytest.approx(millions, abs=0.006)


@pytest.mark.parametrize(("size", "crop"), [(84, 76), (64, 56), (33, 33)])
def test_turning_the_image_by_quarters_turns_the_fields(size: int, crop: int):
    torch.manual_seed(0)
    encoder = EquivariantImageEncoder(CameraConfig("agentview", size, size), crop, 16)
    image = torch.randint(256, (2, 1, size, size, 3), dtype=torch.uint8)
    said = encoder(image, None)
    assert said.shape == (2, 1, ORDER, 16)
    for quarters in range(1, 4):
        turned = torch.rot90(image, quarters, dims=(2, 3))
        torch.testing.assert_close(encoder(turned, None), turned_fields(said, 2 * quarters, dim=2), atol=1e-4, rtol=0)
    assert (encoder(torch.rot90(image, 1, dims=(2, 3)), None) - said).abs().max() > 1e-2


@pytest.mark.parametrize("eighths", [1, 3, -1])
def test_turning_a_smooth_image_by_eighths_turns_what_convolutions_find_in_it(eighths: int):
    """The mean over the image of what two convolutions find: nothing is interpolated, the picture is computed."""
    torch.manual_seed(0)
    first = SteerableConvolution(3, 8, 5, of_scalars=True, padding=2)
    second = SteerableConvolution(8, 8, 5, padding=2)

    def found_in(turn: float) -> Tensor:
        across = torch.arange(61) - 30.0
        x, y = across[None, :], -across[:, None]
        picture = torch.zeros(1, 3, 61, 61)
        for colour, (radius, place) in enumerate([(11.0, 0.3), (16.0, 2.0), (7.0, 4.0)]):
            there = radius * math.cos(place + turn), radius * math.sin(place + turn)
            picture[0, colour] = torch.exp(-((x - there[0]) ** 2 + (y - there[1]) ** 2) / 60)
        return second(first(picture).relu()).relu().mean(dim=(2, 3)).view(ORDER, 8)

    before, after = found_in(0.0), found_in(eighths * math.pi / 4)
    wrong = functional.mse_loss(after, turned_fields(before, eighths, dim=0))
    assert wrong < 0.01 * functional.mse_loss(after, before)
    assert wrong < 0.01 * functional.mse_loss(after, turned_fields(before, -eighths, dim=0))


def test_crops_that_cannot_be():
    with pytest.raises(SettingError, match="too small a crop"):
        EquivariantImageEncoder(CameraConfig("a", 84, 84), 20, 8)
    with pytest.raises(SettingError, match="very middle"):
        EquivariantImageEncoder(CameraConfig("a", 84, 84), 75, 8)
