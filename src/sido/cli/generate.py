"""`sido augment DATA --generator ... -o CACHE`: counterfactual chunks for a whole dataset, made once."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console
from rich.markup import escape

from sido.cli.progress import progress_bar
from sido.demos import DemoDataset
from sido.errors import DataError, SettingError

if TYPE_CHECKING:
    from sido.augment import DynamicsModel, GenerationSettings
    from sido.train import TrainConfig

__all__ = ["fit_held_out", "generate", "with_chunks"]

_HELD_OUT = 10  # one demonstration of so many judges the model
_FITTED = 200  # demonstrations at most: more teach the robot's dynamics little, and memory stays bounded


def generate(
    dataset: DemoDataset, settings: GenerationSettings, out: Path, *, threads: int, transitions: str = "pre-grasp"
) -> None:
    """Fit the robot's dynamics, refine every eligible chunk, and say what came of it."""
    from sido.augment.cache import DYNAMICS, generate_cache, plan_cache
    from sido.augment.dynamics.disk import load_dynamics

    console = Console(soft_wrap=True)
    begun = (out / DYNAMICS).is_dir()
    if begun:
        model = load_dynamics(out / DYNAMICS)
        console.print(f"going on with {escape(str(out))}, and the dynamics that it was begun with")
    else:
        model, told = fit_held_out(dataset, transitions)
        console.print(f"dynamics, on demonstrations held out: {escape(told)}")
    with progress_bar("looking for chunks") as progress:
        cache = plan_cache(dataset, out, model, settings, progress)
    start = time.monotonic()
    with progress_bar("generating") as progress:
        generate_cache(dataset, cache, model, settings, threads=threads, progress=progress)
    took_s = time.monotonic() - start
    chunks = cache.chunks.shape[0] * cache.chunks.shape[1]
    seed_cost, cost = (np.sqrt(np.asarray(each, dtype=np.float64) / 2) * 1e3 for each in cache.costs)
    console.print(
        f"{chunks} chunks ({cache.chunks.shape[0]} eligible, {cache.chunks.shape[1]} displacements each) "
        f"by {settings.refiner.kind} in {took_s:.1f} s: {chunks / max(took_s, 1e-9):.0f} a second"
    )
    console.print(
        f"miss under the model, root mean square over T_a and T_p: median {np.median(seed_cost):.2f} mm of H-SIDO's "
        f"chunks, {np.median(cost):.2f} mm of these; commands reach up to {100 * cache.reach_m:.2f} cm from the "
        f"demonstrated ones"
    )
    console.print(f"cache: {escape(str(out))}")


def fit_held_out(dataset: DemoDataset, transitions: str = "pre-grasp") -> tuple[DynamicsModel, str]:
    """The dynamics of a dataset, and how well they foretell the demonstrations that were held out.

    Raises:
        DataError: fewer than two demonstrations have a grasp that comes late enough.
    """
    from sido.augment import FitSettings, RobotMotion, dynamics_errors, fit_dynamics

    settings = FitSettings(transitions="all" if transitions == "all" else "pre-grasp")
    motions: list[RobotMotion] = []
    spec = None
    with progress_bar("reading demonstrations") as progress:
        for demo in dataset[: _FITTED + _FITTED // (_HELD_OUT - 1)].each(progress):
            spec = demo.action_spec
            if demo.grasp is not None and demo.grasp.index > settings.horizon:
                motions.append(RobotMotion.of(demo))
    if len(motions) < 2 or spec is None:
        raise DataError(
            "too few demonstrations to learn the robot's dynamics from",
            file=dataset.path,
            found=f"{len(motions)} with a grasp after {settings.horizon} steps or more",
            expected="2 or more",
            fix="see `sido inspect` for the grasp indices",
        )
    held_out = motions[::_HELD_OUT]
    with progress_bar("fitting the dynamics") as progress:
        fitted = [motion for number, motion in enumerate(motions) if number % _HELD_OUT]
        model = fit_dynamics(fitted, spec, settings, progress)
    return model, str(dynamics_errors(model, held_out))


def with_chunks(config: TrainConfig, generator: str, folder: Path | None) -> TrainConfig:
    """A run that draws its counterfactuals from chunks generated beforehand; they are generated if they are not there.

    Raises:
        SettingError: the run has no counterfactuals; the folder holds chunks of something else.
    """
    from sido.augment import REFINERS, CachedCounterfactual, Counterfactual, GenerationSettings
    from sido.train.data import open_demos

    counterfactual = config.augmentation
    if not isinstance(counterfactual, Counterfactual):
        raise SettingError("this preset has no counterfactuals", field="--generator", fix="choose a -sido")
    place = folder or Path(f"{Path(config.data.path).name.split('.')[0]}.{generator}.cache")
    settings = GenerationSettings(dataclasses.replace(counterfactual, static_ratio=0.0), REFINERS[generator]())
    with open_demos(config.data, ()) as dataset:
        generate(dataset, settings, place, threads=1)
    cached = CachedCounterfactual.of(place, static_ratio=counterfactual.static_ratio)
    return dataclasses.replace(config, augmentation=cached, reach_m=max(config.reach_m, cached.longest_m))
