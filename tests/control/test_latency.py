"""A pose that is old, and an inference that takes its time, end to end: every predictor looks further ahead for it."""

from __future__ import annotations

import numpy as np
import pytest

from acting import Scripted
from sido.control import Agent, AgentSettings
from sido.predict import PREDICTORS, predictor_named
from toy_world import PERIOD_S, ToyWorld, play

VELOCITY = np.array([[0.04, -0.02, 0.0]])
CHUNK_S = 16 * PERIOD_S


def channel(name: str, latency_steps: int, latency_s: float) -> tuple[np.ndarray, np.ndarray, float]:
    """What the policy is told at step 16, what the object's place was at first, and of when it is told."""
    world = ToyWorld([0], VELOCITY, latency_steps=latency_steps)
    start = world.thing.copy()
    speed_mps = float(np.linalg.norm(VELOCITY))
    predictor = predictor_named(name, speed_mps)
    agent = Agent(Scripted(rows=((0.3, 0.3, 0.3, -1.0),)), predictor, AgentSettings(latency_s=latency_s))
    agent.reset([0])
    _, thoughts = play(agent, world, 17)
    return thoughts[16].channel, start, float(thoughts[16].channel_time_s[0])


@pytest.mark.parametrize("name", [name for name in PREDICTORS if name != "hold"])
def test_a_pose_of_100_ms_ago_and_an_inference_of_40_ms(name: str):
    told, start, time_s = channel(name, latency_steps=2, latency_s=0.04)
    then = 16 * PERIOD_S + CHUNK_S + 0.04
    assert time_s == pytest.approx(then)
    np.testing.assert_allclose(told, start + then * VELOCITY, rtol=0, atol=1e-6)


def test_whoever_forgets_either_is_late():
    """What the compensation is worth: 40 ms and 100 ms of the object's way."""
    told, start, _ = channel("kalman", latency_steps=2, latency_s=0.0)
    late = start + (16 * PERIOD_S + CHUNK_S + 0.04) * VELOCITY - told
    np.testing.assert_allclose(late, 0.04 * VELOCITY, rtol=0, atol=1e-6)
    held, start, _ = channel("hold", latency_steps=2, latency_s=0.04)
    np.testing.assert_allclose(held, start + (16 - 2) * PERIOD_S * VELOCITY, rtol=0, atol=1e-9)
