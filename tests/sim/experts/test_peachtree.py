"""The peach's expert: picks it off the tree, still and swaying, as a calm hand does."""

from __future__ import annotations

import numpy as np
import pytest

from sido.sim.ending import Ending
from sido.sim.experts import ExpertSettings
from sido.sim.experts.experts import expert_for
from sido.sim.experts.peachtree import PULL_M, peachtree_expert
from sido.sim.experts.stages import Script
from sido.sim.tasks import Peachtree
from sido.sim.vector_environment import VectorEnvironment

from .episodes import Episode, play


@pytest.fixture(scope="module")
def task(peachtree: Peachtree) -> Peachtree:
    return peachtree


@pytest.fixture(scope="module", params=["still", "peachtree"])
def played(request: pytest.FixtureRequest, task: Peachtree) -> list[Episode]:
    return play(task, peachtree_expert, range(5), motion=request.param)


def test_it_is_the_expert_for_the_task(task: Peachtree):
    with VectorEnvironment(task, envs=1) as world:
        expert = expert_for(world)
        assert isinstance(expert, Script)
        assert expert.stages == peachtree_expert(world, ExpertSettings()).stages


def test_the_peach_ends_in_the_basket(played: list[Episode]):
    assert [episode.ending for episode in played] == [Ending.SUCCESS] * len(played)


def test_it_takes_five_to_seven_seconds(played: list[Episode]):
    """So that a good share of a demonstration comes before the grasp: some 55 steps of 110."""
    for episode in played:
        assert 80 <= len(episode.hand) <= 140
        assert 35 <= np.argmax(episode.closing) <= 75


def test_nothing_touches_the_peach_before_the_hand_closes(played: list[Episode]):
    for episode in played:
        assert not episode.finger[: np.argmax(episode.closing)].any()


def test_it_is_free_from_the_grasp_on_and_does_not_slip(played: list[Episode]):
    for episode in played:
        carried = episode.during("pull", "carry")
        assert not episode.driven[carried].any()
        grip = (episode.thing - episode.hand)[carried]
        assert np.linalg.norm(grip - grip[0], axis=1).max() < 0.003


def test_the_peach_goes_where_it_is_taken_and_does_not_hop(played: list[Episode]):
    """Until it falls, it is never faster than the hand by more than what the closing fingers do to it."""
    for episode in played:
        falling = int(np.argmax(episode.during("open")))
        steps = np.linalg.norm(np.diff(episode.thing[:falling], axis=0), axis=1)
        assert steps.max() < 0.012
        assert abs(episode.thing[:falling, 2] - episode.thing[0, 2]).max() < 0.1
        pulled = episode.thing[episode.during("pull")]
        assert (pulled[-1] - pulled[0])[0] < 0.5 * PULL_M[0]


def test_the_hand_is_calm(played: list[Episode]):
    for episode in played:
        assert episode.speeds_mps.max() < 0.25
        assert 20 * np.abs(np.diff(episode.speeds_mps)).max() < 2.5  # m/s^2


def test_a_late_unsteady_hand_succeeds_too(task: Peachtree):
    """A grasp that is meant to miss the middle stays within what the jaw leaves."""
    person = ExpertSettings(reaction_delay_s=0.2, action_noise_m=0.003, grasp_offset_m=0.006)
    played = play(task, peachtree_expert, range(4), motion="peachtree", settings=person)
    assert sum(episode.ending is Ending.SUCCESS for episode in played) >= 3
