"""McNemar against scipy; pooled intervals against what they must come to at both ends."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import binomtest

from sido.errors import SettingError
from sido.evaluate.paired import Paired
from sido.evaluate.pooled import Pooled
from sido.proportion import Proportion


@given(st.integers(0, 200), st.integers(0, 200), st.integers(0, 100))
def test_mcnemar_is_scipys_binomial_test(first: int, second: int, alike: int):
    if first + second == 0:
        return
    paired = Paired(alike, first, second, 0)
    assert paired.p_value == pytest.approx(binomtest(first, first + second, 0.5).pvalue, rel=1e-9)
    assert paired.p_value == Paired(0, second, first, alike).p_value


def test_methods_that_never_differ_are_no_evidence():
    assert Paired(5, 0, 0, 3).p_value == 1.0


def test_pairs_are_counted_by_seed():
    first = {1: True, 2: True, 3: False, 4: False, 5: True}
    second = {5: False, 4: False, 3: True, 2: True, 1: False}
    paired = Paired.of(first, second)
    assert paired == Paired(both=1, only_first=2, only_second=1, neither=1)
    assert paired.difference == pytest.approx(0.2)
    assert (paired + paired).episodes == 10
    with pytest.raises(SettingError, match=r"only the same episodes.*1 seeds that only one of them has, 9 among them"):
        Paired.of(first, {**second, 9: True})


@given(st.lists(st.booleans(), min_size=1, max_size=40), st.integers(1, 5))
def test_policies_that_do_not_differ_pool_as_if_they_were_one(row: list[bool], policies: int):
    pooled = Pooled.of([row] * policies)
    assert pooled.design_effect == 1.0
    assert pooled.interval() == pytest.approx(Proportion(policies * sum(row), policies * len(row)).interval())


@given(st.lists(st.integers(0, 100), min_size=1, max_size=6))
def test_the_pooled_interval_holds_the_rate_and_is_never_narrower(successes: list[int]):
    pooled = Pooled(tuple(Proportion(count, 100) for count in successes))
    (low, high), (least, most) = pooled.interval(), pooled.all.interval()
    assert 0.0 <= low <= pooled.rate <= high <= 1.0
    assert high - low >= most - least - 1e-12


def test_policies_that_differ_wholly_count_as_single_attempts():
    """One always succeeds, one never: what is known of the third is hardly more than two attempts say."""
    pooled = Pooled.of([[True] * 100, [False] * 100])
    assert pooled.all.attempts / pooled.design_effect == pytest.approx(1.0)
    low, high = pooled.interval()
    assert low < 0.1
    assert high > 0.9


def test_policies_are_pooled_with_as_many_episodes_each():
    with pytest.raises(SettingError, match="the same number of episodes"):
        Pooled((Proportion(1, 2), Proportion(1, 3)))
