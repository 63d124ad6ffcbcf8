"""What an experiment is made of. Each piece is made once, and whoever needs it finds it.

FOLDER/data/stack-static-200.hdf5              demonstrations
       predictors/fernn-gantry-1.5cm           taught predictors
       chunks/stack-static-200-mppi-2cm        DynaSIDO's chunks of a dataset
       runs/dp-sido-state-stack-static-0       runs of sido train
       runs/.../rollouts                       cells of sido evaluate
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from sido.augment import REFINERS, CachedCounterfactual, Counterfactual, FixedLength, GenerationSettings, UniformLength
from sido.augment.cache import ChunkCache
from sido.evaluate import Setting
from sido.experiments.experiment import Experiment, Method, Scale, Taught, World
from sido.train import METHODS, DataConfig, Steps, TrainConfig, fit_to_data, preset

__all__ = ["Chunks", "Demonstrations", "RunPiece", "pieces_of", "run_piece", "settings_of", "taught_by"]

_RATE_HZ = 20.0


@final
@dataclass(frozen=True)
class Demonstrations:
    """A dataset of the scripted expert."""

    task: str
    count: int
    moving: bool
    image_px: int
    """0 for none."""

    @property
    def name(self) -> str:
        kind = "moving" if self.moving else "static"
        images = f"-{self.image_px}px" if self.image_px else ""
        return f"{self.task}-{kind}-{self.count}{images}"

    def path(self, folder: Path) -> Path:
        return folder / "data" / f"{self.name}.hdf5"


@final
@dataclass(frozen=True)
class Chunks:
    """DynaSIDO's chunks of a dataset."""

    demonstrations: Demonstrations
    generator: str
    """Of `sido.augment.REFINERS`."""
    counterfactual: Counterfactual

    @property
    def name(self) -> str:
        """With all that decides it, so that another is another."""
        speed_cm = 100 * _RATE_HZ * self.counterfactual.step_speed_m
        lengths = "" if self.counterfactual.length == FixedLength() else "-varying"
        return f"{self.demonstrations.name}-{self.generator}{lengths}-{speed_cm:g}cm"

    def path(self, folder: Path) -> Path:
        return folder / "chunks" / self.name

    def there(self, folder: Path) -> bool:
        path = self.path(folder)
        return path.exists() and ChunkCache.open(path).complete

    def settings(self) -> GenerationSettings:
        return GenerationSettings(
            dataclasses.replace(self.counterfactual, static_ratio=0.0), REFINERS[self.generator]()
        )


@final
@dataclass(frozen=True)
class RunPiece:
    """A policy: a preset, trained on demonstrations, with a seed."""

    method: Method
    demonstrations: Demonstrations
    scale: Scale
    seed: int

    @property
    def obs(self) -> Literal["state", "image"]:
        return "image" if self.demonstrations.image_px else "state"

    @property
    def name(self) -> str:
        method, data = self.method, self.demonstrations
        reach = "" if (method.lengths, method.reach_mps) == ("fixed", 0.02) else (
            f"-{method.lengths}-{100 * method.reach_mps:g}cm"
        )  # fmt: skip
        kind = "moving" if data.moving else "static"
        made = "" if method.generator == "heuristic" else f"-{method.generator}"
        return f"{method.preset}{made}-{self.obs}-{data.task}-{kind}{reach}-{self.seed}"

    def path(self, folder: Path) -> Path:
        return folder / "runs" / self.name

    def ended(self, folder: Path) -> bool:
        return (self.path(folder) / "ended.json").exists()

    @property
    def counterfactual(self) -> Counterfactual | None:
        """What its method displaces, and how far; None where it does not."""
        method = self.method
        if not METHODS[method.preset].counterfactuals:
            return None
        length = FixedLength() if method.lengths == "fixed" else UniformLength()
        return Counterfactual(step_speed_m=method.reach_mps / _RATE_HZ, length=length)

    @property
    def chunks(self) -> Chunks | None:
        """That it is trained on, if they are made beforehand."""
        counterfactual = self.counterfactual
        if counterfactual is None or self.method.generator == "heuristic":
            return None
        return Chunks(self.demonstrations, self.method.generator, counterfactual)

    def config(self, folder: Path) -> TrainConfig:
        """Of the run; its demonstrations and chunks must be there."""
        source = DataConfig(path=str(self.demonstrations.path(folder)))
        fitted = fit_to_data(source, None if self.obs == "image" else ())
        config = preset(self.method.preset, source, fitted, sight=self.obs, scale=self.scale.training)
        config = dataclasses.replace(config, seed=self.seed)
        if (counterfactual := self.counterfactual) is not None:
            reach_m = counterfactual.step_speed_m * config.policy.prediction_horizon
            augmentation: Counterfactual | CachedCounterfactual = counterfactual
            if self.chunks is not None:
                path = self.chunks.path(folder)
                augmentation = CachedCounterfactual.of(path, static_ratio=counterfactual.static_ratio)
                reach_m = max(reach_m, augmentation.longest_m)
            config = dataclasses.replace(config, augmentation=augmentation, reach_m=reach_m)
        if self.scale.training_steps is not None:
            config = dataclasses.replace(config, duration=Steps(self.scale.training_steps))
        return config


def pieces_of(experiment: Experiment, scale: Scale) -> list[RunPiece]:
    """The runs that it needs, each once, in the order of its methods and tasks."""
    pieces: dict[str, RunPiece] = {}
    for seed in range(scale.training_seeds):
        for task in dict.fromkeys(world.task for world in experiment.worlds):
            for method in experiment.methods:
                piece = run_piece(experiment, method, task, scale, seed)
                pieces.setdefault(piece.name, piece)
    return list(pieces.values())


def run_piece(experiment: Experiment, method: Method, task: str, scale: Scale, seed: int) -> RunPiece:
    """The run of a method on a task."""
    image_px = scale.image_px if experiment.obs == "image" else 0
    data = Demonstrations(task, scale.demos[task], method.trained_on == "moving", image_px)
    return RunPiece(method, data, scale, seed)


def settings_of(experiment: Experiment, piece: RunPiece, folder: Path) -> list[Setting]:
    """All cells that a run plays in."""

    def plays(method: Method, world: World) -> bool:
        task = piece.demonstrations.task
        mine = run_piece(experiment, method, task, piece.scale, piece.seed)
        return world.task == task and mine.name == piece.name

    cells = itertools.product(experiment.methods, experiment.worlds)
    return list(
        dict.fromkeys(
            method.setting(world, folder, piece.scale.longest_s) for method, world in cells if plays(method, world)
        )
    )


def taught_by(experiment: Experiment) -> list[Taught]:
    """The predictors that its methods need taught, each once."""
    return list(
        dict.fromkeys(method.predictor for method in experiment.methods if isinstance(method.predictor, Taught))
    )
