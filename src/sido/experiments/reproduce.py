"""Makes what an experiment is made of, as far as it is not there yet, and puts its table together."""

from __future__ import annotations

from pathlib import Path

from sido.evaluate import RunPolicy, Standing, Wanted, roll_out_all
from sido.experiments.agenda import playing
from sido.experiments.exhibit import Place, Task, Told
from sido.experiments.experiment import Experiment, Scale
from sido.experiments.making import demonstrate, generate, teach, train_all
from sido.experiments.pieces import pieces_of, settings_of, taught_by
from sido.experiments.table import Table, table_of
from sido.jobs import Crew

__all__ = ["reproduce"]


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
        demonstrate(data, folder, crew, told)
    for taught in taught_by(experiment):
        teach(taught, scale, folder, told)
    for chunks in dict.fromkeys(piece.chunks for piece in pieces):
        if chunks is not None:
            generate(chunks, folder, told)
    missing = [piece for piece in pieces if not piece.ended(folder)]
    if missing:
        train_all(missing, folder, crew, device, told)
    _play(experiment, scale, folder, crew, envs, device, told)
    place = Place(experiment, scale, folder)
    for exhibit in experiment.exhibits:
        if exhibit.missing(place) > 0:
            exhibit.make(place, crew, told)
    return table_of(experiment, scale, folder)


def _play(experiment: Experiment, scale: Scale, folder: Path, crew: Crew, envs: int, device: str, told: Told) -> None:
    """All cells of all runs, by a crew that comes together once."""
    wanted = [
        Wanted(piece.path(folder) / "rollouts", RunPolicy(piece.path(folder)), settings_of(experiment, piece, folder))
        for piece in pieces_of(experiment, scale)
    ]
    work, length = playing(experiment.obs), 1.0 if scale.longest_s is None else scale.longest_s / 20.0

    def hear(standing: Standing) -> None:
        share = f", {standing.successes / standing.played:.0%} succeed" if standing.played else ""
        told(
            Task(
                f"playing {len(wanted)} policies",
                standing.done,
                standing.wanted,
                f"{standing.what}{share}",
                {work: standing.done * length},
            )
        )

    roll_out_all(wanted, scale.seeds, crew, envs=envs, device=device, progress=hear)
