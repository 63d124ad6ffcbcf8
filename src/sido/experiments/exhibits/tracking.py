"""The paper's tracking slope: does the commanded hand sweep with the object?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, final

import numpy as np

from sido.evaluate import Rollout, RunPolicy, Tracking, cell_of
from sido.experiments.exhibit import Figure, Place, Shown, Told
from sido.experiments.experiment import Method, World
from sido.experiments.pieces import run_piece
from sido.experiments.plots import COLOURS, Cloud, scatter
from sido.train import DataConfig
from sido.train.data import open_demos

if TYPE_CHECKING:
    from sido.experiments.table import Table
    from sido.jobs import Crew

__all__ = ["TrackingSlope"]

_RESAMPLED = 1000
_STATIC = "static demonstrations"
_AXES = ("x", "y")


@final
@dataclass(frozen=True)
class TrackingSlope:
    """Of each method in a world along an axis, beside that of the static demonstrations."""

    world: World
    axis: int = 0
    """Of the base frame."""
    paper: Mapping[str, float] = field(default_factory=dict[str, float])
    """By method; "" is the demonstrations'."""

    def missing(self, place: Place) -> float:  # noqa: ARG002 - it is all in the logs
        return 0.0

    def make(self, place: Place, crew: Crew, told: Told) -> None: ...

    def shown(self, table: Table, folder: Path) -> Shown:
        found = {_STATIC: self._of_demonstrations(table, folder)}
        found |= {method.name: self._of_rollouts(table, method, folder) for method in table.experiment.methods}
        rows: list[tuple[str, ...]] = []
        numbers: list[dict[str, object]] = []
        figures: list[Figure] = []
        for number, (name, parts) in enumerate(found.items()):
            pooled = Tracking.joined(parts)
            paper = self.paper.get("" if name == _STATIC else name)
            slope, interval = _slope(parts, self.axis)
            shown = (
                "-"
                if slope is None
                else f"{slope:.2f}" + (f" ({interval[0]:.2f} to {interval[1]:.2f})" if interval else "")
            )
            rows.append((name, shown, str(len(pooled.objects)), "-" if paper is None else f"{paper:.2f}"))
            numbers.append(
                {"method": name, "slope": slope, "interval_95": interval, "points": len(pooled.objects), "paper": paper}
            )
            colour = "rest" if name == _STATIC else f"c{(number - 1) % COLOURS}"
            figures.append(Figure(self._drawn(name, pooled, slope, colour), f"{name}: {shown}"))
        return Shown(
            title=f"Tracking slope along {_AXES[self.axis]}, {self.world.name}",
            columns=("method", "slope (95 %)", "points", "paper's"),
            rows=tuple(rows),
            note="The slope of the commanded hand over the object, at the ends of executed chunks before the grasp: 1 "
            "follows one for one, 0 not at all. Intervals: episodes drawn again, with replacement. The paper's are of "
            "a real gantry.",
            figures=tuple(figures),
            numbers=numbers,
        )

    def _of_rollouts(self, table: Table, method: Method, folder: Path) -> list[Tracking]:
        """One for each episode of each training seed."""
        parts: list[Tracking] = []
        for seed in range(table.scale.training_seeds):
            run = run_piece(table.experiment, method, self.world.task, table.scale, seed).path(folder)
            setting = method.setting(self.world, folder, table.scale.longest_s)
            rollouts: Sequence[Rollout] = list(
                cell_of(run / "rollouts", RunPolicy(run), setting).rollouts(table.scale.seeds)
            )
            parts += [Tracking.of([rollout]) for rollout in rollouts]
        return parts

    def _of_demonstrations(self, table: Table, folder: Path) -> list[Tracking]:
        method = next(each for each in table.experiment.methods if each.trained_on == "static")
        data = run_piece(table.experiment, method, self.world.task, table.scale, 0).demonstrations
        with open_demos(DataConfig(path=str(data.path(folder))), ()) as dataset:
            return [Tracking.of_demo(demo) for demo in dataset]

    def _drawn(self, name: str, pooled: Tracking, slope: float | None, colour: str) -> str:
        axis = self.axis
        points = tuple(
            zip((100 * pooled.objects[:, axis]).tolist(), (100 * pooled.commanded[:, axis]).tolist(), strict=True)
        )
        if slope is None:
            return ""
        middle_x, middle_y = (100 * float(each[:, axis].mean()) for each in (pooled.objects, pooled.commanded))
        clouds = [Cloud("objects", "rest", tuple((x, x) for x, _y in points), square=True), Cloud(name, colour, points)]
        fitted = (slope, middle_y - slope * middle_x, colour)
        return scatter(
            clouds,
            x=f"object, {_AXES[axis]}, cm",
            y="commanded hand, cm",
            label=f"tracking of {name}",
            slopes=[(1.0, 0.0, "rest"), fitted],
        )


def _slope(parts: Sequence[Tracking], axis: int) -> tuple[float | None, tuple[float, float] | None]:
    """Pooled; and the middle 95 % of what other draws of the episodes would have given."""
    whole = Tracking.joined(parts)
    if len(whole.objects) < 2 or not np.ptp(whole.objects[:, axis]):
        return None, None
    rng = np.random.default_rng(0)
    drawn: list[float] = []
    for _ in range(_RESAMPLED if len(parts) > 1 else 0):
        again = Tracking.joined([parts[k] for k in rng.integers(len(parts), size=len(parts))])
        if len(again.objects) > 1 and np.ptp(again.objects[:, axis]):
            drawn.append(again.slope(axis))
    if not drawn:
        return whole.slope(axis), None
    low, high = np.quantile(drawn, [0.025, 0.975])
    return whole.slope(axis), (float(low), float(high))
