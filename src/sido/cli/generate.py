"""`sido augment DATA --generator ... -o CACHE`: counterfactual chunks for a whole dataset, made once."""

from __future__ import annotations

import dataclasses
import time
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
from rich.console import Console
from rich.markup import escape

from sido.cli.progress import progress_bar
from sido.demos import DemoDataset
from sido.errors import SettingError

if TYPE_CHECKING:
    from sido.augment import GenerationSettings
    from sido.train import TrainConfig

__all__ = ["generate", "with_chunks"]


def generate(
    dataset: DemoDataset,
    settings: GenerationSettings,
    out: Path,
    *,
    threads: int,
    transitions: Literal["pre-grasp", "all"] = "pre-grasp",
) -> None:
    """Fit the robot's dynamics, refine every eligible chunk, and say what came of it."""
    from sido.augment.dataset_chunks import chunks_of_dataset

    console = Console(soft_wrap=True)
    start = time.monotonic()
    with progress_bar(f"chunks by {settings.refiner.kind}") as bar:
        cache, errors = chunks_of_dataset(
            dataset,
            out,
            settings,
            threads=threads,
            transitions=transitions,
            told=lambda what, done, total: bar(done, total, what),
        )
    took_s = time.monotonic() - start
    if errors is None:
        console.print(f"went on with {escape(str(out))}, and the dynamics that it was begun with")
    else:
        console.print(f"dynamics, on demonstrations held out: {escape(str(errors))}")
    chunks = cache.chunks.shape[0] * cache.chunks.shape[1]
    seed_cost, cost = (np.sqrt(np.asarray(each, dtype=np.float64) / 2) * 1e3 for each in cache.costs)
    console.print(
        f"{chunks} chunks ({cache.chunks.shape[0]} eligible, {cache.chunks.shape[1]} displacements each) "
        f"by {settings.refiner.kind}; {took_s:.1f} s with the dynamics"
    )
    console.print(
        f"miss under the model, root mean square over T_a and T_p: median {np.median(seed_cost):.2f} mm of H-SIDO's "
        f"chunks, {np.median(cost):.2f} mm of these; commands reach up to {100 * cache.reach_m:.2f} cm from the "
        f"demonstrated ones"
    )
    console.print(f"cache: {escape(str(out))}")


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
