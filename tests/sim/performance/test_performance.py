"""Episodes told moment by moment."""

from __future__ import annotations

import numpy as np
import pytest

from sido.sim.ending import Ending
from sido.sim.experts import expert_for
from sido.sim.performance import Actor, Moment, perform


def test_every_step_and_the_end_of_each_episode_is_told(world, idle):
    world.horizon = 7
    moments = list(perform(world, idle, [5, 3]))
    assert [moment.seed for moment in moments] == [5] * 8 + [3] * 8
    assert [moment.steps for moment in moments] == 2 * list(range(8))
    assert [moment.ending for moment in moments] == 2 * [*[None] * 7, Ending.TIME]
    assert moments[7].time_s == pytest.approx(7 * 0.05)
    assert idle.begun == [([0], [5]), ([0], [3])], "the actor hears of every episode"
    assert [str(moment) for moment in moments[6:9]] == ["seed 5: 0.3 s", "seed 5: time after 0.4 s", "seed 3: 0.0 s"]


def test_it_waits_to_be_asked(world, idle):
    moments = perform(world, idle, range(10**9))
    assert [next(moments).steps for _ in range(3)] == [0, 1, 2]
    assert world.steps[0] == 2


def test_it_is_the_episode_of_that_seed(world, idle):
    last = list(perform(world, expert_for(world), [3]))[-1]
    assert last.ending is Ending.SUCCESS
    told = world.state.qpos.copy()
    expert = expert_for(world)
    world.reset([3])
    expert.begin([0], [3])
    while world.live[0]:
        world.step(expert.actions())
    np.testing.assert_array_equal(world.state.qpos, told)
    assert isinstance(expert, Actor)
    assert isinstance(idle, Actor)


def test_a_fault_is_told_with_its_reason():
    moment = Moment(2, 1.5, 30, Ending.ROBOT_FAULT, "a velocity diverged")
    assert str(moment) == "seed 2: robot fault (a velocity diverged) after 1.5 s"
