"""How long the rest takes, as it is said while it is made."""

from __future__ import annotations

import pytest

from sido.experiments import Agenda, Task, Timekeeper
from sido.experiments.agenda import USUAL_S


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def keeper(clock: Clock, hands: int = 1, **amounts: float) -> Timekeeper:
    agenda = Agenda()
    for work, amount in amounts.items():
        agenda.add(work.replace("_", " "), amount)
    return Timekeeper(agenda, hands, clock)


def test_before_anything_is_known_it_takes_as_long_as_usual():
    usual = USUAL_S["play state"] * 100 + USUAL_S["collect state"] * 10
    assert keeper(Clock(), play_state=100, collect_state=10).left_s == pytest.approx(usual)
    assert keeper(Clock(), 2, play_state=100, collect_state=10).left_s == pytest.approx(usual / 2)


def test_time_goes_on_while_nothing_is_heard():
    clock = Clock()
    timekeeper = keeper(clock, play_state=100)
    clock.now = 10.0
    assert timekeeper.left_s == pytest.approx(100 * USUAL_S["play state"] - 10.0)
    clock.now = 1e6
    assert timekeeper.left_s == 0.0


def test_what_it_really_takes_is_learnt():
    clock = Clock()
    timekeeper = keeper(clock, play_state=100)
    timekeeper.hear(Task("playing", 0, 100, work={"play state": 0}))
    for done in range(1, 51):
        clock.now = 2.0 * done  # many times slower than usual
        timekeeper.hear(Task("playing", done, 100, work={"play state": done}))
    assert timekeeper.left_s == pytest.approx(50 * 2.0)


def test_what_was_there_before_counts_for_nothing():
    """A stage that begins with 80 of 100 done: the 20 are what is left, and what its pace is measured by."""
    clock = Clock()
    timekeeper = keeper(clock, play_state=20)
    timekeeper.hear(Task("playing", 80, 100, work={"play state": 80}))
    for done in (85, 90):
        clock.now += 5.0
        timekeeper.hear(Task("playing", done, 100, work={"play state": done}))
    assert timekeeper.left_s == pytest.approx(10.0)


def test_a_slow_start_is_no_slow_pace():
    clock = Clock()
    timekeeper = keeper(clock, play_state=100)
    timekeeper.hear(Task("playing", 0, 100, work={"play state": 0}))
    clock.now = 60.0  # of imports and compilation
    timekeeper.hear(Task("playing", 10, 100, work={"play state": 10}))
    assert timekeeper.left_s == pytest.approx(90 * USUAL_S["play state"])
    clock.now = 70.0
    timekeeper.hear(Task("playing", 20, 100, work={"play state": 20}))
    assert timekeeper.left_s == pytest.approx(80.0)


def test_a_busy_machine_is_as_slow_for_what_comes_later():
    clock = Clock()
    timekeeper = keeper(clock, collect_state=100, train_dp_state=1000)
    timekeeper.hear(Task("collecting", 0, 100, work={"collect state": 0}))
    for done in (50, 100):
        clock.now = done * USUAL_S["collect state"] * 3
        timekeeper.hear(Task("collecting", done, 100, work={"collect state": done}))
    assert timekeeper.left_s == pytest.approx(3 * 1000 * USUAL_S["train dp state"])


def test_stages_of_several_kinds_of_work():
    clock = Clock()
    timekeeper = keeper(clock, train_dp_state=1000, train_dp_image=1000)
    usual = 1000 * USUAL_S["train dp state"] + 500 * USUAL_S["train dp image"]
    timekeeper.hear(Task("training", 0, 2000, work={"train dp state": 0, "train dp image": 0}))
    for share in (0.5, 1.0):
        clock.now = 2 * usual * share
        work = {"train dp state": 1000 * share, "train dp image": 500 * share}
        timekeeper.hear(Task("training", 1500 * share, 2000, work=work))
    assert timekeeper.left_s == pytest.approx(2 * 500 * USUAL_S["train dp image"])
