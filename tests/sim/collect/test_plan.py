"""What is chosen follows from the outcomes alone, whatever the order in which they become known."""

from __future__ import annotations

import random

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from sido.errors import SidoError
from sido.sim.collect.plan import BEFORE_GIVING_UP, LEAST_RATE, Plan


def slow(outcomes: list[bool], demos: int, places: int) -> tuple[list[int], list[int]] | None:
    """One attempt after the other, round by round; None where they do not suffice."""
    chosen: list[int] = []
    counted: list[int] = []
    got = [0] * places
    for number, usable in enumerate(outcomes):
        place = number % places
        if got[place] == demos // places:
            continue
        counted.append(number)
        if usable:
            got[place] += 1
            chosen.append(number)
    return (chosen, counted) if sum(got) == demos else None


def play(plan: Plan, outcomes: list[bool], hands: int, rng: random.Random) -> int:
    """Up to `hands` attempts at once, which end in any order; how many were played."""
    playing: list[int] = []
    played = 0
    while not plan.complete:
        while len(playing) < hands and (number := plan.next()) is not None:
            playing.append(number)
        number = playing.pop(rng.randrange(len(playing)))
        played += 1
        plan.learn(number, "success" if outcomes[number] else "time", usable=outcomes[number])
    return played


@given(
    demos=st.integers(1, 12),
    places=st.integers(1, 6),
    hands=st.integers(1, 20),
    seed=st.integers(),
    rate=st.integers(3, 10),
)
@example(demos=4, places=2, hands=4, seed=4, rate=3)
def test_whatever_the_order(demos: int, places: int, hands: int, seed: int, rate: int):
    rng = random.Random(seed)
    demos *= places
    outcomes = [rng.random() < rate / 10 for _ in range(200 * (demos + hands))]
    plan = Plan(demos, places)
    played = play(plan, outcomes, hands, rng)
    assert (plan.chosen, plan.counted) == slow(outcomes, demos, places)
    assert plan.usable == len(plan.chosen) == demos
    assert plan.next() is None
    assert played <= sum(most(outcomes[place::places], demos // places, hands) for place in range(places))


def most(outcomes: list[bool], quota: int, hands: int) -> int:
    """How many a place may see at most: none is begun where so many succeeded as are wanted, and the outcomes of all
    but the other hands' are known by then."""
    return [k for k, usable in enumerate(outcomes) if usable][quota + hands - 2] + 1


def test_nothing_is_played_in_vain_that_always_succeeds():
    plan = Plan(20)
    assert play(plan, [True] * 100, 8, random.Random(1)) == 20
    one_by_one = Plan(20)
    outcomes = [k % 2 == 0 for k in range(100)]
    assert play(one_by_one, outcomes, 1, random.Random(1)) == len(one_by_one.counted) == 39


def test_each_place_is_tried_until_it_succeeds():
    plan = Plan(4, places=4)
    assert [plan.next() for _ in range(5)] == [0, 1, 2, 3, None]
    for number, usable in ((0, True), (1, False), (2, True), (3, False)):
        plan.learn(number, "x", usable=usable)
    assert [plan.next() for _ in range(5)] == [5, 7, 9, 11, None], "two at once, as one may well fail"
    plan.learn(11, "x", usable=True)
    plan.learn(7, "x", usable=True)
    plan.learn(9, "x", usable=True)
    assert not plan.complete
    plan.learn(5, "x", usable=False)
    assert plan.complete
    assert plan.chosen == [0, 2, 7, 9]
    assert plan.counted == [0, 1, 2, 3, 5, 7, 9]


@pytest.mark.parametrize("order", [1, -1])
def test_it_gives_up_whatever_the_order(order: int):
    plan = Plan(1000)
    numbers = [plan.next() for _ in range(80)]
    with pytest.raises(SidoError) as raised:
        for number in numbers[::order]:
            assert number is not None
            plan.learn(number, "time" if number % 5 else "robot fault", usable=number in (7, 60))
    assert str(raised.value) == (
        "the expert succeeds too rarely to go on; found 1 usable of 50 attempts (40 time, 10 robot fault); "
        "expected 5% or more; to mend it: a slower motion, less noise or another placement; see it with `sido play`"
    )


def test_it_goes_on_where_there_is_hope():
    needed = int(BEFORE_GIVING_UP * LEAST_RATE) + 1
    plan = Plan(needed)
    outcomes = [False] * (BEFORE_GIVING_UP - needed) + [True] * 100
    play(plan, outcomes, 4, random.Random(2))
    assert plan.chosen == list(range(BEFORE_GIVING_UP - needed, BEFORE_GIVING_UP))
