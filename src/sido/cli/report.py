"""`sido report`: what came out, as one page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.markup import escape

from sido.cli.evaluate import crew_of
from sido.cli.progress import progress_bar
from sido.errors import MissingExtraError

if TYPE_CHECKING:
    from sido.experiments import Table

__all__ = ["report", "write"]


def report(
    name: Annotated[str, tyro.conf.Positional],
    /,
    *,
    scale: Literal["smoke", "demo", "cpu", "paper"] = "cpu",
    folder: Path | None = None,
    rollouts: int | None = None,
    training_seeds: int | None = None,
    videos: bool = True,
    workers: int = 1,
) -> int:
    """Write the page of a table that `sido reproduce` has made: FOLDER/NAME.html, which needs no other file.

    Args:
        name: Which table: demo, table-1, stack, ...
        scale: At which scale.
        folder: Where `sido reproduce` kept it; by default reproduce/SCALE.
        rollouts: Of each cell, if not the scale's.
        training_seeds: If not the scale's.
        videos: Put short films into it.
        workers: Processes that film.
    """
    try:
        from sido.experiments import SCALES, experiment_named, table_of
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido report", str(error.name), "sim") from error
    import dataclasses

    changes = {"rollouts": rollouts, "training_seeds": training_seeds}
    size = dataclasses.replace(SCALES[scale], **{key: value for key, value in changes.items() if value is not None})
    place = folder or Path("reproduce") / scale
    table = table_of(experiment_named(name), size, place)
    if videos:
        from sido.experiments.films import films_of, make_films

        with progress_bar("films") as bar:
            make_films(
                films_of(table, place),
                crew_of(workers, None),
                lambda task: bar(round(task.done), round(task.total), task.detail),
            )
    path = write(table, place)
    Console(soft_wrap=True).print(f"report: {escape(str(path))}")
    return 0


def write(table: Table, folder: Path) -> Path:
    """The page, beside the runs, with the films that there are."""
    from sido.atomic import atomic_path
    from sido.experiments.page import page

    path = folder / f"{table.experiment.name}.html"
    text = page(table, folder)
    with atomic_path(path, overwrite=True) as partial:
        partial.write_text(text)
    return path
