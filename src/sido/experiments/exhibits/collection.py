"""What demonstrations cost, with a static and with a moving object, and how much of the workspace they cover."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, final

import numpy as np
from jaxtyping import Float

from sido.arrays import Array
from sido.evaluate.coverage import coverage, hull_area_m2
from sido.experiments.exhibit import Figure, Place, Shown, Told
from sido.experiments.pieces import Demonstrations, pieces_of
from sido.experiments.plots import Cloud, scatter
from sido.proportion import Proportion
from sido.train import DataConfig
from sido.train.data import open_demos

if TYPE_CHECKING:
    from sido.experiments.table import Table
    from sido.jobs import Crew

__all__ = ["CollectionCost"]

_KINDS = ("static", "moving")
_COLOURS = {"static": "rest", "moving": "c1"}


@final
@dataclass(frozen=True)
class CollectionCost:
    """Of the static and the moving demonstrations of an experiment."""

    paper_rate: Mapping[str, float]
    """Share of attempts that became demonstrations, by "static" and "moving"."""
    paper_minutes: Mapping[str, float]
    paper_coverage: float
    """Of the moving ones."""

    def missing(self, place: Place) -> float:  # noqa: ARG002 - it is all in the datasets
        return 0.0

    def make(self, place: Place, crew: Crew, told: Told) -> None: ...

    def shown(self, table: Table, folder: Path) -> Shown:
        datasets = {
            "moving" if data.moving else "static": data
            for data in dict.fromkeys(piece.demonstrations for piece in pieces_of(table.experiment, table.scale))
        }
        looked = {kind: _looked_at(datasets[kind], folder) for kind in _KINDS}
        static = looked["static"][1]
        rows: list[tuple[str, ...]] = []
        numbers: list[dict[str, Any]] = []
        for kind in _KINDS:
            cost, places = looked[kind]
            rate = Proportion(cost["demos"], cost["attempts"])
            covered = coverage(places, static) if hull_area_m2(static) else None
            minutes = cost["robot_time_s"] / 60.0
            rows.append(
                (
                    f"{kind} object",
                    f"{rate.successes}/{rate.attempts} = {rate}",
                    f"{self.paper_rate[kind]:.1%}",
                    f"{minutes:.1f} min",
                    f"{self.paper_minutes[kind]:.0f} min",
                    "-" if covered is None else f"{covered:.1%}",
                    f"{self.paper_coverage:.1%}" if kind == "moving" else "100.0%",
                )
            )
            numbers.append({"kind": kind, **cost, "coverage": covered, "paper_rate": self.paper_rate[kind]})
        clouds = [Cloud(kind, _COLOURS[kind], tuple(map(tuple, (100 * looked[kind][1]).tolist()))) for kind in _KINDS]
        figure = scatter(clouds, x="x, cm", y="y, cm", label="where objects were grasped")
        return Shown(
            title="What the demonstrations cost",
            columns=("demonstrations", "successes (95 %)", "paper's", "robot time", "paper's", "coverage", "paper's"),
            rows=tuple(rows),
            note="Robot time: how long the robot moved in all attempts; the paper's is a teleoperator's clock, with "
            "everything between attempts. Our expert is a script with the reaction time of a person. Coverage: the "
            "area of the hull of where objects were grasped, over that of the static ones.",
            figures=(Figure(figure, "Where objects were grasped: grey static, coloured moving."),),
            numbers=numbers,
        )


def _looked_at(data: Demonstrations, folder: Path) -> tuple[dict[str, Any], Float[Array, "n 2"]]:
    """What its file says of its collection, and where its objects were grasped."""
    with open_demos(DataConfig(path=str(data.path(folder))), ()) as dataset:
        told: dict[str, Any] = json.loads(dataset.info.provenance)
        places = [
            demo.object_position[demo.grasp.index, :2]
            for demo in dataset
            if demo.object_position is not None and demo.grasp is not None
        ]
    return {name: told[name] for name in ("demos", "attempts", "robot_time_s")}, np.array(places).reshape(-1, 2)
