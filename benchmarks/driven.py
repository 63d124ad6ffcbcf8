"""Is the driven object's motion the one that was commanded? Every motion for a minute, as MuJoCo has it.

    python benchmarks/driven.py
    python benchmarks/driven.py --speed 0.02 --motion circle --obstacle reverse

One line each: Stack with every motion (a sway as long as its region), and Gantry and Peachtree with their own. The hand
holds still; nothing grasps the object. Control runs at 100 Hz, and the way is measured as the sum of the distances
between two steps, which a reflection between them shortens (by 0.4 % of the way at 20 cm/s).

- mean: way over time, in one minute, and by how much that is off the commanded speed. `variable-speed` draws its
  speeds; what it was commanded in that minute is the mean of what it drew.
- velocity: the mean of the speeds that MuJoCo has, likewise.
- out: how far the object was outside of its region at most.
- hop, turn: the greatest change of its height, and of its attitude.
- radius: of a circle, its greatest deviation from 5 cm.
"""

from __future__ import annotations

import argparse
import dataclasses
from typing import Any

import numpy as np

from experts import fitted
from sido.demos import ACTION_SPECS
from sido.geometry import axis_angle_from_quat
from sido.motion import MOTIONS, Driven, Resampled, motion_named
from sido.sim.settings import OBSTACLE_RULES, EnvironmentSettings, obstacle_rule
from sido.sim.tasks import Task, task_named
from sido.sim.vector_environment import VectorEnvironment

RATE_HZ, MINUTE_S = 100.0, 60.0
OWN = {"gantry": ("gantry", "variable-speed", "x", "y"), "peachtree": ("peachtree",)}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", nargs="+", default=["stack", "gantry", "peachtree"])
    parser.add_argument("--motion", nargs="+", choices=MOTIONS)
    parser.add_argument("--speed", nargs="+", type=float, default=[0.005, 0.02, 0.05, 0.10, 0.20], help="m/s")
    parser.add_argument("--obstacle", choices=OBSTACLE_RULES, default="outside")
    parser.add_argument("--seed", type=int, default=0)
    arguments = parser.parse_args()
    print("task      motion          cm/s      mean           velocity       out um  hop um  turn urad  radius um")
    worst = 0.0
    for name in arguments.task:
        task = task_named(name)
        task.horizon_s = MINUTE_S + 1.0  # pyright: ignore[reportAttributeAccessIssue]
        usual = OWN.get(name, tuple(motion for motion in MOTIONS if motion != "still"))
        for motion in arguments.motion or usual:
            for speed_mps in arguments.speed:
                worst = max(worst, line(task, motion, speed_mps, obstacle_rule(arguments.obstacle), arguments.seed))
    print(f"\nmean speed: {worst:.2%} off at most; target 1 %: {'met' if worst < 0.01 else 'NOT met'}")


def line(task: Task, name: str, speed_mps: float, rule: Any, seed: int) -> float:
    motion = fitted(motion_named(name, speed_mps), task)
    settings = EnvironmentSettings(
        motion=motion,
        obstacle_rule=rule,
        action_spec=dataclasses.replace(ACTION_SPECS["osc-absolute"], rate_hz=RATE_HZ),
    )
    places, speeds, turned = [], [], []
    with VectorEnvironment(task, envs=1, settings=settings) as world:
        world.reset([seed])
        eef = world.eef_pose
        hold = np.concatenate([eef.position, axis_angle_from_quat(eef.quat_wxyz), [[-1.0]]], axis=1)
        commanded = commanded_mps(world, motion)
        places.append(world.object_position[0].copy())
        for _ in range(round(MINUTE_S * RATE_HZ)):
            world.step(hold)
            assert world.driven[0], "nothing else moves it"
            places.append(world.object_position[0].copy())
            speeds.append(float(np.linalg.norm(world.object_velocity_mps[0])))
            turned.append(world.object_pose.quat_wxyz[0])
    path, attitude = np.array(places), np.array(turned)
    mean, felt = np.linalg.norm(np.diff(path, axis=0), axis=1).sum() / MINUTE_S, float(np.mean(speeds))
    out = max(0.0, float((np.abs(path[:, :2] - task.region.centre_m) - np.array(task.region.size_m) / 2).max()))
    turn = 2 * np.abs(attitude - attitude[0]).max()
    radius = f"{1e6 * deviation(path[:, :2], 0.05):9.2f}" if name == "circle" else ""
    off = [value / commanded - 1 for value in (mean, felt)]
    print(
        f"{task.name:9s} {name:14s} {100 * speed_mps:5.3g}   {100 * mean:7.4f} {off[0]:+7.2%}   {100 * felt:7.4f}"
        f" {off[1]:+7.2%}  {1e6 * out:6.2f}  {1e6 * np.ptp(path[:, 2]):6.2f}  {1e6 * turn:9.2f} {radius}",
        flush=True,
    )
    return max(abs(value) for value in off)


def commanded_mps(world: VectorEnvironment, motion: Any) -> float:
    """The speed that was asked for; of a motion that draws its speeds, the mean of what it drew in that minute."""
    if not (isinstance(motion, Driven) and isinstance(motion.pace, Resampled)):
        return motion.speed_mps
    drive = world._episodes[0].object._drive  # pyright: ignore
    times = np.arange(0.0, MINUTE_S, 1e-3)
    return float(np.linalg.norm(drive.trajectory(MINUTE_S).velocity(times), axis=1).mean())


def deviation(path: Any, radius_m: float) -> float:
    """From the best circle's centre, by least squares, how far a distance is off the radius at most."""
    solution = np.linalg.lstsq(np.c_[2 * path, np.ones(len(path))], (path**2).sum(axis=1), rcond=None)[0]
    return float(np.abs(np.linalg.norm(path - solution[:2], axis=1) - radius_m).max())


if __name__ == "__main__":
    main()
