"""Makes demonstrations, taught predictors, chunks and runs. Killed at any moment, each goes on when asked again."""

from __future__ import annotations

import json
import signal
import threading
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from types import FrameType
from typing import final

import numpy as np

from sido.atomic import atomic_path
from sido.augment.dataset_chunks import chunks_of_dataset
from sido.experiments.agenda import collecting, steps_made, training, updates_of
from sido.experiments.exhibit import Task, Told
from sido.experiments.experiment import Scale, Taught
from sido.experiments.pieces import Chunks, Demonstrations, RunPiece
from sido.experiments.watch import watched
from sido.jobs import Crew
from sido.predict import save_learned
from sido.predict.lessons import lessons
from sido.release import versions
from sido.sim.collect import WRIST_CAMERA, Recipe, collect, preset
from sido.sim.experts import ExpertSettings
from sido.sim.robosuite_scene import CLOSE_VIEW
from sido.train import DataConfig, resume, train
from sido.train.data import open_demos

__all__ = ["demonstrate", "generate", "recipe_of", "teach", "train_all"]

MOVING_SPEED_MPS = 0.015
REACTION_S = 0.2
"""Of the expert who demonstrates with a moving object: a person's."""
CLOSELY_SEEN, USUAL_PX = ("stack", "square"), 84
"""Tasks whose images, if smaller than the originals', are of the close view."""
GRASP_OFFSET_M = 0.006
"""Of demonstrations with images, from which policies see the hand's error only roughly; from state it costs success."""


def recipe_of(data: Demonstrations) -> Recipe:
    """How a dataset is collected."""
    chosen, _usual = preset(data.task)
    agent_camera = CLOSE_VIEW if data.task in CLOSELY_SEEN and data.image_px < USUAL_PX else "agentview"
    return Recipe(
        task=data.task,
        demos=data.count,
        motion=("gantry" if data.task == "gantry" else "random") if data.moving else "still",
        speed_mps=MOVING_SPEED_MPS if data.moving else None,
        expert=ExpertSettings(REACTION_S if data.moving else 0.0, 0.0, GRASP_OFFSET_M if data.image_px else 0.0),
        placements="random" if data.moving else chosen,
        cameras=(agent_camera, WRIST_CAMERA) if data.image_px else (),
        image_size=data.image_px or USUAL_PX,
    )


def demonstrate(data: Demonstrations, folder: Path, crew: Crew, told: Told) -> None:
    """Collect a dataset."""
    path = data.path(folder)
    if path.exists():
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    what, work = f"collecting {path.name}", collecting(data.image_px)
    told(Task(what, 0, data.count))
    collect(
        recipe_of(data),
        path,
        crew,
        progress=lambda standing: told(
            Task(what, standing.demos, standing.wanted, f"{standing.attempts} attempts", {work: standing.demos})
        ),
    )


def teach(taught: Taught, scale: Scale, folder: Path, told: Told) -> None:
    """Teach a predictor, as `sido predictor fit` does."""
    path = taught.path(folder)
    if path.exists():
        return
    import torch

    from sido.predict.fitting import USUAL_STEPS, FitSettings, fit

    torch.set_num_threads(1)  # small matrices: a second thread only waits
    settings = FitSettings(network=taught.network, steps=scale.teaching_steps or USUAL_STEPS[taught.network])
    cases = [(taught.motion, speed) for speed in taught.speeds_mps]
    tracks = lessons(cases, taught.minutes, np.random.default_rng(settings.seed))
    what = f"teaching {path.name}"
    fitted = fit(
        tracks, settings, lambda done, total: told(Task(what, done, total, work={"teach": done / max(total, 1)}))
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    about = {"motion": taught.motion, "speeds_mps": taught.speeds_mps, "minutes": taught.minutes}
    save_learned(fitted.predictor, path, about={**about, "steps": settings.steps, "versions": versions(("torch",))})


def generate(chunks: Chunks, folder: Path, told: Told) -> None:
    """Refine the chunks of a dataset, as `sido augment --generator` does."""
    if chunks.there(folder):
        return
    path = chunks.path(folder)
    path.parent.mkdir(parents=True, exist_ok=True)
    what, work = f"chunks of {chunks.generator}", f"generate {chunks.generator}"

    def hear(doing: str, done: int, total: int) -> None:
        share = done * chunks.demonstrations.count / max(total, 1) if doing == "generating chunks" else 0.0
        told(Task(what, done, total, doing, {work: share}))

    with open_demos(DataConfig(path=str(chunks.demonstrations.path(folder))), ()) as dataset:
        chunks_of_dataset(dataset, path, chunks.settings(), told=hear)


def train_all(pieces: Sequence[RunPiece], folder: Path, crew: Crew, device: str, told: Told) -> None:
    """Train the runs, as many at a time as the crew has hands."""

    def standing() -> None:
        made = [steps_made(piece, folder) for piece in pieces]
        work: dict[str, float] = {}
        for piece, steps in zip(pieces, made, strict=True):
            work[training(piece)] = work.get(training(piece), 0.0) + steps
        names = [
            f"{piece.name} {steps}" for piece, steps in zip(pieces, made, strict=True) if 0 < steps < updates_of(piece)
        ]
        total = sum(updates_of(piece) for piece in pieces)
        told(Task(f"training {len(pieces)} policies", sum(made), total, ", ".join(names), work))

    standing()
    run = crew.run(_Trainer(folder, device), iter(pieces))
    with watched(standing):
        try:
            for _number, ended in run:
                if not ended:
                    raise KeyboardInterrupt
        finally:
            run.close()
    standing()


@final
@dataclass(frozen=True)
class _Trainer:
    """Trains one run after the other, in whatever process."""

    folder: Path
    device: str

    def __call__(self) -> Callable[[RunPiece], bool]:
        return self.work

    def work(self, piece: RunPiece) -> bool:
        """Whether it has ended; one that was begun goes on, one that is asked to stop is saved first."""
        run = piece.path(self.folder)
        run.parent.mkdir(parents=True, exist_ok=True)
        with _stopping() as asked:
            if run.exists():
                outcome = resume(run, device=self.device, stop=asked)
            else:
                outcome = train(piece.config(self.folder), run, device=self.device, stop=asked)
        if outcome.ended:
            with atomic_path(run / "ended.json", overwrite=True) as partial:
                partial.write_text(json.dumps({"step": outcome.step}) + "\n")
        return outcome.ended


@contextmanager
def _stopping() -> Generator[Callable[[], bool]]:
    """Ctrl-C, and what ends a worker, are only noted: the run is saved as it is, and then left. Twice is at once."""
    asked = threading.Event()

    def note(number: int, frame: FrameType | None) -> None:  # noqa: ARG001 - signal handlers are called so
        if asked.is_set():
            raise KeyboardInterrupt
        asked.set()

    if threading.current_thread() is not threading.main_thread():  # where Python takes no signals
        yield asked.is_set
        return
    watched_for = [signal.SIGTERM]
    if signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:  # workers leave it to who started them
        watched_for.append(signal.SIGINT)
    before = {number: signal.signal(number, note) for number in watched_for}
    try:
        yield asked.is_set
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
