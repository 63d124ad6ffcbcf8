"""Success beside forecast errors, as the paper's table of predictors has it."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, final

from sido.experiments.exhibit import Place, Shown, Told

if TYPE_CHECKING:
    from pathlib import Path

    from sido.experiments.table import Table
    from sido.jobs import Crew

__all__ = ["ForecastErrors"]


@final
@dataclass(frozen=True)
class ForecastErrors:
    """Of all methods, in each world."""

    paper_m: Mapping[str, float] = field(default_factory=dict[str, float])
    """The paper's FDE by method, metres."""

    def missing(self, place: Place) -> float:  # noqa: ARG002 - it is all in the logs
        return 0.0

    def make(self, place: Place, crew: Crew, told: Told) -> None: ...

    def shown(self, table: Table, folder: Path) -> Shown:  # noqa: ARG002 - it is all in the table
        several = len(table.experiment.worlds) > 1
        rows: list[tuple[str, ...]] = []
        for entry in table.entries:
            low, high = entry.pooled.interval()
            paper_m = self.paper_m.get(entry.method)
            rows.append(
                (
                    entry.method,
                    *([entry.world.split(", ", 1)[1]] if several else []),
                    f"{entry.pooled.rate:.2f} ({low:.2f}-{high:.2f})",
                    "-" if entry.paper is None else f"{entry.paper:.2f}",
                    "-" if math.isnan(entry.summary.fde_m) else f"{100 * entry.summary.fde_m:.2f}",
                    "-" if paper_m is None else f"{100 * paper_m:.2f}",
                )
            )
        return Shown(
            title="Success and forecast errors",
            columns=("method", *(["world"] if several else []), "success (95 %)", "paper's", "FDE, cm", "paper's, cm"),
            rows=tuple(rows),
            note="FDE: how far what the policy was told is from where the object was at the time that it speaks of; "
            "mean over the plans whose time lies before the grasp. The paper's are of a real gantry.",
            numbers=[
                {"method": entry.method, "world": entry.world, "fde_m": _finite(entry.summary.fde_m),
                 "paper_fde_m": self.paper_m.get(entry.method)}
                for entry in table.entries
            ],
        )  # fmt: skip


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
