"""Collecting demonstrations: attempts are played until enough of them succeed, and become a dataset."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

from sido.demos.formats import create_dataset, require_replaceable_dataset, writable_format
from sido.errors import SettingError
from sido.jobs import Crew
from sido.release import versions
from sido.sim.collect.attempt import Attempt, Played
from sido.sim.collect.demonstration import dataset_info, demonstration
from sido.sim.collect.journal import Journal, open_journal
from sido.sim.collect.placements import PLACEMENTS
from sido.sim.collect.plan import Plan
from sido.sim.collect.player import MakeExpert, PlayerOf, checked
from sido.sim.collect.recipe import Recipe
from sido.sim.collect.report import Report
from sido.sim.experts.experts import expert_for
from sido.sim.tasks import Task, shared_task

__all__ = ["BATCH", "Standing", "collect", "simulation_versions"]

BATCH = 8
"""Attempts that are played at once in one process."""


class Standing(NamedTuple):
    """How far a collection is."""

    demos: int
    wanted: int
    attempts: int
    """Played so far; a few of them may turn out not to be needed."""

    def __str__(self) -> str:
        return f"{self.demos} of {self.wanted} demonstrations, {self.attempts} attempts"


def unheard(_standing: Standing) -> None:
    """The progress report that nobody listens to."""


def simulation_versions() -> dict[str, str]:
    """Of all that decides, beside a recipe, what is collected."""
    return versions(("mujoco", "robosuite", "numpy", "numba"))


def collect(
    recipe: Recipe,
    output: Path,
    crew: Crew,
    *,
    format: str | None = None,
    overwrite: bool = False,
    progress: Callable[[Standing], None] = unheard,
    expert: MakeExpert = expert_for,
    made_with: Mapping[str, str] | None = None,
    batch: int = BATCH,
) -> Report:
    """Collect the demonstrations of a recipe into a dataset.

    It may be killed at any time; called again with the same arguments it goes on, and the dataset becomes the same, to
    the last bit, as without. The crew and the batch make no difference to it either.

    Args:
        recipe: Which demonstrations.
        output: The dataset; it appears when it is complete. Until then, what was played is in a folder beside it.
        crew: Who plays.
        format: Of `sido.demos.FORMATS`; by default as the output's name says.
        overwrite: Replace an existing dataset.
        progress: Called after each attempt.
        expert: Makes who plays, of a world and the recipe's settings.
        made_with: Versions to note; by default those of this installation. Others cannot go on.
        batch: How many attempts are played at once in a process.

    Raises:
        SettingError: something of the recipe cannot be; the output exists; it was begun with other settings.
        SidoError: the expert succeeds too rarely.
    """
    writable_format(output, format)
    if overwrite:
        require_replaceable_dataset(output)
    task = shared_task(recipe.task)
    checked(recipe, task, expert)
    starts = PLACEMENTS[recipe.placements](task.region, recipe.demos)
    noted = dict(simulation_versions() if made_with is None else made_with)
    settings = {"recipe": recipe.to_dict(), "format": format, "made_with": noted}
    if output.exists() and not overwrite and not output.with_name(f".partial-{output.name}").exists():
        raise _exists(output)
    with open_journal(output, settings) as journal:
        began = time.monotonic() - journal.elapsed_s
        session = _Session(recipe, Plan(recipe.demos, max(1, len(starts))), starts, journal, progress, batch)
        if output.exists() and not overwrite and not journal.is_finished(output):
            raise _exists(output)
        run = crew.run(PlayerOf(recipe, expert), session.jobs())
        try:
            for _number, played in () if session.plan.complete else run:
                session.keep(played, lambda: time.monotonic() - began)
                if session.plan.complete:
                    break
        finally:
            run.close()
        report = session.report(time.monotonic() - began)
        if journal.is_finished(output):
            journal.remove()
        else:
            _write(session, task, {"made_with": noted, **report.settled()}, output, format)
    return report


@final
@dataclass
class _Session:
    """One go at a collection."""

    recipe: Recipe
    plan: Plan
    starts: tuple[tuple[float, float], ...]
    journal: Journal
    progress: Callable[[Standing], None]
    batch: int

    def __post_init__(self) -> None:
        self._waiting: list[int] = []
        self._take()

    def jobs(self) -> Iterator[list[Attempt] | None]:
        """Batches of attempts that are needed and were not played before."""
        while not self.plan.complete:
            self._take()
            numbers, self._waiting = self._waiting, []
            yield [self._attempt(number) for number in numbers] or None

    def keep(self, batch: list[Played], elapsed_s: Callable[[], float]) -> None:
        """What came of one of them."""
        for played in batch:
            self.journal.save(played, elapsed_s())
        for played in batch:
            self.plan.learn(played.number, played.ending, usable=played.usable)
            self.progress(self.standing)

    @property
    def standing(self) -> Standing:
        return Standing(self.plan.usable, self.recipe.demos, len(self.journal.entries))

    def report(self, elapsed_s: float) -> Report:
        """What the collection cost; once the plan is complete."""
        entries = [self.journal.entries[number] for number in self.plan.counted]
        rate_hz = self.recipe.action_spec.rate_hz
        return Report(
            demos=len(self.plan.chosen),
            attempts=len(entries),
            endings=dict(Counter(entry.ending for entry in entries)),
            robot_time_s=sum(entry.steps for entry in entries) / rate_hz,
            elapsed_s=elapsed_s,
        )

    def _take(self) -> None:
        """Fill the next batch; what the journal has is learnt on the way."""
        while len(self._waiting) < self.batch and (number := self.plan.next()) is not None:
            if number in self.journal.entries:
                entry = self.journal.entries[number]
                self.plan.learn(number, entry.ending, usable=entry.usable)
            else:
                self._waiting.append(number)
        self.progress(self.standing)

    def _attempt(self, number: int) -> Attempt:
        start = self.starts[number % len(self.starts)] if self.starts else None
        return Attempt(number, self.recipe.seed + number, start)


def _write(session: _Session, task: Task, provenance: dict[str, Any], output: Path, format: str | None) -> None:
    """The dataset, built beside the attempts and then moved to its place."""
    recipe, journal = session.recipe, session.journal
    info = dataset_info(recipe, task, {"sido_collect": 1, "recipe": recipe.to_dict(), **provenance})
    built = journal.folder / output.name
    with create_dataset(built, info, format=format, overwrite=True) as writer:
        for index, number in enumerate(session.plan.chosen):
            writer.write(demonstration(journal.read(number), f"demo_{index}", recipe, task))
    journal.finish(built, output)


def _exists(output: Path) -> SettingError:
    return SettingError("already exists", file=output, fix="choose another name, or replace it (--force)")
