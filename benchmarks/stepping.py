"""Control steps a second: robosuite's own loop, mujoco alone, and the native stepper. One run, side by side.

    python benchmarks/stepping.py
    python benchmarks/stepping.py --task NutAssemblySquare --rounds 20

The Panda follows a smooth path above the table while its gripper opens and closes. In turns, over many short rounds:

1. robosuite's `env.step`, without cameras;
2. `mujoco.rollout`, mujoco's own native loop over `mj_step` on one thread, with the very controls that the stepper
   gave in each substep, on the whole model, as robosuite has it;
3. the same on the model that the stepper steps, which lacks what is only seen and moves alike to the last bit: the
   controller for nothing, the limit of what any stepper can reach;
4. the stepper on one thread;
5. the stepper on two threads.

Each figure is the median over the rounds. Steps per second of processor time, in which other programs count little,
compare all but the last; two threads are compared with one by the clock, over the rounds in which the machine was
idle but for us: other programs took less than a tenth of it. Targets: at least 8 times robosuite on one thread, at
least 0.8 of the limit, and two threads at least 1.6 times one on an idle machine. What is missing to 2 is what the
cores share (caches, memory) and the handing out of work; the last line tells how idle the machine was.
"""

from __future__ import annotations

import argparse
import logging
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import mujoco
import mujoco.rollout
import numpy as np

from sido.geometry import axis_angle_from_quat
from sido.sim.osc import OscSettings
from sido.sim.robosuite_scene import TASKS, make_environment, scene_of
from sido.sim.stepper import Stepper

ENVS = 8
TARGET_ROBOSUITE, TARGET_LIMIT, TARGET_THREADS = 8.0, 0.8, 1.6
IDLE = 0.1
"""Of all cores' time, what others may take in a round that counts as one on an idle machine."""


class Rates(NamedTuple):
    """Control steps per second."""

    clock: float
    processor: float
    others: float
    """Share of the machine that other programs took meanwhile; NaN, and taken for none, where the system is silent."""


class Watch:
    """Runs from its making on."""

    def __init__(self) -> None:
        self.machine = cpu_times()
        self.clock, self.processor = time.perf_counter(), time.process_time()

    def rates(self, steps: float) -> Rates:
        """Steps a second, where so many were made since."""
        clock, processor = time.perf_counter() - self.clock, time.process_time() - self.processor
        busy, total = (now - then for now, then in zip(cpu_times(), self.machine, strict=True))
        others = max(busy - processor, 0.0) / total if total else float("nan")
        return Rates(steps / clock, steps / processor, others)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--task", choices=TASKS, default="Stack")
    parser.add_argument("--rounds", type=int, default=12)
    parser.add_argument("--steps", type=int, default=40, help="control steps of each environment in a round")
    arguments = parser.parse_args()
    print(f"compiling: {first_step_s(arguments.task, fresh=True):.1f} s to the first step with an empty cache, "
          f"{first_step_s(arguments.task, fresh=False):.1f} s later (imports, robosuite's models and all)")  # fmt: skip
    logging.getLogger("robosuite_logs").disabled = True  # it talks at every reset
    osc = OscSettings()
    environment = make_environment(arguments.task, osc=osc)
    scene = scene_of(environment)
    watched = scene.grasp_contacts(next(iter(scene.objects)))

    def stepper(threads: int) -> Stepper:
        return Stepper(scene.physics, scene.arm, osc, envs=ENVS, threads=threads, contacts=watched)

    with stepper(1) as single, stepper(2) as double:
        actions = path(single, scene.home_qpos, arguments.steps)
        controls = controls_of(single, scene.home_qpos, actions)
        contestants: dict[str, Callable[[], Rates]] = {
            "robosuite env.step": lambda: robosuite_round(environment, scene.home_qpos, actions),
            "mj_step, whole model": lambda: mujoco_round(scene.model, single, scene.home_qpos, controls),
            "mj_step alone": lambda: mujoco_round(single.model, single, scene.home_qpos, controls),
            "sido, 1 thread": lambda: stepper_round(single, scene.home_qpos, actions),
            "sido, 2 threads": lambda: stepper_round(double, scene.home_qpos, actions),
        }
        rates: dict[str, list[Rates]] = {name: [] for name in contestants}
        whole = Watch()
        for measured in range(arguments.rounds + 1):
            for name, run in contestants.items():
                rate = run()
                if measured:  # the first round warms up
                    rates[name].append(rate)
    report(arguments.task, rates)
    share = whole.rates(1).others
    print(f"\n  other programs took {100 * share:.0f} % of this machine's {os.cpu_count()} cores")


def path(stepper: Stepper, home: Any, steps: int) -> Any:
    """Absolute actions `[steps, 7]`: circles of a few centimetres above the table, the gripper in turns."""
    stepper.reset(0, home)
    start = np.concatenate([stepper.eef_position[0], axis_angle_from_quat(stepper.eef_quat_wxyz[0]), [0.0]])
    phase = 2 * np.pi * np.arange(steps) / 40
    actions = np.tile(start, (steps, 1))
    actions[:, 0] += 0.06 * np.sin(phase)
    actions[:, 1] += 0.06 * (1 - np.cos(phase))
    actions[:, 2] += 0.03 * np.sin(2 * phase)
    actions[:, 6] = np.where(np.arange(steps) % 30 < 15, 1.0, -1.0)
    return actions


