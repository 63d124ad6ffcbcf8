"""What an experiment is made of: demonstrations, runs, cells. Each is made once, and whoever needs it finds it.

FOLDER/data/stack-static-200.hdf5          demonstrations
runs/dp-sido-state-stack-static-0   runs of sido train
runs/.../rollouts                   cells of sido evaluate
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, final

from sido.augment import FixedLength, UniformLength
from sido.experiments.experiment import Experiment, Method, Scale
from sido.train import DataConfig, Steps, TrainConfig, fit_to_data, preset

__all__ = ["Demonstrations", "RunPiece", "pieces_of"]


@final
@dataclass(frozen=True)
class Demonstrations:
    """A dataset of the scripted expert."""

    task: str
    count: int
    moving: bool
    image_px: int
    """0 for none."""

    def path(self, folder: Path) -> Path:
        kind = "moving" if self.moving else "static"
        images = f"-{self.image_px}px" if self.image_px else ""
        return folder / "data" / f"{self.task}-{kind}-{self.count}{images}.hdf5"


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

    def path(self, folder: Path) -> Path:
        method, data = self.method, self.demonstrations
        reach = "" if (method.generator, method.reach_mps) == ("fixed", 0.02) else (
            f"-{method.generator}-{100 * method.reach_mps:g}cm"
        )  # fmt: skip
        kind = "moving" if data.moving else "static"
        return folder / "runs" / f"{method.preset}-{self.obs}-{data.task}-{kind}{reach}-{self.seed}"

    def config(self, folder: Path) -> TrainConfig:
        """Of the run; its demonstrations must be there."""
        source = DataConfig(path=str(self.demonstrations.path(folder)))
        fitted = fit_to_data(source, None if self.obs == "image" else ())
        config = preset(self.method.preset, source, fitted, sight=self.obs, scale=self.scale.training)
        config = dataclasses.replace(config, seed=self.seed)
        if config.augmentation is not None:
            length = FixedLength() if self.method.generator == "fixed" else UniformLength()
            speed_m = self.method.reach_mps / 20.0
            augmentation = dataclasses.replace(config.augmentation, step_speed_m=speed_m, length=length)
            config = dataclasses.replace(
                config, augmentation=augmentation, reach_m=speed_m * config.policy.prediction_horizon
            )
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
                pieces.setdefault(str(piece.path(Path())), piece)
    return list(pieces.values())


def run_piece(experiment: Experiment, method: Method, task: str, scale: Scale, seed: int) -> RunPiece:
    """The run of a method on a task."""
    image_px = scale.image_px if experiment.obs == "image" else 0
    data = Demonstrations(task, scale.demos[task], method.trained_on == "moving", image_px)
    return RunPiece(method, data, scale, seed)
