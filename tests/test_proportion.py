"""Wilson's interval against its definition."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import SettingError
from sido.proportion import Proportion


@given(attempts=st.integers(1, 2000), share=st.floats(0, 1))
def test_its_ends_are_just_as_far_as_the_normal_law_says(attempts: int, share: float):
    proportion = Proportion(round(share * attempts), attempts)
    low, high = proportion.interval()
    assert 0.0 <= low <= proportion.rate <= high <= 1.0
    for end in (low, high):
        if 0.0 < end < 1.0:
            deviation = math.sqrt(end * (1 - end) / attempts)
            assert abs(proportion.rate - end) == pytest.approx(1.959963985 * deviation, rel=1e-6)


def test_all_and_none():
    assert Proportion(0, 10).interval()[0] == 0.0
    assert Proportion(10, 10).interval()[1] == 1.0
    assert str(Proportion(197, 200)) == "98.5% (95.7% to 99.5%)"


@pytest.mark.parametrize(("successes", "attempts"), [(1, 0), (0, 0), (-1, 5), (6, 5)])
def test_so_many_of_so_many(successes: int, attempts: int):
    with pytest.raises(SettingError, match=f"found {successes} of {attempts}"):
        Proportion(successes, attempts)
