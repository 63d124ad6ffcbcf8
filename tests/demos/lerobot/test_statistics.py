from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sido.demos.lerobot import statistics
from sido.demos.lerobot.statistics import ImageStatistics, VectorStatistics, to_json

QUANTILES = {"q01": 0.01, "q10": 0.1, "q50": 0.5, "q90": 0.9, "q99": 0.99}


@settings(deadline=None, max_examples=50)
@given(
    seed=st.integers(0, 2**32 - 1),
    cuts=st.lists(st.integers(0, 60), max_size=5),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)
def test_any_split_of_the_rows_gives_what_numpy_says_of_all_of_them(seed: int, cuts: list[int], scale: float):
    values = np.random.default_rng(seed).normal(loc=3.0, scale=scale, size=(60, 4))
    seen = VectorStatistics(4)
    for part in np.split(values, sorted(cuts)):
        seen.update(part)
    result = seen.result()
    np.testing.assert_array_equal(result["min"], values.min(axis=0))
    np.testing.assert_array_equal(result["max"], values.max(axis=0))
    np.testing.assert_allclose(result["mean"], values.mean(axis=0), rtol=1e-12)
    np.testing.assert_allclose(result["std"], values.std(axis=0), rtol=1e-9)
    np.testing.assert_array_equal(result["count"], [60])
    for name, share in QUANTILES.items():
        np.testing.assert_allclose(result[name], np.quantile(values, share, axis=0), rtol=1e-12)


def test_beyond_the_memory_set_aside_quantiles_are_of_evenly_spaced_rows(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(statistics, "_KEPT_NUMBERS", 64)
    values = np.random.default_rng(0).normal(size=(1001, 2))
    seen = VectorStatistics(2)
    for part in np.array_split(values, 37):
        seen.update(part)
    kept = values
    stride = 1
    while len(kept) > 32:
        stride *= 2
        kept = values[::stride]
    result = seen.result()
    np.testing.assert_allclose(result["q50"], np.quantile(kept, 0.5, axis=0))
    np.testing.assert_allclose(result["mean"], values.mean(axis=0))  # the others are of all rows all the same
    np.testing.assert_array_equal(result["max"], values.max(axis=0))


def test_what_is_not_finite_spoils_its_own_entry_only():
    values = np.ones((5, 3))
    values[2, 1] = np.nan
    values[2, 2] = np.inf
    seen = VectorStatistics(3)
    seen.update(values)
    result = seen.result()
    assert result["mean"][0] == 1.0
    assert np.isnan(result["mean"][1])
    assert result["max"][2] == np.inf


@pytest.mark.parametrize("size", [5, 40])
def test_channel_counters_give_what_numpy_says_of_every_pixel(size: int):
    images = np.random.default_rng(1).integers(0, 256, size=(7, size, size + 2, 3)).astype(np.uint8)
    seen = ImageStatistics()
    seen.update(images[:3])
    seen.update(images[3:])
    result = seen.result()
    pixels = images.reshape(-1, 3) / 255.0
    for name, expected in {
        "min": pixels.min(0),
        "max": pixels.max(0),
        "mean": pixels.mean(0),
        "std": pixels.std(0),
    }.items():
        assert result[name].shape == (3, 1, 1)
        np.testing.assert_allclose(result[name].ravel(), expected, rtol=1e-12)
    for name, share in QUANTILES.items():
        np.testing.assert_allclose(result[name].ravel(), np.quantile(pixels, share, axis=0, method="inverted_cdf"))
    assert result["count"].tolist() == [7]


def test_large_images_are_thinned_out():
    images = np.zeros((1, 480, 640, 3), dtype=np.uint8)
    images[:, 1::4] = 255  # every fourth row, and never one that is looked at
    seen = ImageStatistics()
    seen.update(images)
    assert seen.result()["max"].max() == 0.0


def test_json_is_lists():
    seen = VectorStatistics(2)
    seen.update(np.array([[1.0, 2.0], [3.0, 4.0]]))
    document = to_json({"action": seen.result()})
    assert document["action"]["mean"] == [2.0, 3.0]
    assert document["action"]["count"] == [2]
