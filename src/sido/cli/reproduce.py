"""`sido reproduce`: a table or figure of the paper, from nothing."""

from __future__ import annotations

import dataclasses
import json as json_format
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.markup import escape

from sido.cli.duration import rough_duration
from sido.cli.evaluate import crew_of
from sido.cli.progress import Journey, journey
from sido.errors import MissingExtraError

if TYPE_CHECKING:
    from sido.experiments import Experiment, Scale, Table, Task, Timekeeper
    from sido.jobs import Crew

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
        name: demo, table-1, stack, gantry, peachtree, tracking, tsne, speed-sweep, chunk-study, varying-velocity,
            moving-demonstrations, predictors, images; or all.
        scale: smoke checks that everything runs, and its numbers mean nothing; demo is one training seed and 30
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
        list_left: Only say what there is still to do, and how long it takes.
    """
    try:
        from sido.experiments import EXPERIMENTS, SCALES, Timekeeper, agenda_of, experiment_named
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido reproduce", str(error.name), "sim") from error

    chosen = list(EXPERIMENTS.values()) if name == "all" else [experiment_named(name)]
    changes = {"rollouts": rollouts, "training_seeds": training_seeds}
    size = dataclasses.replace(SCALES[scale], **{key: value for key, value in changes.items() if value is not None})
    folder = out or Path("reproduce") / scale
    crew = crew_of(workers, ray)
    agenda = agenda_of(chosen, size, folder)
    clock = Timekeeper(agenda, crew.hands)
    errors = Console(stderr=True, soft_wrap=True)
    errors.print(f"[bold]{escape(name)}[/], still to do: {agenda}; about {rough_duration(clock.left_s)}")
    if list_left:
        return 0
    try:
        return _made(chosen, size, folder, crew, clock, envs=envs, device=device, report=report, videos=videos)
    except KeyboardInterrupt:
        left = agenda_of(chosen, size, folder)
        errors.print(f"stopped; still to do: {left}. Nothing is lost: the same command goes on from there")
        return 130


def _made(
    chosen: Sequence[Experiment],
    size: Scale,
    folder: Path,
    crew: Crew,
    clock: Timekeeper,
    *,
    envs: int,
    device: str,
    report: bool,
    videos: bool,
) -> int:
    from sido.cli.result_table import print_table
    from sido.experiments import reproduce as make

    console = Console()
    for experiment in chosen:
        with journey(lambda: clock.left_s) as shown:
            told = _told(shown, clock)
            table = make(experiment, size, folder, crew, envs=envs, device=device, told=told)
            _keep(table, folder)
            path = _reported(table, folder, crew, told, videos) if report else None
        print_table(table, folder, console)
        if path is not None:
            console.print(f"report: {escape(str(path))}\n", soft_wrap=True)
    return 0


def _told(shown: Journey, clock: Timekeeper) -> Callable[[Task], None]:
    def told(task: Task) -> None:
        clock.hear(task)
        shown(task.what, task.done, task.total, task.detail)

    return told


def _reported(table: Table, folder: Path, crew: Crew, told: Callable[[Task], None], videos: bool) -> Path:
    from sido.cli.report import write
    from sido.experiments.films import films_of, make_films

    if videos:
        make_films(films_of(table, folder), crew, told)
    return write(table, folder)


def _keep(table: Table, folder: Path) -> None:
    """The numbers, as JSON and as tables for people."""
    tables = folder / "tables"
    tables.mkdir(parents=True, exist_ok=True)
    exhibits = [exhibit.shown(table, folder) for exhibit in table.experiment.exhibits]
    document = table.to_dict() | {"exhibits": {shown.title: shown.numbers for shown in exhibits}}
    text = "\n".join([table.markdown(), *(shown.markdown() for shown in exhibits)])
    (tables / f"{table.experiment.name}.json").write_text(json_format.dumps(document, indent=1) + "\n")
    (tables / f"{table.experiment.name}.md").write_text(text)
