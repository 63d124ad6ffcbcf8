"""A world of arithmetic: hands that go a part of their way, things that go straight on until they are grasped."""

from __future__ import annotations

import numpy as np

from sido.control import Agent, Insight, Observation

PERIOD_S = 0.05
OPEN, SHUT = 0.04, 0.0
THING = 0.02
"""Half the width of a thing."""


class ToyWorld:
    """`velocity_mps` [N, 3], one row for each session; poses are known `latency_steps` late."""

    def __init__(self, seeds, velocity_mps, *, latency_steps: int = 0, noise_m: float = 0.0) -> None:
        self.velocity = np.array(velocity_mps, dtype=float)
        count = len(self.velocity)
        self.rng = [np.random.default_rng(seed) for seed in seeds]
        self.thing = np.stack([[0.5, 0.0, 0.02] + rng.uniform(-0.1, 0.1, 3) * [1, 1, 0] for rng in self.rng])
        self.hand = np.tile([0.45, 0.0, 0.2], (count, 1))
        self.fingers = np.full(count, OPEN)
        self.held = np.zeros(count, dtype=bool)
        self.steps, self.latency, self.noise = 0, latency_steps, noise_m
        self.seen = [self._look()]

    def _look(self) -> np.ndarray:
        return self.thing + np.stack([self.noise * rng.standard_normal(3) for rng in self.rng])

    @property
    def observation(self) -> Observation:
        count, then = len(self.hand), max(self.steps - self.latency, 0)
        return Observation(
            time_s=np.full(count, self.steps * PERIOD_S),
            eef_position=self.hand.copy(),
            eef_quat_wxyz=np.tile([0.0, 1.0, 0.0, 0.0], (count, 1)),
            gripper=np.stack([self.fingers, -self.fingers], axis=1),
            object_position=self.seen[then].copy(),
            object_time_s=np.full(count, then * PERIOD_S),
        )

    def step(self, actions: np.ndarray) -> None:
        before = self.hand
        self.hand = before + 0.5 * (actions[:, :3] - before)
        closing = actions[:, -1] > 0
        least = np.where(np.linalg.norm(self.thing - self.hand, axis=1) < THING, THING, SHUT)
        self.fingers = np.where(
            closing, np.maximum(self.fingers - 0.005, least), np.minimum(self.fingers + 0.005, OPEN)
        )
        self.held = closing & (self.fingers == THING)
        driven = PERIOD_S * self.velocity
        self.thing = self.thing + np.where(self.held[:, None], self.hand - before, driven)
        self.steps += 1
        self.seen.append(self._look())


def play(agent: Agent, world: ToyWorld, steps: int) -> tuple[np.ndarray, list[Insight]]:
    """Actions [steps, N, A], and what the agent thought."""
    actions, thoughts = [], []
    for _ in range(steps):
        actions.append(agent.act(world.observation))
        thoughts.append(agent.insight)
        world.step(actions[-1])
    return np.stack(actions), thoughts
