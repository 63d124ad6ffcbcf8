"""What is left to be made, and how long that will take.

Amounts are counted by the kind of work ("train dp state": updates; "play state": rollouts), with the seconds that each
usually takes one processor. While a kind is worked on, what it really takes is learnt.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import final

from sido.evaluate import RunPolicy, cell_of
from sido.experiments.exhibit import Place, Task
from sido.experiments.experiment import Experiment, Scale
from sido.experiments.pieces import RunPiece, pieces_of, settings_of, taught_by
from sido.train import METHODS, RECIPES, Steps, read_metrics

__all__ = ["Agenda", "Timekeeper", "agenda_of", "collecting", "playing", "steps_made", "training", "updates_of"]

USUAL_S: dict[str, float] = {
    "collect state": 0.2,
    "collect image": 1.5,
    "teach": 40.0,
    "generate mppi": 0.2,
    "generate gauss-newton": 0.02,
    "train dp state": 0.0085,
    "train dp image": 0.07,
    "train equidp state": 0.02,
    "train equidp image": 0.1,
    "play state": 0.25,
    "play image": 2.0,
    "exhibit": 1.0,
    "film": 3.0,
}
"""Of one idle processor of 2026: for a demonstration, a predictor, the chunks of a demonstration, an update, a
rollout, a second, a film. Of laptop-scale policies, and only to begin with: what it really takes is measured."""

_BEGUN_S = 3.0
"""What was measured for less says nothing."""
_SLOWEST = 20.0


def collecting(image_px: int) -> str:
    """The kind of work."""
    return f"collect {'image' if image_px else 'state'}"


def training(piece: RunPiece) -> str:
    """The kind of work."""
    return f"train {METHODS[piece.method.preset].policy} {piece.obs}"


def playing(obs: str) -> str:
    """The kind of work."""
    return f"play {obs}"


@final
@dataclass
class Agenda:
    """Amounts by kind of work; and pieces, as people count them."""

    amounts: dict[str, float] = field(default_factory=dict[str, float])
    datasets: int = 0
    predictors: int = 0
    chunks: int = 0
    policies: int = 0
    rollouts: int = 0

    def add(self, work: str, amount: float) -> None:
        self.amounts[work] = self.amounts.get(work, 0.0) + amount

    @property
    def empty(self) -> bool:
        """But for films."""
        return not any(amount > 0 for work, amount in self.amounts.items() if work != "film")

    def __str__(self) -> str:
        counts = {
            "datasets": self.datasets,
            "predictors": self.predictors,
            "sets of chunks": self.chunks,
            "policies": self.policies,
            "rollouts": self.rollouts,
        }
        return ", ".join(f"{count} {name}" for name, count in counts.items() if count) or "nothing"


def agenda_of(experiments: Sequence[Experiment], scale: Scale, folder: Path) -> Agenda:
    """Look at what there is; what several experiments share is counted once."""
    agenda = Agenda()
    runs = {piece.name: piece for experiment in experiments for piece in pieces_of(experiment, scale)}
    for data in dict.fromkeys(piece.demonstrations for piece in runs.values()):
        if not data.path(folder).exists():
            agenda.datasets += 1
            agenda.add(collecting(data.image_px), data.count)
    for taught in dict.fromkeys(taught for experiment in experiments for taught in taught_by(experiment)):
        if not taught.path(folder).exists():
            agenda.predictors += 1
            agenda.add("teach", 1 if scale.teaching_steps is None else 0.1)
    for chunks in dict.fromkeys(piece.chunks for piece in runs.values()):
        if chunks is not None and not chunks.there(folder):
            agenda.chunks += 1
            agenda.add(f"generate {chunks.generator}", chunks.demonstrations.count)
    for piece in runs.values():
        if not piece.ended(folder):
            agenda.policies += 1
            agenda.add(training(piece), max(0, updates_of(piece) - steps_made(piece, folder)))
    _count_rollouts(agenda, experiments, scale, folder)
    for experiment in experiments:
        place = Place(experiment, scale, folder)
        agenda.add("exhibit", sum(exhibit.missing(place) for exhibit in experiment.exhibits))
        if not (folder / f"{experiment.name}.html").exists():  # which films there will be is known once all is played
            agenda.add("film", min(scale.films, len(experiment.methods)))
    return agenda


def _count_rollouts(agenda: Agenda, experiments: Sequence[Experiment], scale: Scale, folder: Path) -> None:
    wanted = {
        (piece.name, setting): piece
        for experiment in experiments
        for piece in pieces_of(experiment, scale)
        for setting in settings_of(experiment, piece, folder)
    }
    seeds = set(scale.seeds)
    for (_name, setting), piece in wanted.items():
        run, there = piece.path(folder), set[int]()
        if piece.ended(folder):
            there = cell_of(run / "rollouts", RunPolicy(run), setting).seeds()
        missing = len(seeds - there)
        agenda.rollouts += missing
        length = 1.0 if scale.longest_s is None else scale.longest_s / 20.0
        agenda.add(playing(piece.obs), missing * length)


def updates_of(piece: RunPiece) -> int:
    """That its training will take; a guess where that hangs on its data."""
    if piece.scale.training_steps is not None:
        return piece.scale.training_steps
    duration = RECIPES[METHODS[piece.method.preset].policy, piece.obs, piece.scale.training].duration
    return duration.count if isinstance(duration, Steps) else 500_000


def steps_made(piece: RunPiece, folder: Path) -> int:
    """Updates that its metrics tell of."""
    lines = read_metrics(piece.path(folder) / "metrics.jsonl")
    return int(lines[-1]["step"]) if lines else 0


@final
class Timekeeper:
    """How long the rest of an agenda will take, as far as can be said from what was done so far.

    Args:
        agenda: What was left when the clock started.
        hands: How many processors work.
        now: The time, seconds.
    """

    def __init__(self, agenda: Agenda, hands: int, now: Callable[[], float] = time.monotonic) -> None:
        self._left = dict(agenda.amounts)
        self._usual_s = {work: each / hands for work, each in USUAL_S.items()}
        self._spent_s: dict[str, float] = {}
        self._expected_s: dict[str, float] = {}
        self._now, self._at = now, now()
        self._what, self._done, self._starting = "", dict[str, float](), True

    def hear(self, task: Task) -> None:
        """Of progress."""
        now, work = self._now(), dict(task.work or {})
        if task.what != self._what:
            self._what, self._done, self._at, self._starting = task.what, work, now, True
            return
        made = {kind: max(0.0, done - self._done.get(kind, 0.0)) for kind, done in work.items()}
        expected = {kind: amount * self._usual_s.get(kind, 1.0) for kind, amount in made.items()}
        total = sum(expected.values())
        if total == 0.0:
            return  # time goes on until something is done
        for kind, seconds in expected.items():
            self._left[kind] = max(0.0, self._left.get(kind, 0.0) - made[kind])
            if not self._starting:  # until the first is done, processes start and code is compiled
                self._spent_s[kind] = self._spent_s.get(kind, 0.0) + (now - self._at) * seconds / total
                self._expected_s[kind] = self._expected_s.get(kind, 0.0) + seconds
        self._done, self._at, self._starting = work, now, False

    @property
    def left_s(self) -> float:
        """Seconds until all is made."""
        ahead = sum(amount * self._usual_s.get(kind, 1.0) * self._pace(kind) for kind, amount in self._left.items())
        return max(0.0, ahead - (self._now() - self._at))

    def _pace(self, kind: str) -> float:
        """How many times as long as usual it takes; where that is not known yet, as everything else did."""
        kinds = [kind] if self._spent_s.get(kind, 0.0) >= _BEGUN_S else list(self._spent_s)
        spent = sum(self._spent_s.get(each, 0.0) for each in kinds)
        expected = sum(self._expected_s.get(each, 0.0) for each in kinds)
        return 1.0 if spent < _BEGUN_S or expected == 0.0 else min(spent / expected, _SLOWEST)
