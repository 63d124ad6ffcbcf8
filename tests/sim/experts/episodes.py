"""Episodes played to their ends, step by step on record."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from sido.motion import motion_named
from sido.sim.ending import Ending
from sido.sim.experts import ExpertSettings
from sido.sim.experts.stages import Script
from sido.sim.settings import EnvironmentSettings
from sido.sim.tasks import Task
from sido.sim.vector_environment import VectorEnvironment

MakeExpert = Callable[[VectorEnvironment, ExpertSettings], Script]


@dataclass(frozen=True)
class Episode:
    """One; row `t` is as it was after step `t`."""

    ending: Ending | None
    stages: list[str]
    """In which the step was taken."""
    hand: np.ndarray
    thing: np.ndarray
    qpos: np.ndarray
    driven: np.ndarray
    finger: np.ndarray
    closing: np.ndarray

    def during(self, *stages: str) -> np.ndarray:
        return np.isin(self.stages, stages)

    @property
    def speeds_mps(self) -> np.ndarray:
        return 20 * np.linalg.norm(np.diff(self.hand, axis=0), axis=1)


def play(
    task: Task,
    expert: MakeExpert,
    seeds: Sequence[int],
    *,
    motion: str = "still",
    speed_mps: float | None = None,
    settings: ExpertSettings | None = None,
    threads: int = 1,
    **environment: Any,
) -> list[Episode]:
    """All at once."""
    way = EnvironmentSettings(motion=motion_named(motion, speed_mps), **environment)
    world = VectorEnvironment(task, envs=len(seeds), settings=way, threads=threads)
    with world:
        script = expert(world, settings or ExpertSettings())
        world.reset(seeds)
        script.begin(range(len(seeds)), seeds)
        rows, lengths = [], np.zeros(len(seeds), dtype=int)
        while world.live.any():
            actions, lengths = script.actions(), lengths + world.live
            events = world.step(actions).events
            rows.append(
                (
                    np.array(script.stage_names),
                    world.eef_pose.position.copy(),
                    world.object_position.copy(),
                    world.state.qpos.copy(),
                    events.driven,
                    events.finger,
                    events.closing,
                )
            )
        columns = [np.stack(column) for column in zip(*rows, strict=True)]
        return [
            Episode(ending, *(column[: lengths[i], i] for column in columns))  # pyright: ignore[reportArgumentType]
            for i, ending in enumerate(world.endings)
        ]
