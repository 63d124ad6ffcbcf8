"""H-SIDO and DynaSIDO, chunk by chunk: the paper's generator-level table."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, final

from sido.augment import FitSettings
from sido.experiments.chunk_study import ChunkStudySettings, as_kind, study_chunks
from sido.experiments.exhibit import Figure, Place, Shown, Task, Told, keep_document, read_document
from sido.experiments.pieces import Demonstrations
from sido.experiments.plots import COLOURS, Line, lines
from sido.sim.tasks import shared_task
from sido.train import DataConfig
from sido.train.data import open_demos

if TYPE_CHECKING:
    from sido.experiments.experiment import Scale
    from sido.experiments.table import Table
    from sido.jobs import Crew

__all__ = ["ChunkLevel"]

Kind = Literal["absolute", "relative"]
_KINDS: tuple[Kind, ...] = ("absolute", "relative")
_CHUNK_S = 0.1
"""To displace, refine and execute a chunk with all generators, at one speed."""
_FEW = 100
_QUICK = FitSettings(one_step_updates=200, rollout_updates=20)


@final
@dataclass(frozen=True)
class ChunkLevel:
    """The study of chunks on the static demonstrations of a task."""

    task: str = "stack"
    speeds_mps: tuple[float, ...] = (0.02, 0.06, 0.1)
    paper: Mapping[str, tuple[float, float, float, float]] = dataclasses.field(
        default_factory=dict[str, tuple[float, float, float, float]]
    )
    """At the first of the speeds, by generator: distance at T_a and T_p (cm), SPARC and its standard deviation."""

    def missing(self, place: Place) -> float:
        kinds = [kind for kind in _KINDS if self._kept(place.scale, place.folder, kind) is None]
        return _CHUNK_S * place.scale.chunks * len(self.speeds_mps) * len(kinds)

    def make(self, place: Place, crew: Crew, told: Told) -> None:  # noqa: ARG002 - one process is enough
        scale, folder = place.scale, place.folder
        data = Demonstrations(self.task, scale.demos[self.task], moving=False, image_px=0)
        for number, kind in enumerate(_KINDS):
            if self._kept(scale, folder, kind) is not None:
                continue
            begun = number * _CHUNK_S * scale.chunks * len(self.speeds_mps)

            def hear(done: int, total: int, kind: Kind = kind, begun: float = begun) -> None:
                seconds = begun + _CHUNK_S * scale.chunks * len(self.speeds_mps) * done / total
                told(Task("executing displaced chunks", done, total, f"{kind} actions", {"exhibit": seconds}))

            with open_demos(DataConfig(path=str(data.path(folder)), actions="as-recorded"), ()) as dataset:
                study = study_chunks(as_kind(dataset, kind), shared_task(self.task), self._settings(scale), hear)
            document = {**self._identity(scale), "study": dataclasses.asdict(study)}
            keep_document(self._path(folder, kind), document)

    def shown(self, table: Table, folder: Path) -> Shown:
        first = f"{100 * self.speeds_mps[0]:g} cm/s"
        rows: list[tuple[str, ...]] = [
            ("the paper's", first, name, f"{at_ta:.2f} / {at_tp:.2f}", "-", f"{mean:.3f} ± {deviation:.3f}")
            for name, (at_ta, at_tp, mean, deviation) in self.paper.items()
        ]
        numbers: dict[str, Any] = {}
        figures: list[Figure] = []
        for kind in _KINDS:
            document = self._kept(table.scale, folder, kind)
            assert document is not None  # it was made before the table
            numbers[kind] = document["study"]
            found: list[dict[str, Any]] = document["study"]["rows"]
            rows += [_row(kind, row) for row in found]
            figures.append(Figure(_misses(kind, found), f"{kind} actions: median miss of the hand at T_a."))
        return Shown(
            title="Displaced chunks, executed in the simulator",
            columns=("actions", "speed", "chunks of", "|r(T_a)| / |r(T_p)|, cm", "miss, mm", "SPARC"),
            rows=tuple(rows),
            note="r: from object to hand, where the hand really came to; the demonstration's is what is to be kept. "
            "Miss: median distance from where the hand should be, at T_a / T_p. SPARC: smoothness, with its standard "
            "deviation. The paper's own demonstrations, simulator version and chunks are others, so its distances are "
            "not ours; what compares is how far a generator is from the demonstration.",
            figures=tuple(figures),
            numbers=numbers,
        )

    def _settings(self, scale: Scale) -> ChunkStudySettings:
        fit = FitSettings() if scale.chunks >= _FEW else _QUICK
        return ChunkStudySettings(chunks=scale.chunks, speeds_mps=self.speeds_mps, fit=fit)

    def _identity(self, scale: Scale) -> dict[str, Any]:
        """What decides the study."""
        settings = dataclasses.asdict(self._settings(scale))
        return {"settings": {**settings, "speeds_mps": list(self.speeds_mps)}, "demos": scale.demos[self.task]}

    def _path(self, folder: Path, kind: Kind) -> Path:
        return folder / "exhibits" / f"chunks-{self.task}-{kind}.json"

    def _kept(self, scale: Scale, folder: Path, kind: Kind) -> dict[str, Any] | None:
        """The study that is there, if it is of the same."""
        document = read_document(self._path(folder, kind))
        wanted = self._identity(scale)
        return document if document and all(document.get(name) == wanted[name] for name in wanted) else None


def _row(kind: Kind, row: dict[str, Any]) -> tuple[str, ...]:
    at_ta, at_tp = (100 * each for each in row["distance_m"])
    miss_ta, miss_tp = (1000 * each for each in row["miss_m"])
    return (
        kind,
        f"{100 * row['speed_mps']:g} cm/s",
        row["generator"],
        f"{at_ta:.2f} / {at_tp:.2f}",
        f"{miss_ta:.2f} / {miss_tp:.2f}",
        f"{row['sparc_mean']:.3f} ± {row['sparc_sd']:.3f}",
    )


def _misses(kind: Kind, rows: list[dict[str, Any]]) -> str:
    names = list(dict.fromkeys(row["generator"] for row in rows))[1:]
    series = [
        Line(
            name,
            f"c{number % COLOURS}",
            tuple((100 * row["speed_mps"], 1000 * row["miss_m"][0]) for row in rows if row["generator"] == name),
        )
        for number, name in enumerate(names)
    ]
    return lines(series, x="speed, cm/s", y="miss at T_a, mm", label=f"misses, {kind} actions")
