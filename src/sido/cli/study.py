"""`sido study`: tests of a part of the method on its own."""

from __future__ import annotations

import dataclasses
import json
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.table import Table

from sido.cli.dataset_options import DatasetOptions
from sido.cli.progress import progress_bar
from sido.errors import MissingExtraError

if TYPE_CHECKING:
    from sido.experiments.chunk_study import ChunkStudy, ChunkStudyRow

__all__ = ["study"]


def study(
    what: Annotated[Literal["chunks"], tyro.conf.Positional],  # noqa: ARG001 - the only one, so far
    path: Annotated[str, tyro.conf.Positional],
    /,
    *,
    task: str = "stack",
    chunks: int = 200,
    speeds: tuple[float, ...] = (0.02, 0.04, 0.06, 0.08, 0.10, 0.20),
    actions: Literal["both", "absolute", "relative"] = "both",
    transitions: Literal["pre-grasp", "all"] = "pre-grasp",
    literal_targets: bool = False,
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    threads: int = 1,
    seed: int = 0,
    options: Annotated[DatasetOptions, tyro.conf.OmitArgPrefixes] = DatasetOptions(),
) -> int:
    """Execute displaced chunks in the simulator, and measure where the hand really comes to.

    chunks: eligible chunks of static demonstrations, from the moments at which they began, the object teleported by
    the displacement that each speed means: the static demonstration, H-SIDO, and DynaSIDO with both refinements. The
    dynamics are learnt from four fifths of the demonstrations; the chunks are of the others.

    Args:
        what: chunks.
        path: Demonstrations that `sido collect` made: they have the simulator's states.
        task: The task that they are of.
        chunks: How many, at most.
        speeds: Of the object, metres per second.
        actions: Absolute goals, relative increments, or both.
        transitions: What the robot's dynamics are learnt from: the steps before the grasp, or all.
        literal_targets: Displace the targets from where the demonstrated hand went, as the paper has it, rather than
            from where the model has it go.
        out: Also write all numbers there, as JSON.
        threads: How many environments are stepped at once.
        seed: The same seed chooses the same chunks and displacements.
        options: How to read the dataset.
    """
    try:
        from sido.augment import FitSettings
        from sido.experiments.chunk_study import ChunkStudySettings, as_kind, study_chunks
        from sido.sim.tasks.tasks import task_named
    except ImportError as error:
        raise MissingExtraError("the simulator", str(error.name), "sim") from error
    settings = ChunkStudySettings(
        chunks=chunks,
        speeds_mps=speeds,
        fit=FitSettings(transitions=transitions),
        anchored=not literal_targets,
        threads=threads,
        seed=seed,
    )
    console = Console(soft_wrap=True)
    studies: list[ChunkStudy] = []
    place = task_named(task)
    with options.open(path) as dataset:
        for kind in ("absolute", "relative") if actions == "both" else (actions,):
            with progress_bar(f"{kind} actions") as progress:
                studies.append(study_chunks(as_kind(dataset, kind), place, settings, progress))
            console.print(_table(kind, studies[-1].rows))
            console.print(f"dynamics, on demonstrations held out: {studies[-1].dynamics}\n")
    if out is not None:
        out.write_text(json.dumps([dataclasses.asdict(each) for each in studies], indent=1))
    return 0


def _table(kind: str, rows: tuple[ChunkStudyRow, ...]) -> Table:
    table = Table(title=f"{kind} actions, {rows[0].chunks} chunks", title_justify="left")
    for heading in (
        "speed, cm/s", "chunks of", "|r(T_a)|, cm", "|r(T_p)|, cm", "miss at T_a, mm", "miss at T_p, mm", "SPARC",
        "object pushed",
    ):  # fmt: skip
        table.add_column(heading, justify="left" if heading == "chunks of" else "right", no_wrap=heading == "chunks of")
    for row in rows:
        table.add_row(
            f"{100 * row.speed_mps:g}",
            row.generator,
            *(f"{100 * distance:.2f}" for distance in row.distance_m),
            *(f"{1000 * miss:.2f}" for miss in row.miss_m),
            f"{row.sparc_mean:.3f} ± {row.sparc_sd:.3f}",
            str(row.touched),
        )
    return table
