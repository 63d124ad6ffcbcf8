"""What is shown beside a table of success: another small table, and figures."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, final, runtime_checkable

from sido.atomic import atomic_path

if TYPE_CHECKING:
    from sido.experiments.experiment import Experiment, Scale
    from sido.experiments.table import Table
    from sido.jobs import Crew

__all__ = ["Exhibit", "Figure", "Place", "Shown", "Task", "Told", "keep_document", "read_document"]


class Task(NamedTuple):
    """What is being done, and how far it is."""

    what: str
    done: float
    total: float
    detail: str = ""
    work: Mapping[str, float] | None = None
    """How much is done of each kind of work that `sido.experiments.agenda` knows; `done` of the first, if not given."""


Told = Callable[[Task], None]


class Place(NamedTuple):
    """An experiment, at a scale, and where its pieces are."""

    experiment: Experiment
    scale: Scale
    folder: Path


@final
@dataclass(frozen=True)
class Figure:
    """A picture, as HTML that needs nothing else."""

    html: str
    caption: str = ""
    small: bool = False
    """Many of them stand in a row."""


@final
@dataclass(frozen=True)
class Shown:
    """What came out."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    figures: tuple[Figure, ...] = ()
    numbers: Any = None
    """The same as JSON has it, unrounded."""

    def markdown(self) -> str:
        """Title, table and note; figures are the page's."""
        lines = [f"**{self.title}**", "", "| " + " | ".join(self.columns) + " |", "|---" * len(self.columns) + "|"]
        lines += ["| " + " | ".join(row) + " |" for row in self.rows]
        return "\n".join([*lines, *(["", self.note] if self.note else [])]) + "\n"


@runtime_checkable
class Exhibit(Protocol):
    """Knows what it needs beyond the rollouts, makes it once, and shows it."""

    def missing(self, place: Place) -> float:
        """How many seconds of one processor it will take to make what is not there, roughly; 0 where all is."""
        ...

    def make(self, place: Place, crew: Crew, told: Told) -> None:
        """What is missing; rollouts, runs and demonstrations are there. Killed, it may be called again."""
        ...

    def shown(self, table: Table, folder: Path) -> Shown:
        """All of it, from what is there."""
        ...


def keep_document(path: Path, document: Any) -> None:
    """As JSON, whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    with atomic_path(path, overwrite=True) as partial:
        partial.write_text(json.dumps(document, indent=1) + "\n")


def read_document(path: Path) -> Any:
    """What was kept; None where nothing is."""
    return json.loads(path.read_text()) if path.exists() else None
