"""What a table of the paper is: methods, worlds, and what the paper itself found."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, final

from sido.errors import SettingError
from sido.evaluate import Setting

__all__ = ["Experiment", "Method", "Scale", "World"]


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
class Method:
    """A row: which policy, and how it is used."""

    name: str
    preset: str
    """Of `sido.train`: dp, dp-current-pose, dp-sido, equidp, ..."""
    predictor: str
    correction: str = "none"
    horizon: str = "chunk"
    reaching_action_horizon: int | None = None
    trained_on: Literal["static", "moving"] = "static"
    generator: Literal["fixed", "varying"] = "fixed"
    """Of counterfactuals: displacements of v T_p, or of any length up to `reach_mps` T_p."""
    reach_mps: float = 0.02
    """The speed that the longest counterfactual displacement is for."""
    ours: bool = False
    """Not in the paper: a baseline that it leaves out, or a variant that closes a gap."""

    def setting(self, world: World) -> Setting:
        """Of a cell."""
        return Setting(
            task=world.task,
            motion=world.motion,
            speed_mps=world.speed_mps,
            predictor=self.predictor,
            correction=self.correction,
            horizon=self.horizon,
            reaching_action_horizon=self.reaching_action_horizon,
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

    @property
    def seeds(self) -> range:
        """Of every cell's episodes. Demonstrations have seeds from 0 on."""
        return range(1_000_000, 1_000_000 + self.rollouts)
