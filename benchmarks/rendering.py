"""What images cost: robosuite with two cameras, and sido with images never, when re-planning, and always.

    python benchmarks/rendering.py
    python benchmarks/rendering.py --task square --size 128 --rounds 20

The Panda holds still above the table while the object goes in a circle. In turns, over many short rounds, the agent's
and the wrist's camera, both of the same size:

1. robosuite's `env.step` with images every step, as its `use_camera_obs` makes them;
2. sido's `VectorEnvironment` without images;
3. the same, with images of each environment every 8 steps: when a policy with T_a = 8 re-plans;
4. the same, with images every step.

Each figure is the median over the rounds, of control steps per second of processor time, in which other programs
count little; Mesa's threads are counted in. Targets: with images every step at least 8 times robosuite, and with
images when re-planning less than 1.5 times the cost of none.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import mujoco
import numpy as np

from sido.geometry import axis_angle_from_quat
from sido.motion import motion_named
from sido.sim.cameras import FAST, PRETTY, Cameras
from sido.sim.settings import EnvironmentSettings
from sido.sim.silence import silence
from sido.sim.tasks import TASKS, Task, task_named
from sido.sim.vector_environment import VectorEnvironment

CAMERAS = ("agentview", "robot0_eye_in_hand")
ROBOSUITE = {"stack": "Stack", "square": "NutAssemblySquare"}
ENVS, REPLAN_STEPS = 8, 8
TARGET_ROBOSUITE, TARGET_EPISODE = 8.0, 1.5


class Cost(NamedTuple):
    """Seconds per control step of one environment."""

    clock: float
    processor: float


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=TASKS, default="stack", help="robosuite has stack and square only")
    parser.add_argument("--size", type=int, default=84, help="pixels along each side")
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    task, size = task_named(arguments.task), (arguments.size, arguments.size)
    settings = EnvironmentSettings(motion=fitting_motion(task))
    with (
        Cameras(task.scene, CAMERAS, size=size) as cameras,
        Cameras(task.scene, CAMERAS, size=size, quality=PRETTY) as pretty,
        VectorEnvironment(task, envs=ENVS, settings=settings, render=cameras.render) as world,
    ):
        print(f"{arguments.task}, {ENVS} environments, two cameras of {arguments.size} x {arguments.size} pixels, "
              f"OpenGL by {cameras.backend}")  # fmt: skip
        runs: dict[str, Callable[[], Cost]] = {}
        if arguments.task in ROBOSUITE:
            robosuite = robosuite_with_cameras(ROBOSUITE[arguments.task], arguments.size)
            runs["robosuite, always"] = lambda: robosuite_round(robosuite)
        runs |= {
            "sido, never": lambda: sido_round(world, every=None),
            "sido, every 8 steps": lambda: sido_round(world, every=REPLAN_STEPS),
            "sido, always": lambda: sido_round(world, every=1),
        }
        costs: dict[str, list[Cost]] = {name: [] for name in runs}
        for measured in range(arguments.rounds + 1):
            for name, run in runs.items():
                cost = run()
                if measured:  # the first round warms up
                    costs[name].append(cost)
        report(costs)
        for name, some in ((f"FAST {FAST}", cameras), (f"PRETTY {PRETTY}", pretty)):
            print(f"  a pair of images: {pair_ms(some, task):6.2f} ms of processor time, {name}")


def fitting_motion(task: Task) -> Any:
    """A circle where the region has room for one, else the task's own motion."""
    return motion_named(task.name if task.name in ("gantry", "peachtree") else "circle", None)


def robosuite_with_cameras(name: str, size: int) -> Any:
    with silence():
        import robosuite

        environment = robosuite.make(
            name,
            robots="Panda",
            has_renderer=False,
            has_offscreen_renderer=True,
            use_camera_obs=True,
            camera_names=list(CAMERAS),
            camera_heights=size,
            camera_widths=size,
            ignore_done=True,
            control_freq=20,
        )
        environment.reset()
    return environment


def robosuite_round(environment: Any, steps: int = 4) -> Cost:
    action = np.zeros(environment.action_dim)
    clock, processor = time.perf_counter(), time.process_time()
    for _ in range(steps):
        observation = environment.step(action)[0]
        assert observation["agentview_image"].any()
    return Cost((time.perf_counter() - clock) / steps, (time.process_time() - processor) / steps)


def sido_round(world: VectorEnvironment, *, every: int | None, steps: int = 16) -> Cost:
    world.reset(range(ENVS))
    eef = world.eef_pose
    hold = np.concatenate([eef.position, axis_angle_from_quat(eef.quat_wxyz), -np.ones((ENVS, 1))], axis=1)
    clock, processor = time.perf_counter(), time.process_time()
    for step in range(steps):
        if every is not None and step % every == 0:
            for i in range(ENVS):
                world.render(i)
        world.step(hold)
    taken = steps * ENVS
    return Cost((time.perf_counter() - clock) / taken, (time.process_time() - processor) / taken)


def pair_ms(cameras: Cameras, task: Task, times: int = 10) -> float:
    """Of processor time, for one image of each camera."""
    data = mujoco.MjData(task.scene.model)
    data.qpos[:] = task.place(np.random.default_rng(0))
    mujoco.mj_forward(task.scene.model, data)
    cameras.render(data)
    processor = time.process_time()
    for _ in range(times):
        cameras.render(data)
    return 1e3 * (time.process_time() - processor) / times


def report(costs: dict[str, list[Cost]]) -> None:
    clock = {name: statistics.median(cost.clock for cost in values) for name, values in costs.items()}
    processor = {name: statistics.median(cost.processor for cost in values) for name, values in costs.items()}
    rounds = len(costs["sido, never"])
    print(f"\ncontrol steps a second, median of {rounds} rounds")
    print(f"  {'images':<22}{'by the clock':>14}{'of processor time':>20}{'ms a step':>12}")
    for name in costs:
        print(f"  {name:<22}{1 / clock[name]:>14,.0f}{1 / processor[name]:>20,.0f}{1e3 * processor[name]:>12.2f}")
    print()
    if "robosuite, always" in costs:
        ratio = processor["robosuite, always"] / processor["sido, always"]
        said = "met" if ratio >= TARGET_ROBOSUITE else "NOT met"
        print(f"  images every step, over robosuite      {ratio:6.2f}     target {TARGET_ROBOSUITE:g}: {said}")
    ratio = processor["sido, every 8 steps"] / processor["sido, never"]
    said = "met" if ratio < TARGET_EPISODE else "NOT met"
    print(f"  cost with images every 8 steps, over none {ratio:.2f}     target below {TARGET_EPISODE:g}: {said}\n")


if __name__ == "__main__":
    main()
