"""What a table of the paper is: methods, worlds, what is shown beside, and what the paper itself found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, final

from sido.errors import SettingError
from sido.evaluate import Setting
from sido.experiments.exhibit import Exhibit

__all__ = ["Experiment", "Method", "Scale", "Taught", "World"]


@final
@dataclass(frozen=True)
class World:
    """A column: what is played."""

    task: str
    motion: str = "still"
    speed_mps: float = 0.0

    @property
    def name(self) -> str:
        return Setting(task=self.task, motion=self.motion, speed_mps=self.speed_mps).world


@final
@dataclass(frozen=True)
class Taught:
    """A predictor that is taught on simulated motion before it is asked."""

    network: Literal["mlp", "fernn"]
    motion: str
    speeds_mps: tuple[float, ...]
    """The minutes are shared out evenly among them."""
    minutes: float = 5.0

    def path(self, folder: Path) -> Path:
        """Where it is kept."""
        speeds = "-".join(f"{100 * speed:g}" for speed in self.speeds_mps)
        return folder / "predictors" / f"{self.network}-{self.motion}-{speeds}cm"


@final
@dataclass(frozen=True)
class Method:
    """A row: which policy, and how it is used."""

    name: str
    preset: str
    """Of `sido.train`: dp, dp-current-pose, dp-sido, equidp, ..."""
    predictor: str | Taught
    correction: str = "none"
    horizon: str = "chunk"
    reaching_action_horizon: int | None = None
    trained_on: Literal["static", "moving"] = "static"
    lengths: Literal["fixed", "varying"] = "fixed"
    """Of counterfactual displacements: v T_p, or any up to `reach_mps` T_p."""
    reach_mps: float = 0.02
    """The speed that the longest counterfactual displacement is for."""
    generator: Literal["heuristic", "mppi", "gauss-newton"] = "heuristic"
    """Of counterfactual chunks: H-SIDO's ramp, or DynaSIDO with one of its refinements."""
    ours: bool = False
    """Not in the paper: a baseline that it leaves out, or a variant that closes a gap."""

    def setting(self, world: World, folder: Path, longest_s: float | None = None) -> Setting:
        """Of a cell, whose taught predictor is in the folder."""
        taught = self.predictor if isinstance(self.predictor, str) else str(self.predictor.path(folder))
        return Setting(
            task=world.task,
            motion=world.motion,
            speed_mps=world.speed_mps,
            predictor=taught,
            correction=self.correction,
            horizon=self.horizon,
            reaching_action_horizon=self.reaching_action_horizon,
            longest_s=longest_s,
        )


@final
@dataclass(frozen=True)
class Experiment:
    """A declaration; `sido.experiments.reproduce` makes it true."""

    name: str
    title: str
    about: str
    methods: tuple[Method, ...]
    worlds: tuple[World, ...]
    obs: Literal["state", "image"] = "state"
    paper: Mapping[tuple[str, str], float] = field(default_factory=dict[tuple[str, str], float])
    """Success by method and world, as the paper reports it: of 20 rollouts, in its own simulator or on its robots."""
    reference: str = ""
    """The method that the others are compared with, in pairs."""
    exhibits: tuple[Exhibit, ...] = ()
    """What is shown beside success."""

    def __post_init__(self) -> None:
        names = [method.name for method in self.methods]
        if len(set(names)) != len(names) or (self.reference and self.reference not in names):
            raise SettingError("methods have names of their own", field=self.name, found=names)
        known = {(method, world.name) for method in names for world in self.worlds}
        if not self.paper.keys() <= known:
            raise SettingError("no such cell", field=self.name, found=sorted(self.paper.keys() - known))


@final
@dataclass(frozen=True)
class Scale:
    """How much of everything."""

    name: Literal["smoke", "demo", "cpu", "paper"]
    demos: Mapping[str, int]
    """Of each task."""
    training_seeds: int
    rollouts: int
    training: Literal["cpu", "paper"]
    """The presets' scale."""
    training_steps: int | None = None
    """None for the preset's own."""
    image_px: int = 64
    teaching_steps: int | None = None
    """Of taught predictors; None for the network's own."""
    longest_s: float | None = None
    """Of episodes; None for the task's own."""
    chunks: int = 200
    """That the study of chunks executes."""
    films: int = 8
    """Methods whose episode a report shows, at most."""

    @property
    def seeds(self) -> range:
        """Of every cell's episodes. Demonstrations have seeds from 0 on."""
        return range(1_000_000, 1_000_000 + self.rollouts)
