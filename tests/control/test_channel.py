"""What the policy is told of the object, and when commands follow it: design 3, docs/conventions.md."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from acting import Reacher, Scripted
from sido.control import (
    ActionCompensation,
    Agent,
    AgentSettings,
    ContactHorizon,
    GraspGate,
    Phase,
    VelocityFeedForward,
)
from sido.control.pose_history import PoseHistory
from sido.errors import DataError, SettingError
from sido.predict import Belief, FiniteDifference, Hold
from toy_world import PERIOD_S, ToyWorld, play

VELOCITY = np.array([[0.04, -0.02, 0.0]])
FAR = ((0.3, 0.3, 0.3, -1.0),)
"""Stays away from the object, the gripper open."""


def told(world: ToyWorld, steps: int = 17, settings: AgentSettings | None = None, actor=None, predictor=None):
    agent = Agent(actor or Scripted(rows=FAR), predictor or FiniteDifference(), settings)
    agent.reset([0])
    return play(agent, world, steps)


# --- the channel


@pytest.mark.parametrize("latency_steps", [0, 1, 3])
@pytest.mark.parametrize("latency_s", [0.0, 0.04])
def test_before_the_grasp_it_is_the_future(latency_steps: int, latency_s: float):
    """Neither the pose's age nor the time that inference takes makes the policy late."""
    world = ToyWorld([0], VELOCITY, latency_steps=latency_steps)
    start = world.thing.copy()
    _, thoughts = told(world, settings=AgentSettings(latency_s=latency_s))
    for step in (8, 16):
        then = step * PERIOD_S + 0.8 + latency_s
        np.testing.assert_allclose(thoughts[step].channel, start + then * VELOCITY, atol=1e-9)
        assert thoughts[step].channel_time_s[0] == pytest.approx(then)


def test_holding_tells_the_present():
    world = ToyWorld([0], VELOCITY)
    start = world.thing.copy()
    _, thoughts = told(world, predictor=Hold())
    np.testing.assert_allclose(thoughts[16].channel, start + 16 * PERIOD_S * VELOCITY, atol=1e-12)


def test_the_window_has_the_future_of_each_of_its_steps():
    actor = Scripted(rows=FAR)
    world = ToyWorld([0], VELOCITY)
    start = world.thing.copy()
    told(world, 9, actor=actor)
    expected = start + (np.array([7, 8])[:, None] * PERIOD_S + 0.8) * VELOCITY
    np.testing.assert_allclose(actor.asked[1].object_position[0].numpy(), expected, atol=1e-6)


CLOSES = ((0.3, 0.3, 0.3, -1.0),) * 3 + ((0.3, 0.3, 0.3, 1.0),)
REOPENS = ((0.3, 0.3, 0.3, -1.0),)


def test_from_the_closing_on_it_is_the_present_until_the_gripper_opens():
    actor = Scripted(rows=CLOSES)
    agent = Agent(actor, FiniteDifference(), AgentSettings(action_horizon=4))
    agent.reset([0])
    world = ToyWorld([0], VELOCITY)
    _, thoughts = play(agent, world, 5)
    np.testing.assert_allclose(thoughts[0].channel, world.seen[0])  # seen once: nothing is known of its velocity
    np.testing.assert_array_equal(thoughts[4].channel, world.seen[4])
    assert thoughts[4].channel_time_s[0] == pytest.approx(4 * PERIOD_S)
    actor.rows = REOPENS
    _, thoughts = play(agent, world, 8)
    # Planned at step 8; at step 4 the first action of CLOSES was "open", the fourth "close": closed at 8, not at 12.
    np.testing.assert_array_equal(thoughts[3].channel, world.seen[8])
    np.testing.assert_allclose(thoughts[7].channel, world.seen[12] + 0.8 * VELOCITY, atol=1e-9)


def test_a_lifted_object_is_not_extrapolated_with_an_open_gripper():
    world = ToyWorld([0], [[0.0, 0.04, 0.08]])
    _, thoughts = told(world, 17)
    assert [thought.phase[0] for thought in thoughts] == [Phase.REACHING] * 8 + [Phase.HOLDING] * 9
    np.testing.assert_array_equal(thoughts[16].channel, world.seen[16])


