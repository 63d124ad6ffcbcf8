"""Plays attempts, several at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import final

import mujoco
from jaxtyping import UInt8

from sido.arrays import Array
from sido.errors import SidoError
from sido.sim.cameras import FAST, Cameras
from sido.sim.collect.attempt import NO_GRASP, Attempt, Played
from sido.sim.collect.contact_log import grasp_step
from sido.sim.collect.observations import Observations
from sido.sim.collect.recipe import Recipe
from sido.sim.collect.recorder import RECORDED, Recorder
from sido.sim.ending import Ending
from sido.sim.experts import Expert, ExpertSettings
from sido.sim.experts.experts import expert_for
from sido.sim.tasks import Task, shared_task
from sido.sim.vector_environment import VectorEnvironment

__all__ = ["MakeExpert", "Player", "PlayerOf"]

MakeExpert = Callable[[VectorEnvironment, ExpertSettings], Expert]


@final
@dataclass(frozen=True)
class PlayerOf:
    """Makes a `Player` in whatever process: what a `sido.jobs.Crew` is given."""

    recipe: Recipe
    expert: MakeExpert = expert_for

    def __call__(self) -> Player:
        return Player(self.recipe, shared_task(self.recipe.task), self.expert)


@final
class Player:
    """Plays attempts of a recipe, a batch at a time.

    An attempt's seed and start decide it, to the last bit, whatever the batch that it is played in.
    """

    def __init__(self, recipe: Recipe, task: Task, expert: MakeExpert = expert_for) -> None:
        self._recipe, self._task, self._expert = recipe, task, expert
        self._observations = Observations(task)
        self._cameras: Cameras | None = None
        self._world: VectorEnvironment | None = None

    def __call__(self, batch: Sequence[Attempt]) -> list[Played]:
        """Play each to its end."""
        recipe, world = self._recipe, self._world_of(len(batch))
        seeds = [attempt.seed for attempt in batch]
        world.reset(seeds, starts_m=[attempt.start_m for attempt in batch])
        expert = self._expert(world, recipe.expert)
        expert.begin(range(len(batch)), seeds)
        recorder = Recorder(world, recipe.cameras)
        while world.live.any():
            actions = expert.actions()
            recorder.before(actions)
            recorder.after(world.step(actions).events)
        return [self._played(i, attempt, recorder) for i, attempt in enumerate(batch)]

    def _played(self, i: int, attempt: Attempt, recorder: Recorder) -> Played:
        assert self._world is not None
        ending, steps = self._world.endings[i], int(self._world.steps[i])
        assert ending is not None
        arrays: dict[str, Array] = {}
        told = ending.value
        if ending is Ending.SUCCESS:
            arrays = recorder.arrays(i, self._observations)
            closing, held = (arrays[f"{RECORDED}events/{name}"] for name in ("closing", "held"))
            if grasp_step(closing, held, arrays["object_position"]) is None:
                told, arrays = NO_GRASP, {}
        return Played(attempt.number, attempt.seed, steps, told, arrays)

    def _world_of(self, envs: int) -> VectorEnvironment:
        if self._world is None or len(self._world) != envs:
            settings = self._recipe.environment_settings()
            render = self._render if self._recipe.cameras else None
            self._world = VectorEnvironment(self._task, envs=envs, settings=settings, render=render)
        return self._world

    def _render(self, data: mujoco.MjData) -> Mapping[str, UInt8[Array, "height width 3"]]:
        """The cameras are made when the first picture is asked for: they belong to a thread."""
        if self._cameras is None:
            size = (self._recipe.image_size, self._recipe.image_size)
            self._cameras = Cameras(self._task.scene, self._recipe.cameras, size=size, quality=FAST)
        return self._cameras.render(data)


def checked(recipe: Recipe, task: Task, expert: MakeExpert = expert_for) -> None:
    """Raise what a player of this recipe would raise before it plays.

    Raises:
        SidoError: a motion too fast for the task, a task without an expert, a camera that there is not.
    """
    try:
        with VectorEnvironment(task, envs=1, settings=recipe.environment_settings()) as world:
            world.reset([recipe.seed])
            expert(world, recipe.expert)
    except SidoError as error:
        raise error.at(demo=recipe.task) from None
