"""Short films of rollouts: played again from their seeds, to the last bit the same, and filmed this time."""

from __future__ import annotations

import dataclasses
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import final

from jaxtyping import UInt8

from sido.arrays import Array
from sido.atomic import atomic_path
from sido.demos.film import write_film
from sido.evaluate import RunPolicy, Setting, Stage
from sido.evaluate.player import ROWS_PER_CALL, observed
from sido.evaluate.rollout_file import read_about
from sido.experiments.exhibit import Task, Told
from sido.experiments.experiment import World
from sido.experiments.pieces import run_piece
from sido.experiments.table import Table
from sido.jobs import Crew
from sido.policies import Actor
from sido.sim.cameras import PRETTY, Cameras

__all__ = ["Film", "film_rollout", "films_of", "make_films"]

_PLAIN = dataclasses.replace(PRETTY, shadows=False, reflections=False)
"""Either would draw the whole scene again in every frame."""
_EVERY = 2
"""Control steps from one frame to the next."""
_LONGEST_S = 12.0
_LINGER = 8


@final
@dataclass(frozen=True)
class Film:
    """An episode of a method, and where its film is or will be."""

    method: str
    source: RunPolicy
    setting: Setting
    seed: int
    success: bool
    path: Path


def films_of(table: Table, folder: Path) -> list[Film]:
    """The same episode under each method: the world in which they differ most, a seed in which they do."""
    if not table.entries:
        return []
    experiment, scale = table.experiment, table.scale

    def spread(world: World) -> float:
        rates = [table[method.name, world.name].pooled.rate for method in experiment.methods]
        return max(rates) - min(rates)

    world = max(experiment.worlds, key=lambda each: (spread(each), each.speed_mps))
    outcomes = {method.name: _outcomes(table, method.name, world) for method in experiment.methods}
    seed = _telling_seed(outcomes, experiment.reference or experiment.methods[0].name)
    films: list[Film] = []
    for method in experiment.methods[: scale.films]:
        run = run_piece(experiment, method, world.task, scale, 0).path(folder)
        setting = method.setting(world, folder, scale.longest_s)
        cell = table[method.name, world.name].folders[0].name
        path = folder / "films" / f"{run.name}-{cell}-{seed}.mp4"
        films.append(Film(method.name, RunPolicy(run), setting, seed, outcomes[method.name][seed], path))
    return films


def make_films(films: list[Film], crew: Crew, told: Told = lambda _: None) -> None:
    """Those that are not there."""
    missing = [film for film in films if not film.path.exists()]
    what = "filming"
    if missing:
        told(Task(what, 0, len(missing), missing[0].setting.world, {"film": 0.0}))
    run = crew.run(_Filming(), iter(missing))
    try:
        for done, (number, data) in enumerate(run if missing else (), start=1):
            path = missing[number].path
            path.parent.mkdir(parents=True, exist_ok=True)
            with atomic_path(path, overwrite=True) as partial:
                partial.write_bytes(data)
            told(Task(what, done, len(missing), missing[number].method, {"film": float(done)}))
    finally:
        run.close()


@final
@dataclass(frozen=True)
class _Filming:
    """Films one episode after the other, in whatever process."""

    def __call__(self) -> Callable[[Film], bytes]:
        import torch

        torch.set_num_threads(1)
        return lambda film: film_rollout(film.source(), film.setting, film.seed)


def film_rollout(actor: Actor, setting: Setting, seed: int, *, size: int = 240) -> bytes:
    """An MP4 of the spectator's view, at the speed of life; the last frame lingers."""
    stage = Stage(actor, setting, envs=1, rows_per_call=ROWS_PER_CALL)
    try:
        with (
            Cameras(stage.task.scene, ["spectator"], size=(size, size), quality=_PLAIN) as cameras,
            tempfile.TemporaryDirectory() as folder,
        ):
            path = Path(folder) / "film.mp4"
            write_film(path, _frames(stage, cameras, seed), 1.0 / (stage.world.period_s * _EVERY))
            return path.read_bytes()
    finally:
        stage.close()


def _frames(stage: Stage, cameras: Cameras, seed: int) -> Iterator[UInt8[Array, "height width 3"]]:
    world, agent = stage.world, stage.agent
    world.reset([seed])
    agent.reset([seed])
    while world.live.any() and world.steps[0] * world.period_s < _LONGEST_S:
        if world.steps[0] % _EVERY == 0:
            yield cameras.render(world.scenery(0))["spectator"]
        world.step(agent.act(observed(stage, world.live), world.live))
    frame = cameras.render(world.scenery(0))["spectator"]
    for _ in range(_LINGER):
        yield frame


def _telling_seed(outcomes: dict[str, dict[int, bool]], first: str) -> int:
    """The first episode that the method `first` fails and the most others succeed in."""
    return max(
        outcomes[first],
        key=lambda seed: (not outcomes[first][seed], sum(found[seed] for found in outcomes.values()), -seed),
    )


def _outcomes(table: Table, method: str, world: World) -> dict[int, bool]:
    """Of training seed 0, by the table's seeds."""
    files = sorted(table[method, world.name].folders[0].glob("[!.]*.parquet"))
    endings = {episode["seed"]: episode["ending"] for file in files for episode in read_about(file)["episodes"]}
    return {seed: endings[seed] == "success" for seed in table.scale.seeds}
