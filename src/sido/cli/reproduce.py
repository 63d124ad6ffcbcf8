"""`sido reproduce`: a table of the paper, from nothing."""

from __future__ import annotations

import json as json_format
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.markup import escape
from rich.table import Table as RichTable

from sido.cli.evaluate import crew_of
from sido.cli.progress import progress_bar
from sido.errors import MissingExtraError

if TYPE_CHECKING:
    from sido.experiments import Experiment, Scale, Table

__all__ = ["reproduce"]


def reproduce(
    name: Annotated[str, tyro.conf.Positional],
    /,
    *,
    scale: Literal["smoke", "demo", "cpu", "paper"] = "cpu",
    out: Annotated[Path | None, tyro.conf.arg(aliases=["-o"])] = None,
    rollouts: Annotated[int | None, tyro.conf.arg(aliases=["-n"])] = None,
    training_seeds: int | None = None,
    report: bool = True,
    videos: bool = True,
    envs: int = 16,
    workers: int = 1,
    ray: str | None = None,
    device: str = "cpu",
    list_left: bool = False,
) -> int:
    """Collect, train, play and measure whatever a table or figure of the paper needs, and print it with intervals.

    What is there is used again: by this command, stopped and given once more, and by other tables at the same scale.
    The paper's own numbers stand beside ours in square brackets: 20 rollouts each, in another simulator version or on
    real robots.

    Args:
        name: demo, table-1, stack, gantry, peachtree, speed-sweep, varying-velocity, moving-demonstrations, predictors,
            images; or all.
        scale: smoke checks that everything runs, and its numbers mean nothing; demo is one training seed and 20
            rollouts a cell; cpu is three and 100, with laptop-sized policies; paper has the paper's policies and
            numbers of demonstrations, for a cluster.
        out: Where everything is kept; by default reproduce/SCALE.
        rollouts: Of each cell, if not the scale's.
        training_seeds: If not the scale's.
        report: Write OUT/NAME.html as well.
        videos: Put short films into the report.
        envs: Episodes at once in each process.
        workers: Processes of this machine.
        ray: The address of a Ray cluster that works instead; OUT must be the same folder everywhere.
        device: Where policies compute.
        list_left: Only say what there is still to do.
    """
    try:
        from sido.experiments import EXPERIMENTS, SCALES, experiment_named, left_of
        from sido.experiments import reproduce as make
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido reproduce", str(error.name), "sim") from error
    import dataclasses

    chosen = list(EXPERIMENTS.values()) if name == "all" else [experiment_named(name)]
    changes = {"rollouts": rollouts, "training_seeds": training_seeds}
    size = dataclasses.replace(SCALES[scale], **{key: value for key, value in changes.items() if value is not None})
    folder = out or Path("reproduce") / scale
    console, errors = Console(soft_wrap=True, width=200), Console(stderr=True, soft_wrap=True)
    for experiment in chosen:
        console.print(f"[bold]{escape(experiment.name)}[/], still to do: {left_of(experiment, size, folder)}")
        if list_left:
            continue
        try:
            with progress_bar(experiment.name) as bar:
                table = make(
                    experiment,
                    size,
                    folder,
                    crew_of(workers, ray),
                    envs=envs,
                    device=device,
                    told=lambda task, bar=bar: bar(task.done, task.total, f"{task.what} {task.detail}"),
                )
        except KeyboardInterrupt:
            errors.print(f"stopped; left: {left_of(experiment, size, folder)}; the same command goes on from there")
            return 130
        _keep(table, folder)
        _print(table, console)
        if report:
            from sido.cli.report import write

            console.print(f"report: {write(table, folder, videos=videos)}")
    return 0


def _keep(table: Table, folder: Path) -> None:
    """The numbers, as JSON and as a table for people."""
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    (tables / f"{table.experiment.name}.json").write_text(json_format.dumps(table.to_dict(), indent=1) + "\n")
    (tables / f"{table.experiment.name}.md").write_text(table.markdown())


def _print(table: Table, console: Console) -> None:
    experiment = table.experiment
    shown = RichTable(box=None, padding=(0, 2, 0, 0), header_style="bold", title=_title(experiment, table.scale))
    shown.add_column("method")
    for world in experiment.worlds:
        shown.add_column(world.name)
    for method in experiment.methods:
        cells: list[str] = []
        for world in experiment.worlds:
            entry = table[method.name, world.name]
            low, high = entry.pooled.interval()
            better = entry.against is not None and entry.against.p_value < 0.05
            paper = "" if entry.paper is None else f"\n\\[{entry.paper:.2f}]"
            cells.append(f"{entry.pooled.rate:.2f}{'*' if better else ''} ({low:.2f}-{high:.2f}){paper}")
        shown.add_row(escape(method.name), *cells)
    console.print(shown)
    if experiment.reference:
        console.print(f"* differs from {escape(experiment.reference)} on the same episodes, McNemar, p < 0.05")


def _title(experiment: Experiment, scale: Scale) -> str:
    return (
        f"{escape(experiment.title)}; from {experiment.obs}, scale {scale.name}: {scale.training_seeds} training seeds "
        f"x {scale.rollouts} rollouts, 95 % intervals"
    )
