"""The table of watched contacts against the obvious loop."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.errors import SettingError
from sido.sim.stepper.contacts import MAX_PAIRS, ContactPair, pair_bits

GEOMS = 6
sides = st.lists(st.integers(0, GEOMS - 1), max_size=4).map(tuple)


@given(st.lists(st.tuples(sides, sides), max_size=5))
def test_the_table_says_which_pairs_a_contact_is(drawn: list[Any]):
    pairs = [ContactPair(str(k), first, second) for k, (first, second) in enumerate(drawn)]
    firsts, seconds = pair_bits(pairs, GEOMS)
    for g in range(GEOMS):
        for h in range(GEOMS):
            for k, pair in enumerate(pairs):
                expected = (g in pair.first and h in pair.second) or (h in pair.first and g in pair.second)
                bits = (firsts[g] & seconds[h]) | (firsts[h] & seconds[g])
                assert bool(bits >> k & 1) == expected


def test_as_many_as_there_are_bits():
    pairs = [ContactPair(str(k), (0,), (1,)) for k in range(MAX_PAIRS)]
    firsts, seconds = pair_bits(pairs, 2)
    assert firsts[0] == seconds[1] == 2**MAX_PAIRS - 1
    assert firsts[1] == seconds[0] == 0
    with pytest.raises(SettingError, match=f"contacts: too many contacts; found 64; expected up to {MAX_PAIRS}"):
        pair_bits([*pairs, ContactPair("one more", (0,), (1,))], 2)


def test_what_is_no_contact():
    with pytest.raises(SettingError, match="contacts: contacts need names that differ; found a, a"):
        pair_bits([ContactPair("a", (0,), (1,))] * 2, 2)
    with pytest.raises(SettingError, match=r"contacts\['a'\]: no such geom; found \[2, -1\]; expected ids from 0 to 1"):
        pair_bits([ContactPair("a", (2,), (-1,))], 2)
