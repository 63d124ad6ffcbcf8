"""Sessions are independent; chunks are executed and windows filled as docs/conventions.md draws them."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from acting import Reacher, Scripted
from sido.control import ActionCompensation, Agent, AgentSettings, Safety, UnsafeActionError, VelocityFeedForward
from sido.demos import ACTION_SPECS
from sido.errors import DataError, SettingError
from sido.predict import FiniteDifference, Hold
from toy_world import PERIOD_S, ToyWorld, play

SEEDS = [3, 14, 15, 92, 65]
VELOCITIES = np.array([[0.04, 0.0, 0.0], [0.0, -0.02, 0.0], [0.0, 0.0, 0.0], [0.03, 0.03, 0.0], [-0.06, 0.0, 0.0]])
SETTINGS = {
    "plain": AgentSettings(),
    "early": AgentSettings(reaching_action_horizon=2, correction=VelocityFeedForward()),
    "padded": AgentSettings(rows_per_call=4, correction=ActionCompensation()),
}


def played(rows: list[int], settings: AgentSettings, steps: int = 60) -> np.ndarray:
    agent = Agent(Reacher(noise_m=0.003), FiniteDifference(), settings, sessions=len(rows))
    seeds = [SEEDS[i] for i in rows]
    agent.reset(seeds)
    return play(agent, ToyWorld(seeds, VELOCITIES[rows], noise_m=0.002), steps)[0]


# --- sessions


@pytest.mark.parametrize("name", SETTINGS)
def test_sessions_are_what_they_are_alone(name: str):
    together = played([0, 1, 2, 3, 4], SETTINGS[name])
    assert (np.ptp(together, axis=1).max(axis=1) > 0).all(), "they differ"
    for i in range(5):
        np.testing.assert_array_equal(together[:, i], played([i], SETTINGS[name])[:, 0])


@given(st.permutations(range(5)))
def test_the_order_of_sessions_does_not_matter(order: list[int]):
    given_order = played([0, 1, 2, 3, 4], SETTINGS["early"], 20)
    np.testing.assert_array_equal(played(order, SETTINGS["early"], 20), given_order[:, order])


def test_seeds_decide_the_noise():
    def first(seed: int) -> np.ndarray:
        agent = Agent(Reacher(noise_m=0.003), Hold())
        agent.reset([seed])
        return agent.act(ToyWorld([0], VELOCITIES[:1]).observation)

    np.testing.assert_array_equal(first(5), first(5))
    assert not np.array_equal(first(5), first(6))


def test_a_session_begins_anew_while_the_others_go_on():
    agent = Agent(Reacher(noise_m=0.003), FiniteDifference(), SETTINGS["early"], sessions=2)
    agent.reset(SEEDS[:2])
    first, second = (ToyWorld([seed], velocity) for seed, velocity in zip(SEEDS, VELOCITIES[:2, None], strict=False))
    said = []
    for step in range(30):
        if step == 13:
            agent.reset([SEEDS[0]], [0])
            first = ToyWorld(SEEDS[:1], VELOCITIES[:1])
        mine, yours = first.observation, second.observation
        both = {
            field.name: np.concatenate([getattr(mine, field.name), getattr(yours, field.name)])
            for field in dataclasses.fields(mine)
            if field.name not in ("landmarks", "images")
        }
        said.append(agent.act(dataclasses.replace(mine, **both)))
        first.step(said[-1][:1])
        second.step(said[-1][1:])
    alone = Agent(Reacher(noise_m=0.003), FiniteDifference(), SETTINGS["early"])
    for i, (start, steps) in enumerate([(13, 17), (0, 30)]):
        alone.reset([SEEDS[i]])
        expected, _ = play(alone, ToyWorld([SEEDS[i]], VELOCITIES[i, None]), steps)
        np.testing.assert_array_equal(np.stack(said)[start:, i], expected[:, 0])


def test_sessions_that_are_over_are_left_alone():
    actor = Reacher()
    agent = Agent(actor, Hold(), sessions=2)
    agent.reset([0, 1])
    world = ToyWorld([0, 1], VELOCITIES[:2])
    for _ in range(9):
        actions = agent.act(world.observation, np.array([False, True]))
    assert not actions[0].any()
    assert [len(window) for window in actor.asked] == [1, 1]


def test_every_call_has_the_same_number_of_rows():
    actor = Reacher()
    agent = Agent(actor, Hold(), AgentSettings(rows_per_call=3), sessions=5)
    agent.reset(SEEDS)
    play(agent, ToyWorld(SEEDS, VELOCITIES), 9)
    assert [len(window) for window in actor.asked] == [3, 3, 3, 3]


# --- chunks and windows


def test_a_still_object_is_reached_alike_with_and_without_prediction():
    def way(predictor) -> np.ndarray:
        agent = Agent(Reacher(noise_m=0.003), predictor, SETTINGS["early"], sessions=2)
        agent.reset([1, 2])
        return play(agent, ToyWorld([1, 2], np.zeros((2, 3))), 60)[0]

    np.testing.assert_array_equal(way(FiniteDifference()), way(Hold()))
    assert (way(Hold())[-1, :, -1] > 0).all(), "it has been grasped"


def test_actions_are_executed_in_turn():
    rows = tuple((0.5 + 0.001 * k, 0.0, 0.1, -1.0) for k in range(16))
    actor = Scripted(rows=rows)
    agent = Agent(actor, Hold(), AgentSettings(action_horizon=5))
    agent.reset([0])
    actions, thoughts = play(agent, ToyWorld([0], np.zeros((1, 3))), 12)
    np.testing.assert_allclose(actions[:, 0, 0], [0.5 + 0.001 * k for k in (0, 1, 2, 3, 4) * 2 + (0, 1)], atol=1e-7)
    assert [int(thought.chunk_step[0]) for thought in thoughts] == [0, 1, 2, 3, 4] * 2 + [0, 1]
    assert [bool(thought.planned[0]) for thought in thoughts] == [k in (0, 5, 10) for k in range(12)]
    assert len(actor.asked) == 3


def test_it_plans_earlier_while_it_reaches():
    rows = ((0.5, 0.0, 0.1, -1.0),) * 3 + ((0.5, 0.0, 0.1, 1.0),)
    agent = Agent(Scripted(rows=rows), Hold(), AgentSettings(6, reaching_action_horizon=4))
    agent.reset([0])
    _, thoughts = play(agent, ToyWorld([0], np.zeros((1, 3))), 21)
    # The first chunk's fourth action closes; the second chunk, planned closed, begins by opening: 6 actions of it.
    assert np.flatnonzero([thought.planned[0] for thought in thoughts]).tolist() == [0, 4, 10, 16]


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_the_window_holds_the_last_steps(steps: int):
    actor = Reacher(observation_steps=steps)
    agent = Agent(actor, Hold(), AgentSettings(action_horizon=4), sessions=2)
    agent.reset([0, 1])
    world, hands = ToyWorld([0, 1], VELOCITIES[:2]), []
    for _ in range(9):
        hands.append(world.hand)
        world.step(agent.act(world.observation))
    for at, window in zip((0, 4, 8), actor.asked, strict=True):
        expected = np.stack([hands[max(at + k, 0)] for k in range(1 - steps, 1)], axis=1)
        np.testing.assert_array_equal(window.observations["eef_position"].numpy(), expected.astype(np.float32))
        things = np.stack([world.seen[max(at + k, 0)] for k in range(1 - steps, 1)], axis=1)
        np.testing.assert_array_equal(window.object_position.numpy(), things.astype(np.float32))
        assert window.observations["eef_rot6d"].shape == (2, steps, 6)
        assert all(tensor.dtype == torch.float32 for tensor in window.observations.values())


@pytest.mark.parametrize(("steps", "looked"), [(1, {0, 4, 8}), (2, {0, 3, 4, 7, 8})])
def test_pictures_are_wanted_only_where_they_are_looked_at(steps: int, looked: set[int]):
    actor = Reacher(observation_steps=steps, cameras=("wrist",))
    agent = Agent(actor, Hold(), AgentSettings(action_horizon=4))
    agent.reset([0])
    world = ToyWorld([0], VELOCITIES[:1])
    for step in range(9):
        wanted = bool(agent.wants_images[0])
        assert wanted == (step in looked)
        picture = np.full((1, 4, 5, 3), step if wanted else 255, dtype=np.uint8)
        world.step(agent.act(dataclasses.replace(world.observation, images={"wrist": picture})))
    seen = [window.observations["image.wrist"][0, :, 0, 0, 0].tolist() for window in actor.asked]
    assert seen == [[max(at + k, 0) for k in range(1 - steps, 1)] for at in (0, 4, 8)]


def test_landmarks_are_passed_on():
    actor = Reacher()
    agent = Agent(actor, Hold())
    agent.reset([0])
    agent.act(
        dataclasses.replace(ToyWorld([0], VELOCITIES[:1]).observation, landmarks={"cubeB": np.full((1, 3), 0.25)})
    )
    assert (actor.asked[0].observations["landmark.cubeB"] == 0.25).all()


def test_a_policy_without_the_channel_needs_no_pose():
    agent = Agent(Scripted(), None)
    agent.reset([0])
    nowhere = np.full((1, 3), np.nan)
    actions = agent.act(dataclasses.replace(ToyWorld([0], VELOCITIES[:1]).observation, object_position=nowhere))
    np.testing.assert_allclose(actions[0, :3], [0.5, 0.0, 0.1], atol=1e-7)


# --- what cannot be


def test_what_is_not_finite_never_leaves():
    agent = Agent(Scripted(rows=((np.nan, 0.0, 0.1, -1.0),)), Hold(), sessions=2)
    agent.reset([0, 1])
    with pytest.raises(UnsafeActionError, match=r"actions\[0\]: the policy's action in session 0 is not finite"):
        agent.act(ToyWorld([0, 1], VELOCITIES[:2]).observation)


def test_goals_stay_in_the_workspace():
    safety = Safety((0.3, -0.1, 0.05), (0.45, 0.1, 0.3))
    agent = Agent(Scripted(), Hold(), AgentSettings(safety=safety))
    agent.reset([0])
    np.testing.assert_allclose(agent.act(ToyWorld([0], VELOCITIES[:1]).observation)[0, :3], [0.45, 0.0, 0.1], atol=1e-7)


RELATIVE = Scripted(action_spec=ACTION_SPECS["osc-delta"])


@pytest.mark.parametrize(
    ("actor", "settings", "said"),
    [
        (RELATIVE, AgentSettings(correction=ActionCompensation()), r"shifted .* goals .*found relative actions"),
        (RELATIVE, AgentSettings(safety=Safety((0, 0, 0), (1, 1, 1))), r"box for absolute goals"),
        (Reacher(), AgentSettings(17), r"action_horizon: longer than a chunk; found 17; expected at most T_p = 16"),
        (Reacher(), AgentSettings(8, 17), r"reaching_action_horizon: longer than a chunk"),
    ],
)
def test_settings_that_do_not_fit(actor, settings: AgentSettings, said: str):
    with pytest.raises(SettingError, match=said):
        Agent(actor, Hold(), settings)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: AgentSettings(0), "AgentSettings.action_horizon: too small"),
        (lambda: AgentSettings(latency_s=-0.1), "AgentSettings.latency_s: not usable"),
        (lambda: AgentSettings(rows_per_call=0), "AgentSettings.rows_per_call: too small"),
        (lambda: Safety((0, 0, 0)), "a box has two corners"),
        (lambda: Safety((0, 0, 0), (1, 0, 1)), "not a box"),
        (lambda: VelocityFeedForward(lead_s=np.inf), "VelocityFeedForward.lead_s: not usable"),
    ],
)
def test_settings_that_cannot_be(make, said: str):
    with pytest.raises(SettingError, match=said):
        make()


def test_bad_observations_are_refused(as_user: None):
    agent = Agent(Reacher(cameras=("wrist",)), Hold(), sessions=2)
    good = ToyWorld([0, 1], VELOCITIES[:2]).observation
    with pytest.raises(SettingError, match="session 0 was never reset"):
        agent.act(good)
    agent.reset([0, 1])
    pictures = {"wrist": np.zeros((2, 4, 4, 3), dtype=np.uint8)}
    nan = np.full((2, 3), np.nan)
    for change, said in (
        ({}, "needs a camera that is not there; found none; expected wrist"),
        ({"images": {"wrist": pictures["wrist"][:1]}}, r"expected \[2, height, width, 3\]"),
        ({"eef_position": good.eef_position[:1]}, r"eef_position: wrong shape; found \[1, 3\]; expected \[2, 3\]"),
        ({"gripper": good.gripper[:, 0]}, r"gripper: wrong shape; found \[2\]; expected \[2, 'G'\]"),
        ({"eef_position": nan}, "eef_position: session 0 reports what is not finite"),
        ({"images": pictures, "object_position": nan}, "session 0 has not been seen yet"),
    ):
        with pytest.raises((DataError, SettingError), match=said):
            agent.act(dataclasses.replace(good, **change))
    agent.act(dataclasses.replace(good, images=pictures))
    with pytest.raises(SettingError, match="one seed for each session"):
        agent.reset([0])
    with pytest.raises(SettingError, match="not a seed"):
        agent.reset([-1, 0])
    with pytest.raises(SettingError, match="one seed for each session"):
        agent.reset([0], [2])


def test_a_policy_of_another_shape_is_refused():
    actor = Reacher()
    agent = Agent(actor, Hold())
    agent.reset([0])
    actor.prediction_horizon = 12
    with pytest.raises(DataError, match=r"chunks have a wrong shape; found \[1, 12, 10\]"):
        Agent.act(agent, ToyWorld([0], VELOCITIES[:1]).observation) if agent.actor is not actor else _act(agent)


def _act(agent: Agent) -> None:
    predict = agent.actor.predict
    agent.actor.prediction_horizon = 16
    agent.actor.predict = lambda seen, generator: predict(seen, generator)[:, :12]
    agent.act(ToyWorld([0], VELOCITIES[:1]).observation)


def test_time_is_of_the_period():
    """The chunk that is planned at t ends at t + T_p."""
    agent = Agent(Reacher(), FiniteDifference())
    agent.reset([0])
    _, thoughts = play(agent, ToyWorld([0], VELOCITIES[:1]), 9)
    assert thoughts[8].channel_time_s[0] == pytest.approx((8 + 16) * PERIOD_S)
