"""`sido report`: what came out, as one page of HTML."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import tyro
from rich.console import Console
from rich.markup import escape

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
) -> int:
    """Write the page of a table that `sido reproduce` has made: FOLDER/NAME.html, which needs no other file.

    Args:
        name: Which table: demo, table-1, stack, ...
        scale: At which scale.
        folder: Where `sido reproduce` kept it; by default reproduce/SCALE.
        rollouts: Of each cell, if not the scale's.
        training_seeds: If not the scale's.
        videos: Put short films into it.
    """
    try:
        from sido.experiments import SCALES, experiment_named, table_of
    except ModuleNotFoundError as error:
        raise MissingExtraError("sido report", str(error.name), "sim") from error
    import dataclasses

    changes = {"rollouts": rollouts, "training_seeds": training_seeds}
    size = dataclasses.replace(SCALES[scale], **{key: value for key, value in changes.items() if value is not None})
    place = folder or Path("reproduce") / scale
    path = write(table_of(experiment_named(name), size, place), place, videos=videos)
    Console(soft_wrap=True).print(f"report: {escape(str(path))}")
    return 0


def write(table: Table, folder: Path, *, videos: bool) -> Path:
    """The page, beside the runs."""
    from sido.atomic import atomic_path
    from sido.experiments.page import page

    path = folder / f"{table.experiment.name}.html"
    text = page(table, folder, videos=videos)
    with atomic_path(path, overwrite=True) as partial:
        partial.write_text(text)
    return path
