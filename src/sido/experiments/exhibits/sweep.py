"""Success as the object gets faster, as a figure."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, final

from sido.experiments.exhibit import Figure, Place, Shown, Told
from sido.experiments.plots import COLOURS, Line, lines

if TYPE_CHECKING:
    from pathlib import Path

    from sido.experiments.table import Table
    from sido.jobs import Crew

__all__ = ["SpeedSweep"]


@final
@dataclass(frozen=True)
class SpeedSweep:
    """One line for each method, over the speeds of the experiment's worlds; the paper's own are dashed."""

    def missing(self, place: Place) -> float:  # noqa: ARG002 - it is all in the logs
        return 0.0

    def make(self, place: Place, crew: Crew, told: Told) -> None: ...

    def shown(self, table: Table, folder: Path) -> Shown:  # noqa: ARG002 - it is all in the table
        experiment = table.experiment
        worlds = sorted(experiment.worlds, key=lambda world: world.speed_mps)
        series: list[Line] = []
        rows: list[tuple[str, ...]] = []
        for number, method in enumerate(experiment.methods):
            entries = [(100 * world.speed_mps, table[method.name, world.name]) for world in worlds]
            colour = f"c{number % COLOURS}"
            series.append(
                Line(
                    method.name,
                    colour,
                    tuple((speed, entry.pooled.rate) for speed, entry in entries),
                    tuple(entry.pooled.interval() for _speed, entry in entries),
                )
            )
            papers = tuple((speed, entry.paper) for speed, entry in entries if entry.paper is not None)
            rows.append((method.name, *(f"{entry.pooled.rate:.2f}" for _speed, entry in entries)))
            if papers:
                series.append(Line(f"{method.name}, the paper's", colour, papers, dashed=True))
                told = dict(papers)
                rows.append((f"{method.name}, paper", *(f"{told[s]:.2f}" if s in told else "-" for s, _e in entries)))
        figure = lines(series, x="speed, cm/s", y="success", label="success over speed", y_range=(0.0, 1.0))
        return Shown(
            title="Success over speed",
            columns=("method", *(f"{100 * world.speed_mps:g} cm/s" for world in worlds)),
            rows=tuple(rows),
            figures=(Figure(figure, "Bars: 95 % intervals. Dashed: the paper's own numbers, 20 rollouts each."),),
        )