def test_the_horizon_may_end_at_the_contact():
    world = ToyWorld([0], VELOCITY)
    start = world.thing.copy()
    horizon = ContactHorizon(0.1, 0.5, 0.5)
    _, thoughts = told(world, 9, AgentSettings(horizon=horizon))
    way = world.seen[8] - np.array([[0.3, 0.3, 0.3]])
    ahead = thoughts[8].channel_time_s[0] - 8 * PERIOD_S
    assert 0.1 < ahead < 0.8
    np.testing.assert_allclose(ahead, 0.1 + 0.5 * (np.hypot(*way[0, :2]) + abs(way[0, 2])), atol=0.01)
    np.testing.assert_allclose(thoughts[8].channel, start + (0.4 + ahead) * VELOCITY, atol=1e-9)


# --- the horizon


@given(st.floats(0, 1), st.floats(0, 10), st.floats(0, 10), st.integers(0, 10_000))
def test_the_time_to_contact_is_learnt(base: float, planar: float, height: float, seed: int):
    ways = np.random.default_rng(seed).uniform(-0.2, 0.2, (40, 3))
    true = base + planar * np.hypot(ways[:, 0], ways[:, 1]) + height * np.abs(ways[:, 2])
    fitted = ContactHorizon.fit(ways, true)
    np.testing.assert_allclose(fitted(ways, 1e9), true, atol=1e-6)
    assert (fitted(ways, 0.3) <= 0.3).all(), "never beyond the chunk"


def test_no_way_takes_less_than_no_time():
    ways = np.array([[0.1, 0.0, 0.0], [0.2, 0.0, 0.1], [0.3, 0.0, 0.05], [0.4, 0.0, 0.3]])
    fitted = ContactHorizon.fit(ways, np.array([0.9, 0.7, 0.6, 0.1]))
    assert min(fitted.base_s, fitted.planar_s_per_m, fitted.height_s_per_m) >= 0.0
    with pytest.raises(DataError, match="not enough to learn from"):
        ContactHorizon.fit(ways[:2], np.ones(2))
    with pytest.raises(SettingError, match=r"ContactHorizon\.base_s"):
        ContactHorizon(-1.0)


# --- corrections


def test_compensation_is_what_the_object_moved():
    world = ToyWorld([0], VELOCITY)
    actions, _ = told(world, 20, AgentSettings(correction=ActionCompensation()), predictor=Hold())
    for step in range(20):
        planned = world.seen[step - step % 8]
        np.testing.assert_allclose(actions[step, 0, :3] - (0.3, 0.3, 0.3), (world.seen[step] - planned)[0], atol=1e-7)


def test_feed_forward_with_a_predictor_that_holds_is_compensation():
    def way(correction) -> np.ndarray:
        world = ToyWorld([0], VELOCITY, noise_m=0.002)
        return told(world, 60, AgentSettings(correction=correction), Reacher(), Hold())[0]

    np.testing.assert_array_equal(way(VelocityFeedForward(Hold(), 0.3)), way(ActionCompensation()))


@pytest.mark.parametrize("latency_steps", [0, 2])
def test_feed_forward_leads_by_the_lag_and_the_pose_age(latency_steps: int):
    """The command is where a plan for the object's place, as it was known, would be `lead` later."""
    world = ToyWorld([0], VELOCITY, latency_steps=latency_steps)
    settings = AgentSettings(correction=VelocityFeedForward(FiniteDifference(), 0.2))
    _, thoughts = told(world, 24, settings, predictor=Hold())
    for step in range(8, 24):
        since = (step % 8 + latency_steps) * PERIOD_S + 0.2
        np.testing.assert_allclose(thoughts[step].shift_m, since * VELOCITY, atol=1e-9)


def test_a_moving_object_is_grasped_with_feed_forward_and_not_without():
    def grasped(settings: AgentSettings, predictor) -> bool:
        world = ToyWorld([0], [[0.08, 0.0, 0.0]])
        told(world, 60, settings, Reacher(), predictor)
        return bool(world.held[0])

    assert grasped(AgentSettings(correction=VelocityFeedForward(lead_s=PERIOD_S)), Hold())
    assert not grasped(AgentSettings(), Hold())


