"""Makes what an experiment is made of, as far as it is not there yet, and puts its table together."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, final

from sido.evaluate import RunPolicy, Setting, roll_out
from sido.evaluate.rollouts import cell_of
from sido.experiments.experiment import Experiment, Scale
from sido.experiments.pieces import Demonstrations, RunPiece, pieces_of, run_piece
from sido.experiments.table import Table, table_of
from sido.jobs import Crew
from sido.sim.collect import WRIST_CAMERA, Recipe, collect, preset
from sido.sim.robosuite_scene import CLOSE_VIEW
from sido.train import Steps, TrainConfig, read_metrics, resume, train

__all__ = ["Left", "Task", "left_of", "reproduce"]

MOVING_SPEED_MPS = 0.015
REACTION_S = 0.2
CLOSELY_SEEN, USUAL_PX = ("stack", "square"), 84
"""Tasks whose images, if smaller than the originals', are of the close view."""
GRASP_OFFSET_M = 0.006
"""Of demonstrations with images, from which policies see the hand's error only roughly; from state it costs success."""
"""Of the expert who demonstrates with a moving object: a person's."""


class Task(NamedTuple):
    """What is being done, and how far it is."""

    what: str
    done: int
    total: int
    detail: str = ""


class Left(NamedTuple):
    """What is still to be made."""

    demonstrations: int
    """Datasets."""
    runs: int
    rollouts: int

    def __str__(self) -> str:
        return f"{self.demonstrations} datasets, {self.runs} policies, {self.rollouts} rollouts"


Told = Callable[[Task], None]


def left_of(experiment: Experiment, scale: Scale, folder: Path) -> Left:
    """Look at what there is."""
    pieces = pieces_of(experiment, scale)
    datasets = {piece.demonstrations for piece in pieces}
    rollouts = 0
    seeds = set(scale.seeds)
    for piece in pieces:
        source = RunPolicy(piece.path(folder))
        for setting in _settings(experiment, scale, piece):
            there = cell_of(_cells(piece, folder), source, setting).seeds() if _ended(piece, folder) else set[int]()
            rollouts += len(seeds - there)
    return Left(
        demonstrations=sum(not data.path(folder).exists() for data in datasets),
        runs=sum(not _ended(piece, folder) for piece in pieces),
        rollouts=rollouts,
    )


def reproduce(
    experiment: Experiment,
    scale: Scale,
    folder: Path,
    crew: Crew,
    *,
    envs: int = 16,
    device: str = "cpu",
    told: Told = lambda _: None,
) -> Table:
    """Make all of it; may be stopped and killed at any time, and goes on when called again, to the same numbers."""
    pieces = pieces_of(experiment, scale)
    for data in dict.fromkeys(piece.demonstrations for piece in pieces):
        _collect(data, folder, crew, told)
    missing = [piece for piece in pieces if not _ended(piece, folder)]
    if missing:
        _train(missing, folder, crew, device, told)
    for number, piece in enumerate(pieces):
        run = piece.path(folder)
        roll_out(
            _cells(piece, folder),
            RunPolicy(run),
            _settings(experiment, scale, piece),
            scale.seeds,
            crew,
            envs=envs,
            device=device,
            progress=lambda standing, number=number, run=run: told(
                Task(
                    f"playing {run.name} ({number + 1} of {len(pieces)})",
                    standing.done,
                    standing.wanted,
                    standing.what,
                )
            ),
        )
    return table_of(experiment, scale, folder)


def _settings(experiment: Experiment, scale: Scale, piece: RunPiece) -> list[Setting]:
    """All cells that this run plays in."""
    task = piece.demonstrations.task
    return list(
        dict.fromkeys(
            method.setting(world)
            for method, world in itertools.product(experiment.methods, experiment.worlds)
            if world.task == task
            and run_piece(experiment, method, task, scale, piece.seed).path(Path()) == piece.path(Path())
        )
    )


def _cells(piece: RunPiece, folder: Path) -> Path:
    return piece.path(folder) / "rollouts"


def _ended(piece: RunPiece, folder: Path) -> bool:
    return (piece.path(folder) / "ended.json").exists()


def _collect(data: Demonstrations, folder: Path, crew: Crew, told: Told) -> None:
    path = data.path(folder)
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    from sido.sim.experts import ExpertSettings

    chosen, _usual = preset(data.task)
    agent_camera = CLOSE_VIEW if data.task in CLOSELY_SEEN and data.image_px < USUAL_PX else "agentview"
    recipe = Recipe(
        task=data.task,
        demos=data.count,
        motion=("gantry" if data.task == "gantry" else "random") if data.moving else "still",
        speed_mps=MOVING_SPEED_MPS if data.moving else None,
        expert=ExpertSettings(REACTION_S if data.moving else 0.0, 0.0, GRASP_OFFSET_M if data.image_px else 0.0),
        placements="random" if data.moving else chosen,
        cameras=(agent_camera, WRIST_CAMERA) if data.image_px else (),
        image_size=data.image_px or 84,
    )
    what = f"collecting {path.name}"
    collect(
        recipe,
        path,
        crew,
        progress=lambda standing: told(Task(what, standing.demos, standing.wanted, f"{standing.attempts} attempts")),
    )


@final
@dataclass(frozen=True)
class _Trainer:
    """Trains one run after the other, in whatever process."""

    folder: Path
    device: str
    told: Told | None = None

    def __call__(self) -> Callable[[RunPiece], None]:
        return self.work

    def work(self, piece: RunPiece) -> None:
        """To its end; one that was begun goes on."""
        run = piece.path(self.folder)
        run.parent.mkdir(parents=True, exist_ok=True)
        if run.exists():
            outcome = resume(run, device=self.device)
        else:
            outcome = train(piece.config(self.folder), run, device=self.device)
        if outcome.ended:
            (run / "ended.json").write_text(f'{{"step": {outcome.step}}}\n')


def _train(pieces: Sequence[RunPiece], folder: Path, crew: Crew, device: str, told: Told) -> None:
    from sido.experiments.watch import watched

    def standing() -> None:
        steps = [_steps(piece, folder) for piece in pieces]
        total = sum(_planned(piece, folder) for piece in pieces)
        names = ", ".join(
            f"{piece.path(folder).name} {done}" for piece, done in zip(pieces, steps, strict=True) if done
        )
        told(Task(f"training {len(pieces)} policies", sum(steps), total, names))

    run = crew.run(_Trainer(folder, device), iter(pieces))
    with watched(standing):
        try:
            for _number, _result in run:
                standing()
        finally:
            run.close()


def _steps(piece: RunPiece, folder: Path) -> int:
    """Updates made so far, as its metrics say."""
    lines = read_metrics(piece.path(folder) / "metrics.jsonl")
    return int(lines[-1]["step"]) if lines else 0


def _planned(piece: RunPiece, folder: Path) -> int:
    config = piece.path(folder) / "config.json"
    duration = TrainConfig.from_json(config.read_bytes()).duration if config.exists() else None
    return duration.count if isinstance(duration, Steps) else 8000
