"""The grasp index, by each source, and where sources disagree."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sido.demos import ActionSpec, Demo, Grasp, find_grasp
from sido.demos.synthetic import reach_and_lift
from sido.errors import DataError

GRASP = 40


def demo(**options) -> Demo:
    return reach_and_lift(np.random.default_rng(1), grasp_step=GRASP, **options)


def without_signals(**changes) -> Demo:
    return dataclasses.replace(demo(with_signals=False), **changes)


def closed(demo: Demo, *runs: tuple[int, int]) -> np.ndarray:
    """The demonstration's actions with the gripper closed in the given stretches only."""
    actions = demo.actions.copy()
    actions[:, -1] = -1
    for start, stop in runs:
        actions[start:stop, -1] = 1
    return actions


@given(seed=st.integers(0, 1000), grasp_step=st.integers(34, 60), signals=st.booleans(), objects=st.booleans())
def test_every_source_finds_the_close_command(seed: int, grasp_step: int, signals: bool, objects: bool):
    made = reach_and_lift(
        np.random.default_rng(seed), steps=100, grasp_step=grasp_step, with_signals=signals, with_object=objects
    )
    assert find_grasp(made).index == grasp_step


def test_sources_are_named():
    assert find_grasp(demo()) == Grasp(GRASP, "subtask signal 'grasp'")
    assert find_grasp(without_signals()).source == "close command, fingers stalled and object moved"
    assert find_grasp(without_signals(object_position=None)).source == "close command, fingers stalled"
    no_fingers = without_signals(gripper=np.zeros((80, 1)))
    assert find_grasp(no_fingers).source == "close command, object moved"
    assert find_grasp(dataclasses.replace(no_fingers, object_position=None)).source == "close command alone"


def test_an_earlier_subtask_opens_the_window():
    signals = {"grasp": demo().subtask_signals["grasp"], "open": np.arange(80) >= 12, "insert": np.arange(80) >= 70}
    assert find_grasp(dataclasses.replace(demo(), subtask_signals=signals)).window_start == 12


def test_whatever_was_held_before_is_an_earlier_subtask():
    """A drawer's handle: the fingers stall on it, and the object stays where it is."""
    made = without_signals()
    actions, gripper = made.actions.copy(), made.gripper.copy()
    actions[8:16, -1] = 1.0
    gripper[9:17] = np.array([0.036, 0.032, 0.028, 0.024, 0.02, 0.02, 0.02, 0.02])[:, None] * [1, -1]
    with_drawer = dataclasses.replace(made, actions=actions, gripper=gripper)
    assert (find_grasp(with_drawer).index, find_grasp(with_drawer).window_start) == (GRASP, 16)
    gripper[9:17] = np.linspace(0.03, 0.0, 8)[:, None] * [1, -1]  # shut on nothing: a slip of the thumb
    assert find_grasp(dataclasses.replace(with_drawer, gripper=gripper)).window_start == 0
    opened = {"open": np.arange(80) >= 20}  # a signal of it, where there is none of the grasp
    assert find_grasp(dataclasses.replace(with_drawer, subtask_signals=opened)).window_start == 20


def test_a_flickering_signal_counts_while_the_gripper_closes():
    signal = demo().subtask_signals["grasp"].copy()
    signal[[20, 25]] = True  # the open hand brushes past
    assert find_grasp(dataclasses.replace(demo(), subtask_signals={"grasp": signal})).index == GRASP


def test_the_first_of_several_grasp_signals():
    signals = {"grasp_2": np.arange(80) >= 60, "grasp_1": np.arange(80) >= GRASP + 5}
    assert find_grasp(dataclasses.replace(demo(), subtask_signals=signals)).source == "subtask signal 'grasp_1'"


def test_closing_on_nothing_is_no_grasp():
    made = without_signals()
    fingers = made.gripper.copy()
    fingers[10:26] = np.stack([np.linspace(0.04, 0.0, 16), -np.linspace(0.04, 0.0, 16)], axis=1)
    twice = dataclasses.replace(
        made, actions=closed(made, (10, 26), (GRASP, 80)), gripper=fingers, object_position=None
    )
    assert find_grasp(twice).index == GRASP


def test_a_close_that_moves_nothing_is_no_grasp():
    made = without_signals()
    fingers = made.gripper.copy()
    fingers[12:26] = 0.02, -0.02  # stalled, on the wrong thing
    twice = dataclasses.replace(made, actions=closed(made, (10, 26), (GRASP, 80)), gripper=fingers)
    assert find_grasp(twice).index == GRASP


def test_a_flicker_of_the_command_is_no_grasp():
    made = without_signals(object_position=None, gripper=np.zeros((80, 1)))
    assert find_grasp(dataclasses.replace(made, actions=closed(made, (10, 14), (GRASP, 80)))).index == GRASP


def test_a_gripper_that_counts_the_other_way():
    """DROID: 0 is open, 1 closed, in the command and in what the robot reports."""
    spec = ActionSpec("absolute", rotation="euler_xyz", gripper_open=0.0, gripper_closed=1.0)
    made = demo(with_signals=False, with_object=False)
    actions = made.actions.copy()
    actions[:, -1] = 0
    actions[10:30, -1] = 1
    actions[GRASP:, -1] = 1
    position = np.zeros((80, 1))
    position[10:30, 0] = np.minimum(np.arange(20) / 8, 1.0)  # shuts on nothing
    position[GRASP:, 0] = np.minimum(np.arange(40) / 8, 0.6)  # stops at the object
    droid = dataclasses.replace(made, action_spec=spec, actions=actions, gripper=position)
    assert find_grasp(droid) == Grasp(GRASP, "close command, fingers stalled")


@pytest.mark.parametrize(
    ("runs", "found"),
    [
        ([], "no close command that lasts 5 steps (the longest lasts 0)"),
        ([(10, 13)], "no close command that lasts 5 steps (the longest lasts 3)"),
        (
            [(10, 26)],
            "close commands that hold nothing (steps 10-25: the fingers shut on nothing and the object stays)",
        ),
    ],
)
def test_no_grasp_says_what_was_found(runs: list[tuple[int, int]], found: str):
    made = without_signals()
    still = np.tile(made.object_position[0], (80, 1))
    fingers = np.tile([0.04, -0.04], (80, 1))
    if (10, 26) in runs:
        fingers[10:26] = np.stack([np.linspace(0.04, 0.0, 16), -np.linspace(0.04, 0.0, 16)], axis=1)
    idle = dataclasses.replace(made, actions=closed(made, *runs), object_position=still, gripper=fingers)
    with pytest.raises(DataError) as raised:
        find_grasp(idle)
    assert str(raised.value) == (
        f"demo_0 > grasp_index: no grasp found; found {found}; expected one close command that holds and moves the "
        "object; to mend it: annotate the grasp in the file, check --action-spec (which command closes?), or "
        "leave the demo out"
    )


def test_a_signal_that_never_comes():
    silent = dataclasses.replace(demo(), subtask_signals={"grasp": np.zeros(80, bool)})
    with pytest.raises(DataError, match="signal 'grasp' is never on while the gripper is told to close"):
        find_grasp(silent)
