"""How many chunks a second do the refinements refine: ours, and the pytorch-mppi package's on the same problem?

    python benchmarks/refine.py stack.hdf5
    PYTHONPATH=folder/of/pytorch_mppi python benchmarks/refine.py stack.hdf5     # with the peer beside them

The problem is the paper's: eligible chunks, displaced by `v T_p` in a random direction, 128 samples, 10 iterations,
beta 0.5, chunks of 16, the cost of six residuals, the same dynamics model, one thread. Everything runs in one process,
in turns; what is measured is processor time, so that other programs disturb little.

The peer gets the model's own step, laid out as it wants it, the seed as its nominal trajectory, ten updates of it, and
noise of the same size as ours. Its temperature is 0.5 of the median cost, since it takes costs as they stand. Of its
samples the cheapest is kept, as the paper has it. `MPPI` plans one chunk at a time; `MPPI_Batched` plans many, all with
the same noise. Where pytorch_mppi is not importable, its rows are left out, and said to be. (It needs
arm_pytorch_utilities and pytorch_seed: install the three with --no-deps into a folder of their own.)
"""

from __future__ import annotations

import argparse
import importlib
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor

from sido.augment import (
    Counterfactual,
    DynamicsModel,
    FitSettings,
    GaussNewton,
    GenerationSettings,
    Heuristic,
    Mppi,
    RobotMotion,
    fit_dynamics,
)
from sido.augment.displacement import planar_displacement
from sido.augment.generate import reaching
from sido.augment.refine import Reaching, reaching_cost
from sido.demos import open_dataset, to_absolute

WANTED_OVER_PEER, WANTED_OVER_MPPI = 10, 30
SAMPLES, ITERATIONS, BETA = 128, 10, 0.5


@dataclass(frozen=True)
class Row:
    name: str
    chunks: int
    refine: Callable[[], Tensor]
    """Refine them, and say what they cost."""


def problem(path: Path, demos: int, chunks: int, speed_mps: float, seed: int) -> tuple[DynamicsModel, Reaching]:
    """The dynamics, and displaced chunks."""
    with open_dataset(path) as opened:
        dataset = opened.map(to_absolute)[:demos]
        kept = [demo for demo in dataset if demo.grasp is not None]
    motions = [RobotMotion.of(demo) for demo in kept]
    model = fit_dynamics(motions, kept[0].action_spec, FitSettings())
    rng = torch.Generator().manual_seed(seed)
    settings = GenerationSettings(Counterfactual(step_speed_m=speed_mps / kept[0].action_spec.rate_hz))
    parts, missing = [], chunks
    for demo, motion in zip(kept, motions, strict=True):
        steps = np.flatnonzero(demo.eligible_steps(16))[:missing]
        delta = planar_displacement(torch.rand(len(steps), generator=rng), settings.counterfactual.longest_m)
        parts.append(reaching(motion, steps, delta, model, settings))
        missing -= len(steps)
        if missing == 0:
            return model, joined(parts)
    raise SystemExit(f"{path} has too few eligible chunks in {demos} demonstrations")


def joined(parts: list[Reaching]) -> Reaching:
    names = ("start", "seed", "demonstrated", "displacement", "targets", "velocities")
    return replace(parts[0], **{name: torch.cat([getattr(part, name) for part in parts], dim=-1) for name in names})


def ours(name: str, refiner: Heuristic | Mppi | GaussNewton, model: DynamicsModel, task: Reaching) -> Row:
    return Row(name, len(task), lambda: refiner(model, task, torch.Generator().manual_seed(0)).cost)


# --- the peer ---------------------------------------------------------------------------------------------------------


class PeerProblem:
    """The same step and the same cost, rows first, for `chunks` chunks of `samples` each; it keeps the cheapest."""

    def __init__(self, model: DynamicsModel, task: Reaching, samples: int) -> None:
        self.model, self.task = model, task
        self.others = task.seed[:, 3:].repeat_interleave(samples, dim=2)
        self.targets = task.targets.repeat_interleave(samples, dim=2)
        self.chunks, self.samples = len(task), samples
        self.cost = torch.zeros(())
        self.best = torch.full((len(task),), torch.inf)

    def dynamics(self, state: Tensor, action: Tensor, step: int) -> Tensor:
        return self.model(state.T, torch.cat([action.T, self.others[step]])).T

    def running_cost(self, state: Tensor, _action: Tensor, step: int) -> Tensor:
        horizons = self.task.horizons
        if step + 1 not in horizons:
            cost = torch.zeros(len(state))
        else:
            cost = (state[:, :3].T - self.targets[horizons.index(step + 1)]).square().sum(0)
        self.cost = cost if step == 0 else self.cost + cost
        if step + 1 == horizons[1]:
            self.best = torch.minimum(self.best, self.cost.view(self.chunks, self.samples).amin(1))
        return cost