def controls_of(stepper: Stepper, home: Any, actions: Any) -> Any:
    """What the stepper told the motors in each substep, `[steps * substeps, nu]`."""
    stepper.reset(0, home)
    gripper, rows = stepper.arm.gripper, []
    low, high = gripper.control_range.T
    for action in actions:
        stepper.step(np.tile(action, (ENVS, 1)))
        controls = np.zeros((stepper.substeps, stepper.model.nu))
        controls[:, stepper.arm.actuators] = stepper.torques_nm[0]
        controls[:, gripper.actuators] = (low + high) / 2 + (high - low) / 2 * stepper.gripper_goals[0]
        rows.append(controls)
    return np.concatenate(rows)


def robosuite_round(environment: Any, home: Any, actions: Any) -> Rates:
    actions = actions[:10]
    environment.reset()
    environment.sim.data.qpos[:] = home
    watch = Watch()
    for action in actions:
        environment.step(action)
    return watch.rates(len(actions))


def mujoco_round(model: mujoco.MjModel, stepper: Stepper, home: Any, controls: Any) -> Rates:
    """Control steps a second of bare physics: as many substeps from the same state, nothing between them."""
    data = mujoco.MjData(model)
    data.qpos[:] = home
    size = mujoco.mj_stateSize(model, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    state = np.zeros(size)
    mujoco.mj_getState(model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
    states, sensors = np.zeros((1, len(controls), size)), np.zeros((1, len(controls), model.nsensordata))
    watch = Watch()
    for _ in range(ENVS):
        mujoco.rollout.rollout(model, data, state[None], controls[None], state=states, sensordata=sensors)
    return watch.rates(ENVS * len(controls) / stepper.substeps)


def stepper_round(stepper: Stepper, home: Any, actions: Any) -> Rates:
    for i in range(ENVS):
        stepper.reset(i, home)
    watch = Watch()
    for action in actions:
        stepper.step(np.tile(action, (ENVS, 1)))
    return watch.rates(ENVS * len(actions))


def first_step_s(task: str, *, fresh: bool) -> float:
    """How long a new process takes to its first step; with a fresh cache, everything is compiled."""
    code = f"""
import numpy as np, tempfile, os, time
start = time.perf_counter()
with tempfile.TemporaryDirectory() as folder:
    if {fresh}:
        os.environ["NUMBA_CACHE_DIR"] = folder
    from sido.sim.osc import OscSettings
    from sido.sim.robosuite_scene import build_scene
    from sido.sim.stepper import Stepper
    scene = build_scene({task!r})
    Stepper(scene.physics, scene.arm, OscSettings(), envs=1).step(np.zeros((1, 7)))
    print(time.perf_counter() - start)
"""
    return float(subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout)


def report(task: str, rates: dict[str, list[Rates]]) -> None:
    clock = {name: statistics.median(rate.clock for rate in values) for name, values in rates.items()}
    processor = {name: statistics.median(rate.processor for rate in values) for name, values in rates.items()}
    print(f"\n{task}, control steps (25 substeps each) a second, median of {len(rates['sido, 1 thread'])} rounds")
    print(f"  {'':<22}{'by the clock':>14}{'of processor time':>20}{'us a substep':>15}")
    for name in rates:
        print(f"  {name:<22}{clock[name]:>14,.0f}{processor[name]:>20,.0f}{1e6 / processor[name] / 25:>15.1f}")
    print()
    one = processor["sido, 1 thread"]
    for name, ratio, target in (
        ("1 thread over robosuite", one / processor["robosuite env.step"], TARGET_ROBOSUITE),
        ("1 thread over mj_step alone", one / processor["mj_step alone"], TARGET_LIMIT),
        ("1 thread over the whole model's", one / processor["mj_step, whole model"], None),
    ):
        print(f"  {name:<32}{ratio:6.2f}{judged(ratio, target)}")
    pairs = zip(rates["sido, 1 thread"], rates["sido, 2 threads"], strict=True)
    idle = [two.clock / one.clock for one, two in pairs if not max(one.others, two.others) >= IDLE]
    if idle:
        ratio = statistics.median(idle)
        print(f"  {'2 threads over 1 thread':<32}{ratio:6.2f}{judged(ratio, TARGET_THREADS)} ({len(idle)} idle rounds)")
    else:
        print("  2 threads over 1 thread: in no round was the machine idle")


def judged(ratio: float, target: float | None) -> str:
    return "" if target is None else f"     target {target:g}: {'met' if ratio >= target else 'NOT met'}"


def cpu_times() -> tuple[float, float]:
    """Seconds that all processors spent busy, and at all; zeros where the system does not tell."""
    try:
        with Path("/proc/stat").open() as file:
            fields = [int(field) for field in file.readline().split()[1:9]]
    except OSError:
        return 0.0, 0.0
    tick = os.sysconf("SC_CLK_TCK")
    return (sum(fields) - fields[3] - fields[4]) / tick, sum(fields) / tick


if __name__ == "__main__":
    main()