def test_what_is_held_is_not_followed():
    """The last shift stays for the rest of the chunk, and the next has none."""
    world = ToyWorld([0], VELOCITY)
    settings = AgentSettings(correction=VelocityFeedForward(), gate=GraspGate(closing_s=0.15))
    rows = ((0.3, 0.3, 0.3, 1.0),)
    _, thoughts = told(world, 20, settings, Scripted(rows=rows), Hold())
    shifts = np.stack([thought.shift_m[0] for thought in thoughts])
    phases = [thought.phase[0] for thought in thoughts]
    assert phases == [Phase.REACHING] + [Phase.CLOSING] * 2 + [Phase.HOLDING] * 17
    assert (np.diff(shifts[:3, 0]) > 0).all(), "the fingers are still closing: the hand goes along"
    np.testing.assert_array_equal(shifts[3:8], np.tile(shifts[2], (5, 1)))
    assert not shifts[8:].any()


# --- the gate


def test_stalled_fingers_hold():
    """Contact is felt by the fingers' joints, before the time is up."""
    world = ToyWorld([0], np.zeros((1, 3)))
    agent = Agent(Reacher(), Hold(), AgentSettings(gate=GraspGate(closing_s=2.0)))
    agent.reset([0])
    phases, widths = [], []
    for _ in range(40):
        action = agent.act(world.observation)
        phases.append(agent.insight.phase[0])
        widths.append(world.fingers[0])
        world.step(action)
    stalled = next(k for k in range(1, 40) if widths[k] == widths[k - 1] < 0.04)
    assert phases.index(Phase.HOLDING) == stalled
    assert phases.index(Phase.CLOSING) == next(k for k in range(40) if widths[k] < 0.04)


def test_fingers_that_never_stall_hold_when_time_is_up():
    world = ToyWorld([0], np.zeros((1, 3)))
    closing = Scripted(rows=((0.3, 0.3, 0.3, 1.0),))
    _, thoughts = told(world, 12, AgentSettings(gate=GraspGate(closing_s=0.3)), closing)
    assert [thought.phase[0] for thought in thoughts].index(Phase.HOLDING) == 6


@pytest.mark.parametrize("name", ["closing_s", "lifted_m"])
def test_gates_that_cannot_be(name: str):
    with pytest.raises(SettingError, match=f"GraspGate.{name}"):
        GraspGate(**{name: 0.0})


# --- the history


def test_an_estimate_counts_once():
    poses = PoseHistory(1, 4, Belief())
    for step, stamp in enumerate([0.0, 0.0, 0.05, 0.05, 0.05, 0.02, 0.10]):
        poses.add(np.array([[stamp, 0.0, 0.0]]), np.array([stamp]), np.array([0.05 * step]))
    history = poses.at(np.array([0.3]))
    assert history.valid[0].tolist() == [False, True, True, True]
    np.testing.assert_allclose(history.positions[0, 1:, 0], [0.0, 0.05, 0.10])
    np.testing.assert_allclose(history.age_s, 0.2)


@pytest.mark.parametrize("bad", [(np.nan, 0.2), (0.1, np.nan), (0.1, 9.0), (0.1, 0.05)])
def test_what_is_unbelievable_pushes_nothing_out(bad: tuple[float, float]):
    poses = PoseHistory(1, 2, Belief())
    for position, stamp in [(0.0, 0.1), (0.02, 0.15), *[bad] * 5]:
        poses.add(np.array([[position, 0.0, 0.0]]), np.array([stamp]), np.array([0.2]))
    np.testing.assert_allclose(poses.at(np.array([0.2])).positions[0, :, 0], [0.0, 0.02])


def test_long_unseen_objects_rest_where_they_were_seen():
    """2 s without a pose: the agent acts on, and extrapolates nothing."""
    world = ToyWorld([0], VELOCITY)
    agent = Agent(Scripted(rows=FAR), FiniteDifference())
    agent.reset([0])
    play(agent, world, 8)
    last = world.observation
    for step in range(8, 49):
        late = np.array([step * PERIOD_S])
        agent.act(dataclasses.replace(last, time_s=late))
    np.testing.assert_array_equal(agent.insight.channel, last.object_position)
