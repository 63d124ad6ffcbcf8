"""Episodes a minute: one environment of robosuite and one policy call a step, and sido's rollouts. One run, in turns.

    python benchmarks/rollouts.py --run runs/dp-sido-state-cpu-0
    python benchmarks/rollouts.py                       # fresh weights of the same size: every episode runs out of time

The task is Stack with a still cube, from state; the policy is the same object in all three:

1. robosuite's own loop, as robomimic and LeRobot evaluate: one environment, `env.step`, one policy call a step;
2. the same, but each chunk's 8 actions are executed, as Diffusion Policy does;
3. sido: 16 environments, one process, one thread; the policy is asked for 8 at a time, 8 actions of each chunk; every
   step is logged.

Each round plays a few episodes of each, in turns. The figure is of all rounds together: episodes by the clock, and
control steps by the clock, which do not depend on how long episodes happen to be. Target: 10 times the first.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch

from sido.control import Agent, AgentSettings, Observation
from sido.demos import ACTION_SPECS
from sido.evaluate import RunPolicy, Setting, Stage, play
from sido.evaluate.player import ROWS_PER_CALL
from sido.policies import (
    DiffusionPolicyConfig,
    FlowMatchingConfig,
    MlpConfig,
    ObservationConfig,
    Policy,
    Statistics,
    build_policy,
)
from sido.predict import Hold
from sido.sim.commands import controller_spec
from sido.sim.osc import OscSettings
from sido.sim.robosuite_scene import make_environment, scene_of
from sido.sim.silence import silence

TARGET = 10.0
HORIZON = 400


class Tally(NamedTuple):
    episodes: int
    steps: int
    successes: int
    seconds: float

    def __add__(self, other: Any) -> Tally:
        return Tally(*(mine + yours for mine, yours in zip(self, other, strict=True)))


def fresh_policy() -> Policy:
    """As `sido train dp-sido` makes one for a laptop."""
    observation = ObservationConfig("future", landmarks=("cubeB",))
    low, high = torch.tensor([0.4, -0.2, -0.1]), torch.tensor([0.7, 0.2, 0.3])
    turn = torch.full((4,), 3.2)
    ranges = {
        "eef_position": (low, high),
        "object_position": (low, high),
        "landmark.cubeB": (low, high),
        "gripper": (-torch.full((2,), 0.04), torch.full((2,), 0.04)),
        "actions": (torch.cat([low, -turn]), torch.cat([high, turn])),
    }
    config = DiffusionPolicyConfig(observation, None, MlpConfig(256, 3), FlowMatchingConfig(6))
    torch.manual_seed(0)
    return build_policy(config, Statistics(ranges), ACTION_SPECS["osc-absolute"]).eval()


class RobosuiteLoop:
    """One environment, one agent, one step after the other."""

    def __init__(self, policy: Policy, action_horizon: int) -> None:
        self.env = make_environment("Stack", osc=OscSettings(controller_spec(policy.action_spec)))
        self.base = scene_of(self.env).arm.base_pose.inverse()
        self.agent = Agent(policy, Hold(), AgentSettings(action_horizon=action_horizon))

    def __call__(self, seeds: range) -> Tally:
        began, steps, successes = time.perf_counter(), 0, 0
        for seed in seeds:
            with silence():
                seen = self.env.reset()
            self.agent.reset([seed])
            for step in range(HORIZON):
                action = self.agent.act(self._observation(seen, step))[0]
                seen, _reward, _done, _info = self.env.step(action)
                steps += 1
                if self.env._check_success():
                    successes += 1
                    break
        return Tally(len(seeds), steps, successes, time.perf_counter() - began)

    def _observation(self, seen: dict[str, Any], step: int) -> Observation:
        def here(name: str) -> np.ndarray:
            return self.base.apply(np.asarray(seen[name], dtype=float))[None]

        time_s = np.array([0.05 * step])
        quat = np.roll(np.asarray(seen["robot0_eef_quat_site"], dtype=float), 1)[None]
        return Observation(
            time_s=time_s,
            eef_position=here("robot0_eef_pos"),
            eef_quat_wxyz=quat,
            gripper=np.asarray(seen["robot0_gripper_qpos"], dtype=float)[None],
            object_position=here("cubeA_pos"),
            object_time_s=time_s,
            landmarks={"cubeB": here("cubeB_pos")},
        )


def sido_loop(stage: Stage) -> Callable[[range], Tally]:
    def loop(seeds: range) -> Tally:
        began = time.perf_counter()
        rollouts = list(play(stage, seeds))
        return Tally(
            len(rollouts),
            sum(map(len, rollouts)),
            sum(rollout.success for rollout in rollouts),
            time.perf_counter() - began,
        )

    return loop


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run", type=Path, help="a folder of sido train; else fresh weights")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--episodes", type=int, default=2, help="of robosuite's loops in each round")
    parser.add_argument("--envs", type=int, default=16)
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    policy = fresh_policy() if arguments.run is None else RunPolicy(arguments.run)()
    stage = Stage(policy, Setting(), envs=arguments.envs, rows_per_call=ROWS_PER_CALL)
    loops: dict[str, tuple[Callable[[range], Tally], int]] = {
        "robosuite, a policy call a step": (RobosuiteLoop(policy, 1), arguments.episodes),
        "robosuite, chunks of 8": (RobosuiteLoop(policy, 8), arguments.episodes),
        f"sido, {arguments.envs} environments": (sido_loop(stage), 3 * arguments.envs),
    }
    totals = dict.fromkeys(loops, Tally(0, 0, 0, 0.0))
    for name, (loop, _count) in loops.items():
        loop(range(1 if name.startswith("robosuite") else arguments.envs))  # compiled, and warm
    for number in range(arguments.rounds):
        for name, (loop, count) in loops.items():
            first = 1_000_000 + number * count
            totals[name] += loop(range(first, first + count))
    base = totals["robosuite, a policy call a step"]
    print(f"{'':34}{'episodes/min':>13}{'steps/s':>9}{'successes':>11}{'episodes':>10}{'steps':>8}")
    for name, tally in totals.items():
        episodes, speed = 60 * tally.episodes / tally.seconds, tally.steps / tally.seconds
        print(f"{name:34}{episodes:13.1f}{speed:9.0f}{tally.successes:7} of {tally.episodes:<3}{tally.steps:14}")
        by_episodes = (tally.episodes / tally.seconds) / (base.episodes / base.seconds)
        by_steps = (tally.steps / tally.seconds) / (base.steps / base.seconds)
        print(f"{'':34}{by_episodes:12.1f}x{by_steps:8.1f}x")
    print(f"target: {TARGET:g}x the first, by episodes")
    stage.close()


if __name__ == "__main__":
    main()
