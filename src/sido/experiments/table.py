"""The table of an experiment, from the logs: rates with intervals, comparisons in pairs, the paper's numbers beside."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, final

from sido.evaluate import Measures, Paired, Pooled, RunPolicy, Summary, cell_of, measure, summarise
from sido.experiments.experiment import Experiment, Method, Scale, World
from sido.experiments.pieces import run_piece
from sido.release import versions

__all__ = ["Entry", "Table", "table_of"]


@final
@dataclass(frozen=True)
class Entry:
    """A cell: a method in a world, over all training seeds."""

    method: str
    world: str
    ours: bool
    pooled: Pooled
    summary: Summary
    paper: float | None
    against: Paired | None
    """This method (first) and the reference (second), on the same episodes; None of the reference itself."""
    folders: tuple[Path, ...]
    """Where the logs are, one for each training seed."""

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it."""
        low, high = self.pooled.interval()
        without, turning = self.summary.without_turns, self.summary.with_turns
        numbers = {
            field.name: _finite(getattr(self.summary, field.name))
            for field in dataclasses.fields(self.summary)
            if isinstance(getattr(self.summary, field.name), float)
        }
        return {
            "method": self.method,
            "world": self.world,
            "ours": self.ours,
            "successes": [policy.successes for policy in self.pooled.policies],
            "rollouts": [policy.attempts for policy in self.pooled.policies],
            "rate": self.pooled.rate,
            "interval_95": [low, high],
            "design_effect": self.pooled.design_effect,
            "paper": self.paper,
            "paired": None
            if self.against is None
            else {
                "only_this": self.against.only_first,
                "only_reference": self.against.only_second,
                "difference": self.against.difference,
                "p": self.against.p_value,
            },
            "without_turns": without and [without.successes, without.attempts],
            "with_turns": turning and [turning.successes, turning.attempts],
            "lifted": self.summary.lifted.successes,
            "lost_grasps": self.summary.lost_grasps,
            "failures": {cause.value: count for cause, count in self.summary.failures.items()},
            **numbers,
        }


@final
@dataclass(frozen=True)
class Table:
    """Of an experiment, at a scale."""

    experiment: Experiment
    scale: Scale
    entries: tuple[Entry, ...]

    def __getitem__(self, cell: tuple[str, str]) -> Entry:
        return next(entry for entry in self.entries if (entry.method, entry.world) == cell)

    def to_dict(self) -> dict[str, Any]:
        """As JSON has it, with what it was made with."""
        experiment = self.experiment
        return {
            "experiment": experiment.name,
            "title": experiment.title,
            "observations": experiment.obs,
            "scale": self.scale.name,
            "training_seeds": self.scale.training_seeds,
            "rollouts": self.scale.rollouts,
            "reference": experiment.reference or None,
            "made_with": versions(("mujoco", "robosuite", "numpy", "torch")),
            "cells": [entry.to_dict() for entry in self.entries],
        }

    def markdown(self) -> str:
        """A table that a README can have: rate, interval, and the paper's number in brackets."""
        worlds = [world.name for world in self.experiment.worlds]
        lines = ["| | " + " | ".join(worlds) + " |", "|---" * (len(worlds) + 1) + "|"]
        for method in self.experiment.methods:
            cells = [_markdown(self[method.name, world]) for world in worlds]
            lines.append(f"| {method.name} | " + " | ".join(cells) + " |")
        return "\n".join(lines) + "\n"


def table_of(experiment: Experiment, scale: Scale, folder: Path) -> Table:
    """Derive it from the logs, all of which must be there."""
    found: dict[tuple[str, str], list[list[Measures]]] = {}
    places: dict[tuple[str, str], list[Path]] = {}
    for method in experiment.methods:
        for world in experiment.worlds:
            cell = (method.name, world.name)
            found[cell], places[cell] = _measured(experiment, method, world, scale, folder)
    entries: list[Entry] = []
    for method in experiment.methods:
        for world in experiment.worlds:
            rows = found[method.name, world.name]
            against = None
            if experiment.reference and method.name != experiment.reference:
                against = _paired(rows, found[experiment.reference, world.name])
            entries.append(
                Entry(
                    method=method.name,
                    world=world.name,
                    ours=method.ours,
                    pooled=Pooled.of([[each.success for each in row] for row in rows]),
                    summary=summarise([each for row in rows for each in row]),
                    paper=experiment.paper.get((method.name, world.name)),
                    against=against,
                    folders=tuple(places[method.name, world.name]),
                )
            )
    return Table(experiment, scale, tuple(entries))


def _measured(
    experiment: Experiment, method: Method, world: World, scale: Scale, folder: Path
) -> tuple[list[list[Measures]], list[Path]]:
    """By training seed, then episode; and the cells' folders."""
    rows: list[list[Measures]] = []
    places: list[Path] = []
    for seed in range(scale.training_seeds):
        run = run_piece(experiment, method, world.task, scale, seed).path(folder)
        setting = method.setting(world, folder, scale.longest_s)
        cell = cell_of(run / "rollouts", RunPolicy(run), setting)
        rows.append([measure(rollout) for rollout in cell.rollouts(scale.seeds)])
        places.append(cell.folder)
    return rows, places


def _paired(mine: list[list[Measures]], others: list[list[Measures]]) -> Paired:
    """Seed by seed of training, episode by episode."""
    pairs = [
        Paired.of({each.seed: each.success for each in first}, {each.seed: each.success for each in second})
        for first, second in zip(mine, others, strict=True)
    ]
    total = pairs[0]
    for pair in pairs[1:]:
        total = total + pair
    return total


def _markdown(entry: Entry) -> str:
    low, high = entry.pooled.interval()
    star = "" if entry.against is None or entry.against.p_value >= 0.05 else "\\*"
    paper = "" if entry.paper is None else f" [{entry.paper:.2f}]"
    return f"{entry.pooled.rate:.2f}{star} ({low:.2f}-{high:.2f}){paper}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
