"""How often the scripted experts succeed, on still and on moving objects, and what their demonstrations are like.

    python benchmarks/experts.py
    python benchmarks/experts.py --task stack --motion x random --speed 0.06 0.10
    python benchmarks/experts.py --task square --seeds 48

Without options, all that must hold: every task with a still object, Stack on every motion at 2 cm/s, Gantry on its own.
One line each, over the seeds 0 to `--seeds` - 1, in one process on one thread:

- successes of rollouts, and Wilson's 95 % interval;
- steps: how long a success lasts, on average and from the shortest to the longest;
- close, contact: the step of the first command to close, and of the first contact of both pads;
- eligible: the share of a demonstration's steps `t` with `t + 16 <= T_g`, where `T_g` is the command to close;
- r(8), r(16): how far the hand is from the object 8 and 16 steps after these, on average;
- expert: its share of the processor's time, the rest being physics.

The second cube turns the object back (`--obstacle reverse`). A sway, 30 cm long in the paper, is made as long as the
region where that is smaller, as Stack's is.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from sido.motion import MOTIONS, Driven, Motion, Sway, motion_named
from sido.proportion import Proportion
from sido.sim.ending import Ending
from sido.sim.experts import ExpertSettings, expert_for
from sido.sim.settings import OBSTACLE_RULES, EnvironmentSettings, obstacle_rule
from sido.sim.tasks import TASKS, Task, task_named
from sido.sim.vector_environment import VectorEnvironment

HEADINGS = (
    "task      motion          cm/s  success                      steps            close  contact  eligible"
    "   r(8)  r(16)  expert"
)
STACK_MPS = 0.02
AHEAD = (8, 16)


@dataclass
class Rollout:
    """One episode: where hand and object were before each step, and when what happened."""

    seed: int
    ending: Ending | None = None
    steps: int = 0
    close: int = -1
    contact: int = -1
    apart_m: list[float] = field(default_factory=list)

    @property
    def eligible(self) -> int:
        """Chunks of 16 steps that end before the command to close."""
        return max(self.close - AHEAD[1] + 1, 0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", nargs="+", choices=TASKS, default=list(TASKS))
    parser.add_argument("--motion", nargs="+", choices=MOTIONS, help="by default what must hold")
    parser.add_argument("--speed", nargs="+", type=float, help="m/s")
    parser.add_argument("--seeds", type=int, default=200)
    parser.add_argument("--envs", type=int, default=16)
    parser.add_argument("--obstacle", choices=OBSTACLE_RULES, default="reverse")
    parser.add_argument("--delay", type=float, default=0.0, help="the expert's reaction, s")
    parser.add_argument("--noise", type=float, default=0.0, help="on where the hand is sent, m")
    parser.add_argument("--offset", type=float, default=0.0, help="of the grasp, m")
    parser.add_argument("--failures", action="store_true", help="name the seeds that failed")
    arguments = parser.parse_args()
    expert = ExpertSettings(arguments.delay, arguments.noise, arguments.offset)
    print(HEADINGS)
    for name in arguments.task:
        task = task_named(name)
        for motion_name, speed_mps in rows(name, arguments.motion, arguments.speed):
            motion = fitted(motion_named(motion_name, speed_mps), task)
            settings = EnvironmentSettings(motion=motion, obstacle_rule=obstacle_rule(arguments.obstacle))
            with VectorEnvironment(task, envs=min(arguments.envs, arguments.seeds), settings=settings) as world:
                rollouts, share = play(world, expert, arguments.seeds)
            print(line(name, motion_name, motion.speed_mps, rollouts, share), flush=True)
            failed = [f"{one.seed} ({one.ending})" for one in rollouts if one.ending is not Ending.SUCCESS]
            if arguments.failures and failed:
                print("    failed: " + ", ".join(failed))


def rows(task: str, motions: list[str] | None, speeds: list[float] | None) -> Iterator[tuple[str, float | None]]:
    """Motions, and their speeds; None for the paper's own."""
    if motions is None:
        moving = {
            "stack": [name for name in MOTIONS if name != "still"],
            "gantry": ["gantry"],
            "peachtree": ["peachtree"],
        }
        yield from ((name, None) for name in ["still"])
        yield from ((name, STACK_MPS if task == "stack" else None) for name in moving.get(task, []))
    else:
        yield from ((name, speed) for name in motions for speed in speeds or [None])


def fitted(motion: Motion, task: Task) -> Motion:
    """A sway no longer than the region."""
    if isinstance(motion, Driven) and isinstance(motion.course, Sway):
        longest = min(motion.course.length_m, task.region.extent_m(motion.course.axis))
        return Driven(Sway(longest, motion.course.axis), motion.pace)
    return motion


def play(world: VectorEnvironment, settings: ExpertSettings, seeds: int) -> tuple[list[Rollout], float]:
    """All episodes, each begun where another has ended; and the expert's share of the time."""
    expert, envs = expert_for(world, settings), len(world)
    running = [Rollout(seed) for seed in range(envs)]
    waiting, done = iter(range(envs, seeds)), list[Rollout]()
    world.reset(range(envs))
    expert.begin(range(envs), range(envs))
    thinking_s, started_s = 0.0, time.process_time()
    while world.live.any():
        live = np.flatnonzero(world.live)
        apart = np.linalg.norm(world.eef_pose.position - world.object_position, axis=1)
        before_s = time.process_time()
        actions = expert.actions()
        thinking_s += time.process_time() - before_s
        events = world.step(actions).events
        for i in live:
            watch(running[i], float(apart[i]), bool(events.closing[i]), bool(events.held[i]), world.endings[i])
            if running[i].ending is not None:
                done.append(running[i])
                if (seed := next(waiting, None)) is not None:
                    running[i] = Rollout(seed)
                    world.reset([seed], [int(i)])
                    expert.begin([int(i)], [seed])
    return done, thinking_s / (time.process_time() - started_s)


def watch(rollout: Rollout, apart_m: float, closing: bool, held: bool, ending: Ending | None) -> None:
    if rollout.close < 0:
        rollout.apart_m.append(apart_m)
        rollout.close = rollout.steps if closing else -1
    if rollout.contact < 0 and held:
        rollout.contact = rollout.steps
    rollout.steps += 1
    rollout.ending = ending


def line(task: str, motion: str, speed_mps: float, rollouts: list[Rollout], share: float) -> str:
    good = [one for one in rollouts if one.ending is Ending.SUCCESS]
    found = Proportion(len(good), len(rollouts))
    low, high = found.interval()
    count = f"{len(good)}/{len(rollouts)}"
    text = f"{task:9s} {motion:14s} {100 * speed_mps:5.3g}  {count:>7s} {found.rate:.3f} ({low:.3f}-{high:.3f})"
    if not good:
        return text
    steps = [one.steps for one in good]
    apart: list[Any] = [
        np.mean([one.apart_m[t + ahead] for one in good for t in range(one.eligible)] or [np.nan]) for ahead in AHEAD
    ]
    close, contact = np.mean([one.close for one in good]), np.mean([one.contact for one in good])
    lasting = f"{np.mean(steps):.1f} ({min(steps)}-{max(steps)})"
    return (
        f"{text}  {lasting:15s} {close:6.1f}   {contact:6.1f}"
        f"    {sum(one.eligible for one in good) / sum(steps):6.1%}   {100 * apart[0]:4.1f}   {100 * apart[1]:4.1f}"
        f"   {share:.1%}"
    )


if __name__ == "__main__":
    main()
