"""The mug's expert: the drawer opened, the mug in it, the drawer shut, also where the mug moves meanwhile."""

from __future__ import annotations

import numpy as np
import pytest

from sido.sim.ending import Ending
from sido.sim.experts.mug import mug_expert
from sido.sim.scenes import mug
from sido.sim.tasks import Mug

from .episodes import Episode, play


@pytest.fixture(scope="module")
def task(mug: Mug) -> Mug:
    return mug


@pytest.fixture(scope="module", params=["still", "circle", "y"])
def played(request: pytest.FixtureRequest, task: Mug) -> list[Episode]:
    return play(task, mug_expert, range(3), motion=request.param)


def test_the_mug_ends_in_the_drawer_and_the_drawer_shut(played: list[Episode]):
    assert [episode.ending for episode in played] == [Ending.SUCCESS] * len(played)


def test_the_drawer_is_open_while_the_mug_is_taken(played: list[Episode], task: Mug):
    """Nothing on the way to the mug and back meets its handle."""
    for episode in played:
        opened = -mug.drawer_position(task.scene, episode.qpos)
        taken = episode.during("over mug", "down", "close", "lift", "across", "lower", "open", "leave mug")
        assert opened[0] < 1e-3
        assert opened[taken].min() > mug.STROKE_M - 0.01


def test_it_touches_the_mug_only_to_take_it(played: list[Episode]):
    for episode in played:
        before = int(np.argmax(episode.during("close")))
        assert not episode.finger[:before].any()


def test_the_mug_is_free_from_the_grasp_on_and_does_not_slip(played: list[Episode]):
    for episode in played:
        carried = episode.during("lift", "across")
        assert not episode.driven[carried].any()
        grip = (episode.thing - episode.hand)[carried]
        assert np.linalg.norm(grip - grip[0], axis=1).max() < 0.004


def test_it_stands_upright_in_the_end(played: list[Episode], task: Mug):
    address = task.scene["mug"].qpos_address
    for episode in played:
        x, y = episode.qpos[-1, address + 4 : address + 6]
        assert 1 - 2 * (x * x + y * y) > 0.999


def test_the_hand_is_calm(played: list[Episode]):
    for episode in played:
        assert episode.speeds_mps.max() < 0.35
        assert 20 * np.abs(np.diff(episode.speeds_mps)).max() < 3.0  # m/s^2
