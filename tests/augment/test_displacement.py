from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sido.augment.displacement import LENGTHS, FixedLength, UniformLength, planar_displacement

uniform = st.floats(0.0, 1.0, exclude_max=True)


@given(uniform, st.floats(0.0, 1.0))
def test_a_displacement_is_planar_and_as_long_as_told(direction: float, distance_m: float) -> None:
    delta = planar_displacement(
        torch.tensor([direction], dtype=torch.float64), torch.tensor([distance_m], dtype=torch.float64)
    )[0]
    assert delta[2] == 0.0
    assert delta.norm().item() == pytest.approx(distance_m, abs=1e-15)
    expected = [distance_m * math.cos(2 * math.pi * direction), distance_m * math.sin(2 * math.pi * direction)]
    assert delta[:2].tolist() == pytest.approx(expected, abs=1e-12)


def test_a_quarter_of_the_draw_is_a_quarter_turn() -> None:
    delta = planar_displacement(torch.tensor([0.0, 0.25, 0.5, 0.75]), torch.ones(4))
    expected = torch.tensor([[1.0, 0, 0], [0, 1, 0], [-1, 0, 0], [0, -1, 0]])
    torch.testing.assert_close(delta, expected, rtol=0, atol=1e-6)


def test_no_distance_is_no_displacement_whatever_the_direction() -> None:
    delta = planar_displacement(torch.rand(100, generator=torch.Generator().manual_seed(0)), torch.zeros(100))
    assert not delta.any()


def test_lengths_are_what_they_say() -> None:
    draws = torch.rand(20_000, generator=torch.Generator().manual_seed(0), dtype=torch.float64)
    assert FixedLength().share(draws) == 1.0
    assert stats.kstest(UniformLength().share(draws).numpy(), "uniform").pvalue > 1e-3


def test_every_length_has_one_name_and_needs_no_argument() -> None:
    assert {name: kind() for name, kind in LENGTHS.items()} == {"fixed": FixedLength(), "uniform": UniformLength()}
