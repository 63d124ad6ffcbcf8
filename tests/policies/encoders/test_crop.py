"""Squares cut out of images: the right pixels, from anywhere."""

from __future__ import annotations

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import SettingError
from sido.policies import CameraConfig
from sido.policies.encoders.crop import crop_squares, cropped_size


def numbered(count: int, height: int, width: int) -> torch.Tensor:
    """Images whose pixels say where they are: (image, row, column)."""
    places = torch.meshgrid(torch.arange(count), torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack(places, dim=-1).to(torch.uint8)


@given(
    count=st.integers(1, 5),
    side=st.integers(1, 9),
    down=st.integers(0, 6),
    right=st.integers(0, 6),
    seed=st.integers(0, 99),
)
def test_a_crop_is_a_square_of_its_own_image(count: int, side: int, down: int, right: int, seed: int):
    images = numbered(count, side + down, side + right)
    for generator in (None, torch.Generator().manual_seed(seed)):
        crops = crop_squares(images, side, generator)
        for index, crop in enumerate(crops):
            top, left = int(crop[1, 0, 0]), int(crop[2, 0, 0])
            expected = images[index, top : top + side, left : left + side].permute(2, 0, 1)
            torch.testing.assert_close(crop, expected)
            if generator is None:
                assert (top, left) == (down // 2, right // 2)


def test_every_place_is_as_likely():
    images = numbered(250, 7, 6).repeat(80, 1, 1, 1)
    crops = crop_squares(images, 5, torch.Generator().manual_seed(0))
    tops = torch.bincount(crops[:, 1, 0, 0].long(), minlength=3) / len(images)
    lefts = torch.bincount(crops[:, 2, 0, 0].long(), minlength=2) / len(images)
    torch.testing.assert_close(tops, torch.full((3,), 1 / 3), atol=0.02, rtol=0)
    torch.testing.assert_close(lefts, torch.full((2,), 1 / 2), atol=0.02, rtol=0)


def test_the_generator_decides():
    images = numbered(50, 20, 20)
    first, again, other = (crop_squares(images, 8, torch.Generator().manual_seed(seed)) for seed in (1, 1, 2))
    assert torch.equal(first, again)
    assert not torch.equal(first, other)


def test_nothing_may_be_cut():
    images = numbered(2, 5, 7)
    assert torch.equal(crop_squares(images, None, torch.Generator()), images.permute(0, 3, 1, 2))
    assert cropped_size(CameraConfig("a", 48, 64), None) == (48, 64)
    assert cropped_size(CameraConfig("a", 48, 64), 48) == (48, 48)


def test_a_crop_must_fit():
    with pytest.raises(
        SettingError, match=r"crop of camera 'a': the crop is larger than the image; found 49;.*most 48"
    ):
        cropped_size(CameraConfig("a", 48, 64), 49)