def peer_settings(task: Reaching, model: DynamicsModel) -> dict[str, Any]:
    noise_m = Mppi().noise * float(task.displacement.norm(dim=0).mean())
    return {
        "noise_sigma": torch.eye(3) * noise_m**2,
        "num_samples": SAMPLES,
        "horizon": len(task.seed),
        "lambda_": BETA * float(reaching_cost(model, task, task.seed[:, :3]).median()),
        "step_dependent_dynamics": True,
    }


def peer_single(peer: Any, model: DynamicsModel, task: Reaching) -> Tensor:
    """`MPPI`, one chunk after another."""
    torch.manual_seed(0)
    costs = []
    for chunk in range(len(task)):
        one = task.part(torch.tensor([chunk]))
        given = PeerProblem(model, one, SAMPLES)
        settings = peer_settings(one, model)
        planner = peer.MPPI(
            given.dynamics, given.running_cost, model.states, U_init=one.seed[:, :3, 0].clone(), **settings
        )
        for _ in range(ITERATIONS):
            planner.command(one.start[:, 0], shift_nominal_trajectory=False)
        costs.append(given.best)
    return torch.cat(costs)


def peer_batched(peer: Any, model: DynamicsModel, task: Reaching) -> Tensor:
    """`MPPI_Batched`, 32 chunks at a time, as ours."""
    torch.manual_seed(0)
    costs = []
    for rows in torch.arange(len(task)).split(32):
        some = task.part(rows)
        given = PeerProblem(model, some, SAMPLES)
        settings = peer_settings(some, model)
        planner = peer.MPPI_Batched(given.dynamics, given.running_cost, model.states, num_envs=len(some), **settings)
        planner.U = some.seed[:, :3].permute(2, 0, 1).clone()
        for _ in range(ITERATIONS):
            planner.command(some.start.T, shift_nominal_trajectory=False)
        costs.append(given.best)
    return torch.cat(costs)


# --- measuring --------------------------------------------------------------------------------------------------------


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, help="static demonstrations")
    parser.add_argument("--demos", type=int, default=60, help="how many of them (default: %(default)s)")
    parser.add_argument("--chunks", type=int, default=1024, help="chunks to refine (default: %(default)s)")
    parser.add_argument("--rounds", type=int, default=5, help="rounds to take the median of (default: %(default)s)")
    parser.add_argument("--speed", type=float, default=0.02, help="of the object, m/s (default: %(default)s)")
    arguments = parser.parse_args()
    torch.set_num_threads(1)
    model, task = problem(arguments.data, arguments.demos, arguments.chunks, arguments.speed, seed=0)
    some, few = (task.part(torch.arange(count)) for count in (128, 16))
    rows = [
        ours("H-SIDO, and its cost", Heuristic(), model, task),
        ours("our MPPI", Mppi(), model, some),
        ours("our Gauss-Newton", GaussNewton(), model, task),
    ]
    try:
        peer: Any = importlib.import_module("pytorch_mppi.mppi")
    except ImportError as error:
        print(f"pytorch_mppi is left out: {error}")
    else:
        rows += [
            Row("pytorch-mppi, MPPI", len(few), lambda: peer_single(peer, model, few)),
            Row("pytorch-mppi, MPPI_Batched", len(some), lambda: peer_batched(peer, model, some)),
        ]
    rates, costs = measured(rows, arguments.rounds)
    print(f"one thread, processor time, median of {arguments.rounds} rounds, torch {torch.__version__};")
    print(f"{SAMPLES} samples, {ITERATIONS} iterations, |delta| {float(task.displacement[:, 0].norm()):.3f} m\n")
    print(f"{'':30}{'chunks':>8}{'chunks/s':>12}{'rms miss, mm (median)':>24}")
    for row in rows:
        miss_mm = 1e3 * float(costs[row.name].median().div(2).sqrt())
        print(f"{row.name:30}{row.chunks:8,}{rates[row.name]:12,.0f}{miss_mm:24.4f}")
    print()
    newton, mppi = rates["our Gauss-Newton"], rates["our MPPI"]
    shared = (costs["our Gauss-Newton"][: len(some)] <= costs["our MPPI"]).double().mean()
    times = f"{newton / mppi:.1f} times our MPPI (wanted {WANTED_OVER_MPPI})"
    print(f"Gauss-Newton: {times}, cost equal or lower in {shared:.1%}")
    for name in ("pytorch-mppi, MPPI", "pytorch-mppi, MPPI_Batched"):
        if name in rates:
            print(f"our MPPI: {mppi / rates[name]:.1f} times {name} (wanted of MPPI: {WANTED_OVER_PEER})")


def measured(rows: list[Row], rounds: int) -> tuple[dict[str, float], dict[str, Tensor]]:
    """Chunks a second of processor time, and what the chunks cost; each row in its turn."""
    took: dict[str, list[float]] = {row.name: [] for row in rows}
    costs = {row.name: row.refine() for row in rows}
    for _ in range(rounds):
        for row in rows:
            start = time.process_time()
            row.refine()
            took[row.name].append(time.process_time() - start)
    return {row.name: row.chunks / statistics.median(took[row.name]) for row in rows}, costs


if __name__ == "__main__":
    main()
